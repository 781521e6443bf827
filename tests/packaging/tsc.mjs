/** TypeScript with strict settings. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./packed.mjs";

/** Checks files in a folder. Defaults to Node's types, without checking the declarations of other packages. */
export function tsc(cwd, paths, flags = ["--skipLibCheck", "--types", "node"]) {
  const args = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", ...flags, ...paths];
  const { status, stdout, error } = spawnSync(join(root, "node_modules/.bin/tsc"), args, { cwd, encoding: "utf8" });
  if (error) throw error;
  return { status, stdout };
}
