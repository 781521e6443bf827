/** The package as a user gets it: packed by npm and installed into an empty folder. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

const scratch = join(root, "target/packed");

/** Packs pkg/ and gives the path of the tarball and the list of its files. */
export function pack() {
  mkdirSync(scratch, { recursive: true });
  const dir = mkdtempSync(join(scratch, "tarball-"));
  const printed = npm(["pack", "--json", "--pack-destination", dir], join(root, "pkg"));
  const [{ filename, files }] = JSON.parse(printed);
  return {
    tarball: join(dir, filename),
    files: files.map(({ path }) => path).sort(),
    remove: () => rmSync(dir, { recursive: true }),
  };
}

/**
 * A folder with the packed package in its node_modules. Installed once for each content of the package: the test files
 * run in processes of their own and share it.
 */
export function installed() {
  found ??= install();
  return found;
}

let found;

function install() {
  const { tarball, remove } = pack();
  const hash = createHash("sha256").update(readFileSync(tarball)).digest("hex").slice(0, 16);
  const dir = join(scratch, `installed-${hash}`);
  if (!existsSync(dir)) {
    const aside = mkdtempSync(join(scratch, "installing-"));
    writeFileSync(join(aside, "package.json"), '{ "name": "a-user", "private": true, "type": "module" }\n');
    npm(["install", "--no-audit", "--no-fund", "--offline", tarball], aside);
    try {
      renameSync(aside, dir);
    } catch {
      // Another test file was faster.
      rmSync(aside, { recursive: true });
    }
  }
  remove();
  return dir;
}

/** A folder of its own for one test, inside the installed one, so that imports find the package. */
export function folder(name) {
  const dir = join(installed(), "tests", `${name}-${process.pid}`);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return dir;
}

function npm(args, cwd) {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
