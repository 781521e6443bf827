/**
 * Every block of TypeScript in the READMEs and the docs passes the compiler, and every block of JavaScript that tests/runtimes/cli.test.mjs
 * does not run. Blocks that import a vendor's SDK are compiled by tests/runtimes/vendors.test.mjs.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { examples } from "../runtimes/readme.mjs";
import { folder, root } from "./packed.mjs";
import { tsc } from "./tsc.mjs";

const dir = folder("snippets");
const files = ["README.md", "pkg/tiktoken/README.md", "pkg/vocabularies/README.md"];
const pages = readdirSync(join(root, "docs"), { encoding: "utf8" }).filter((name) => name.endsWith(".md"));
files.push(...pages.map((name) => `docs/${name}`));

/** The packages whose types are used in tests/runtimes/vendors.test.mjs. */
const vendors = /from "(?:openai|@anthropic-ai\/sdk|@google\/genai|ai|langchain|@openai\/agents)"/;

/** The blocks of JavaScript that are run. */
const run = new Set(examples().flatMap(({ language, code }) => (language.startsWith("j") ? [code] : [])));

/** The blocks of a language, each in a file named after its position. */
function snippets(languages, extension) {
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)];
    return blocks
      .filter(([, language, code]) => languages.includes(language) && !run.has(code) && !vendors.test(code))
      .map(({ 2: code, index }) => {
        const line = text.slice(0, index).split("\n").length;
        const name = `${file.replaceAll(/\W/g, "-")}-line-${line}.${extension}`;
        writeFileSync(join(dir, name), code);
        return name;
      });
  });
}

for (const [languages, extension, flags] of [
  [["ts", "typescript"], "mts", ["--exactOptionalPropertyTypes"]],
  // Without annotations some expressions have no type.
  [["js", "javascript", "mjs"], "mjs", ["--allowJs", "--checkJs", "--strict", "false"]],
]) {
  test(`every ${extension} block of the docs passes the compiler`, () => {
    const found = snippets(languages, extension);
    assert.ok(found.length > 0);
    const { status, stdout } = tsc(dir, found, ["--skipLibCheck", "--types", "node", ...flags]);
    assert.equal(status, 0, stdout);
  });
}
