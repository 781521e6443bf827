/** Python packages of tests, with pinned dependencies: pip installs each list of this folder once, into target/python. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../packaging/packed.mjs";

/** Installs the packages of `NAME.txt`, unless they are there; returns the folder for `PYTHONPATH`. */
export async function pythonPackages(name) {
  const list = join(import.meta.dirname, `${name}.txt`);
  const hash = createHash("sha256").update(readFileSync(list)).digest("hex").slice(0, 16);
  const place = join(root, "target/python", `${name}-${hash}`);
  if (existsSync(place)) return place;
  mkdirSync(join(root, "target/python"), { recursive: true });
  const aside = mkdtempSync(join(root, "target/python/installing-"));
  try {
    // The lists are complete, and their packages run on older versions of Python than some of them ask for.
    const options = ["--no-deps", "--ignore-requires-python", "--target", aside, "--requirement", list];
    await promisify(execFile)("python3", ["-m", "pip", "install", "--quiet", ...options]);
    renameSync(aside, place);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    // Another test file was faster.
    if (!existsSync(place)) throw error;
  }
  return place;
}
