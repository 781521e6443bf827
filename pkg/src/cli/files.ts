/** The context files of folders on the disk. */

import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { ContextFile } from "../types/folders.js";
import { exits, Failure, misused } from "./failure.js";
import { readFile } from "./input.js";
import { reason } from "./output.js";

const NAMES = ["AGENTS.md", "CLAUDE.md"];

/** Folders that are not searched. */
const SKIPPED = new Set([".git", "node_modules"]);

/** The folder of a file, which need not exist, or the folder itself. */
export function folderOf(path: string): string {
  const full = resolve(path);
  try {
    return statSync(full, { throwIfNoEntry: false })?.isDirectory() ? full : dirname(full);
  } catch (error) {
    throw new Failure(exits.file, `cannot read \`${path}\`: ${reason(error)}`, { cause: error });
  }
}

/**
 * The root of a folder's chain: the nearest folder with `.git`. Without one it is the current folder if that is an ancestor, else
 * the folder itself.
 */
export function rootOf(folder: string): string {
  for (const above of upwards(folder)) if (existsSync(join(above, ".git"))) return above;
  const here = process.cwd();
  return isWithin(folder, here) ? here : folder;
}

/** The folder and its ancestors, up to `top`. */
export function upwards(folder: string, top?: string): string[] {
  const found = [folder];
  for (let at = folder; at !== top && dirname(at) !== at; at = dirname(at)) found.push(dirname(at));
  return found;
}

/** Whether a folder is `top` or below it. */
export function isWithin(folder: string, top: string): boolean {
  const path = relative(top, folder);
  return path !== ".." && !path.startsWith(`..${sep}`) && resolve(top, path) === folder;
}

/** A path relative to the root, with `/`. The root itself is the empty string. */
export function below(root: string, path: string): string {
  if (!isWithin(path, root))
    throw misused(`\`${path}\` is outside \`${root}\`; give the root of the chain with \`--root\``);
  return relative(root, path).split(sep).join("/");
}

/** The context files of one folder. */
export function filesIn(root: string, folder: string): ContextFile[] {
  // Names are exact, and a file system may ignore case: list instead of probing.
  const names = new Set(namesIn(folder));
  return NAMES.filter((name) => names.has(name)).map((name) => {
    const path = join(folder, name);
    return { path: below(root, path), content: readFile(path) };
  });
}

/** The context files of all folders below the root. */
export function filesBelow(root: string, progress: (what: string) => void): ContextFile[] {
  const isContextFile = (path: string) => NAMES.includes(path.slice(path.lastIndexOf("/") + 1));
  const paths = pathsBelow(root, progress).filter(isContextFile);
  return paths.map((path) => ({ path, content: readFile(join(root, path)) }));
}

/** All paths below the root, relative to it and with `/`, those of folders and of skipped folders left out. */
export function pathsBelow(root: string, progress: (what: string) => void): string[] {
  const paths: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    progress(`searching ${folder}`);
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) paths.push(below(root, path));
      else if (!SKIPPED.has(entry.name)) folders.push(path);
    }
  }
  return paths;
}

/** A path with `/` that begins with one, also on Windows. */
export const hostPath = (path: string): string => (sep === "/" ? path : `/${path.replaceAll(sep, "/")}`);

/** The single folder of a command; the root of the repository without one. */
export function oneFolder(operands: readonly string[]): string {
  const [folder, ...others] = operands;
  if (others.length > 0) throw misused(`unexpected argument \`${others[0]}\`; give one folder`);
  return folder === undefined ? rootOf(resolve(".")) : resolve(folder);
}

const namesIn = (folder: string): string[] => entriesOf(folder).map(({ name }) => name);

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // The folder of a file that does not exist yet.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Failure(exits.file, `cannot read the folder \`${folder}\`: ${reason(error)}`, { cause: error });
  }
}
