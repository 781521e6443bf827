/** The packages as installed by a user: packed by npm and installed into an empty folder. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
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
 * A folder with the packed packages in its node_modules. Packed and installed once for each state of the packages, which
 * takes seconds: the test files run in separate processes and share it.
 */
export function installed() {
  found ??= install();
  return found;
}

let found;

function install() {
  const dir = join(scratch, `installed-${stateOfPackages()}`);
  if (!existsSync(dir)) {
    const packed = Object.keys(packages).map((name) => pack(name));
    const aside = mkdtempSync(join(scratch, "installing-"));
    writeFileSync(join(aside, "package.json"), '{ "name": "a-user", "private": true, "type": "module" }\n');
    npm(["install", "--no-audit", "--no-fund", "--offline", ...packed.map(({ tarball }) => tarball)], aside);
    try {
      renameSync(aside, dir);
    } catch {
      // Another test file was faster.
      rmSync(aside, { recursive: true });
    }
    for (const { remove } of packed) remove();
  }
  return dir;
}

/** A hash of what the folders of the packages hold: names, sizes and times of all files. */
function stateOfPackages() {
  const hash = createHash("sha256");
  const visit = (dir) => {
    for (const entry of readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(dir, entry.name);
      if (entry.name === "node_modules") continue;
      if (entry.isDirectory()) visit(path);
      else {
        const { size, mtimeMs } = statSync(path);
        hash.update(`${path}\0${size}\0${mtimeMs}\0`);
      }
    }
  };
  visit(join(root, "pkg"));
  return hash.digest("hex").slice(0, 16);
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
