/** The examples of the docs, to be run unchanged. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { root } from "../packaging/packed.mjs";

const pair =
  /^```(?<language>js|javascript|ts|typescript)\n(?<code>(?:(?!```)[^\n]*\n)*)```\n\s*(?:(?!```)[^\n]+\n\s*){0,2}^```text\n(?<printed>[\s\S]*?)^```/gm;

/**
 * Every block of JavaScript or TypeScript followed by a text block with its output, with at most two lines in between, of README.md and
 * the docs: a list of `{ file, name, language, code, program, printed }`. `program` is the code without types.
 */
export function examples() {
  const docs = readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  return ["README.md", ...docs].flatMap((path) => {
    const found = [...readFileSync(join(root, path), "utf8").matchAll(pair)];
    return found.map(({ groups }, at) => ({
      file: `${path.replaceAll(/\W/g, "-")}-${at}`,
      name: `example ${at + 1} of ${path}`,
      ...groups,
      program: groups.language.startsWith("t") ? transformSync(groups.code, { loader: "ts" }).code : groups.code,
    }));
  });
}

/**
 * The commands in the README of a service: the words of the one that starts it after `cargo xtask build`, and the
 * request that `curl` makes, `{ path, body }`.
 */
export function serviceCommands(name) {
  const readme = readFileSync(join(root, "examples", name, "README.md"), "utf8");
  const [run, ask] = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, commands]) => commands.trim());
  const [build, start, ...more] = run.split("\n");
  assert.deepEqual([build, more], ["cargo xtask build", []], "one command builds, one runs");
  const { body, path } = /^curl --data-binary '(?<body>.*)' \\\n +'http:\/\/127\.0\.0\.1:\d+(?<path>\/.*)'$/.exec(
    ask,
  ).groups;
  return { start: start.split(" "), path, body };
}
