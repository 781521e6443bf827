/** The packages as installed by a user: packed by npm and installed into an empty folder. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

const scratch = join(root, "target/packed");

/** The folders of the packages. */
export const packages = { ctxweave: "pkg", "ctxweave-tiktoken": "pkg/tiktoken", "ctxweave-vocab": "pkg/vocabularies" };

/** Packs a package; returns the path of the tarball, its files and its size. */
export function pack(name = "ctxweave") {
  mkdirSync(scratch, { recursive: true });
  const dir = mkdtempSync(join(scratch, "tarball-"));
  const printed = npm(["pack", "--json", "--pack-destination", dir], join(root, packages[name]));
  const [{ filename, files, size, unpackedSize }] = JSON.parse(printed);
  return {
    tarball: join(dir, filename),
    files: files.map(({ path }) => path).sort(),
    size,
    unpackedSize,
    remove: () => rmSync(dir, { recursive: true }),
  };
}

/**
 * A folder with the packed packages in its node_modules. Installed once for each content of the packages, because the
 * test files run in separate processes and share it.
 */
export function installed() {
  found ??= install();
  return found;
}

let found;

function install() {
  const packed = Object.keys(packages).map((name) => pack(name));
  const hash = createHash("sha256");
  for (const { tarball } of packed) hash.update(readFileSync(tarball));
  const dir = join(scratch, `installed-${hash.digest("hex").slice(0, 16)}`);
  if (!existsSync(dir)) {
    const aside = mkdtempSync(join(scratch, "installing-"));
    writeFileSync(join(aside, "package.json"), '{ "name": "a-user", "private": true, "type": "module" }\n');
    npm(["install", "--no-audit", "--no-fund", "--offline", ...packed.map(({ tarball }) => tarball)], aside);
    try {
      renameSync(aside, dir);
    } catch {
      // Another test file was faster.
      rmSync(aside, { recursive: true });
    }
  }
  for (const { remove } of packed) remove();
  return dir;
}

/** A folder for one test, inside the installed one, so that imports find the package. */
export function folder(name) {
  const dir = join(installed(), "tests", `${name}-${process.pid}`);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return dir;
}

function npm(args, cwd) {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
