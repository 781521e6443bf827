/**
 * Verifies that every listed bundler, framework and runtime loads the package: `cargo xtask test-bundlers [WORD]...`.
 * Without words it runs all cases and writes the table in docs/loading.md; with words only the cases whose names
 * contain all of them. `--no-table` writes no table.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packaging/packed.mjs";
import { bundlers } from "./cases/bundlers.mjs";
import { frameworks } from "./cases/frameworks.mjs";
import { hosts } from "./cases/hosts.mjs";
import { next16 } from "./cases/next.mjs";
import { packageManagers } from "./cases/package-managers.mjs";
import { reactNative } from "./cases/react-native.mjs";
import { runtimes } from "./cases/runtimes.mjs";
import { testers } from "./cases/testers.mjs";
import { types } from "./cases/types.mjs";
import { workers } from "./cases/workers.mjs";
import { row, tableOf } from "./parts/table.mjs";
import { whole } from "./parts/workspace.mjs";

/** Groups whose tools are installed in a separate folder. */
const sets = { frameworks: "frameworks", packageManagers: "frameworks", hosts: "frameworks" };
const groups = {
  runtimes,
  bundlers,
  reactNative,
  next: next16,
  frameworks,
  workers,
  packageManagers,
  hosts,
  testers,
  types,
};

const words = process.argv.slice(2).filter((word) => word !== "--no-table");
const chosen = Object.entries(groups).flatMap(([group, cases]) =>
  cases
    .filter(({ tool, what }) => words.every((word) => `${group} ${tool} ${what}`.includes(word)))
    .map((one) => ({ ...one, set: sets[group] ?? "." })),
);
const workspaces = Object.fromEntries([...new Set(chosen.map(({ set }) => set))].map((set) => [set, whole(set)]));
const rows = [];
let failed = 0;
for (const one of chosen) {
  const start = Date.now();
  const workspace = workspaces[one.set];
  let result;
  try {
    const results = [await one.run(workspace)].flat();
    result = { ...results.at(-1), how: results.map(({ how }) => how).join(", ") };
    rows.push(...results.map((result) => row({ ...one, ...result }, result, workspace)));
  } catch (error) {
    failed += 1;
    result = { how: `FAILED\n${error.message}` };
  }
  const seconds = Math.round((Date.now() - start) / 1000);
  console.log(
    `${one.tool}: ${one.what} … ${result.how} (${[result.app, result.lazy].filter(Boolean).join(" + ")}) ${seconds} s`,
  );
}
console.log(`${chosen.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exit(1);
if (words.length === 0 && !process.argv.includes("--no-table")) {
  const path = join(root, "docs/loading.md");
  const text = readFileSync(path, "utf8");
  const [before, after] = [text.split("<!-- test-bundlers:start -->")[0], text.split("<!-- test-bundlers:end -->")[1]];
  writeFileSync(path, `${before}<!-- test-bundlers:start -->\n\n${tableOf(rows)}\n<!-- test-bundlers:end -->${after}`);
}
