/**
 * The part of `cargo xtask test-bundlers` that works with the project's tools: runtimes, pages without build tools,
 * esbuild and Bun.
 */

import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { bundlers } from "../loading/cases/bundlers.mjs";
import { runtimes } from "../loading/cases/runtimes.mjs";
import { small } from "../loading/parts/workspace.mjs";

const workspace = small();
after(() => rmSync(workspace.folder, { recursive: true }));

for (const { tool, what, version, quick, run } of [...runtimes, ...bundlers]) {
  if (quick) test(`${tool} ${version ?? ""}: ${what}`, () => run(workspace));
}
