/** Node (ES modules and CommonJS), Deno and Bun: the scenario and the README's example, each in a separate process. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, root } from "../packaging/packed.mjs";
import { areas, counts, countsFile, goldensOf, readGoldens } from "./goldens.mjs";
import { judge, judgeExact } from "./judge.mjs";
import { examples } from "./readme.mjs";

const all = readGoldens();
const data = goldensOf("ctxweave", all);
const smaller = Object.fromEntries(Object.keys(areas).map((area) => [area, goldensOf(area, all)]));
const dir = folder("cli");

/** npm runs no install scripts here (.npmrc); Bun's would only move this file. */
const bun = `node_modules/@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : "x64"}/bin/bun`;

writeFileSync(join(dir, "data.json"), JSON.stringify(data));
for (const [name, data] of Object.entries(smaller)) writeFileSync(join(dir, `${name}.json`), JSON.stringify(data));
copyFileSync(countsFile, join(dir, "counts.json"));
copyFileSync(join(import.meta.dirname, "scenario.mjs"), join(dir, "scenario.mjs"));
for (const [entry, file] of [
  ["ctxweave", "data.json"],
  ["ctxweave/inline", "data.json"],
  ...Object.keys(areas).map((area) => [`ctxweave/${area}`, `${area}.json`]),
]) {
  const name = entry.replace("/", "-");
  writeFileSync(join(dir, `${name}.mjs`), `import * as ctxweave from "${entry}";\n${program("await import", file)}`);
  // CommonJS has no top-level await, so the whole program is a function.
  const cjs = `(async () => {\nconst ctxweave = require("${entry}");\n${program("await import", file)}})();\n`;
  writeFileSync(join(dir, `${name}.cjs`), cjs);
}
const encodings = ["o200k_base", "cl100k_base"];
for (const [name, entry, vocabularies] of [
  ["exact", "ctxweave", (of) => `ctxweave/vocab/${of}`],
  ["exact-inline", "ctxweave/inline", (of) => `ctxweave/vocab/${of}/inline`],
  ["exact-loom", "ctxweave/loom", (of) => `ctxweave/vocab/${of}`],
  ["exact-tokens", "ctxweave/tokens", (of) => `ctxweave/tokens/vocab/${of}`],
  ["exact-tiktoken", "ctxweave-tiktoken"],
]) {
  const assets = vocabularies ? encodings.map((of) => [of, vocabularies(of)]) : [];
  const imports = [["ctxweave", entry], ...assets];
  const modules = vocabularies ? `{ ${encodings.join(", ")} }` : "undefined";
  const es = imports.map(([as, from]) => `import * as ${as} from "${from}";\n`).join("");
  writeFileSync(join(dir, `${name}.mjs`), es + exactProgram(modules));
  const cjs = imports.map(([as, from]) => `const ${as} = require("${from}");\n`).join("");
  writeFileSync(join(dir, `${name}.cjs`), `(async () => {\n${cjs}${exactProgram(modules)}})();\n`);
}
const sharing = `
  const said = [];
  const tokenizer = "o200k_base";
  const count = ({ countTokens }) => {
    try {
      said.push(countTokens("<|endoftext|>", { tokenizer }));
    } catch ({ code }) {
      said.push(code);
    }
  };
  await vocabulary.load().catch(({ code }) => said.push(code));
  await folders.init();
  await Promise.all([loom.init(), vocabulary.load()]);
  await tokens.init();
  for (const entry of [loom, folders, tokens]) count(entry);
  await vocabulary.load();
  count(tokens);
  console.log(JSON.stringify(said));
`;
for (const [end, load, wrap] of [
  ["mjs", (as, from) => `import * as ${as} from "${from}";\n`, (text) => text],
  ["cjs", (as, from) => `const ${as} = require("${from}");\n`, (text) => `(async () => {${text}})();\n`],
]) {
  const imports = ["folders", "loom", "tokens"].map((area) => load(area, `ctxweave/${area}`));
  const text = imports.join("") + load("vocabulary", "ctxweave/vocab/o200k_base") + wrap(sharing);
  writeFileSync(join(dir, `shared-vocabulary.${end}`), text);
}
const shown = examples();
for (const { file, program } of shown) writeFileSync(join(dir, `${file}.mjs`), program);

function program(load, file) {
  return `const { readFileSync } = ${load}("node:fs");
const { scenario } = ${load}("./scenario.mjs");
const data = JSON.parse(readFileSync(new URL("./${file}", ${JSON.stringify(`file://${dir}/`)}), "utf8"));
console.log(JSON.stringify(await scenario(ctxweave, data)));
`;
}

function exactProgram(modules) {
  return `const { readFileSync } = await import("node:fs");
const { exact } = await import("./scenario.mjs");
const texts = JSON.parse(readFileSync(new URL("./counts.json", ${JSON.stringify(`file://${dir}/`)}), "utf8"));
console.log(JSON.stringify(await exact(ctxweave, ${modules}, texts)));
`;
}

const runtimes = {
  "Node, ES module": [process.execPath, [], "mjs"],
  "Node, CommonJS": [process.execPath, [], "cjs"],
  Deno: [join(root, "node_modules/.bin/deno"), ["run", "--no-remote", "--allow-read"], "mjs"],
  Bun: [join(root, bun), [], "mjs"],
};

/** Runs a file and returns its stdout; output to stderr (a deprecation, a warning) is a failure. */
function run([program, args, extension], name) {
  const { status, stdout, stderr, error } = spawnSync(program, [...args, `${name}.${extension}`], {
    cwd: dir,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: 120_000,
    env: { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", NODE_OPTIONS: "" },
  });
  assert.ifError(error);
  assert.equal(stderr, "");
  assert.equal(status, 0);
  return stdout;
}

for (const [name, runtime] of Object.entries(runtimes)) {
  for (const entry of ["ctxweave", "ctxweave-inline"]) {
    test(`${name}: ${entry} gives the goldens`, () => judge(JSON.parse(run(runtime, entry)), data));
  }
  for (const [area, data] of Object.entries(smaller)) {
    // Deno and Bun load all areas in the same way.
    if (!(name.startsWith("Node") || ["chat", "loom", "tokens"].includes(area))) continue;
    test(`${name}: ctxweave/${area} gives its goldens`, () =>
      judge(JSON.parse(run(runtime, `ctxweave-${area}`)), data));
  }
}

for (const [name, runtime] of Object.entries(runtimes)) {
  for (const entry of ["exact", "exact-inline", "exact-loom"]) {
    test(`${name}: ${entry} has the counts of tiktoken`, () => judgeExact(JSON.parse(run(runtime, entry)), counts));
  }
  test(`${name}: ctxweave/tokens has the counts of tiktoken`, () =>
    judgeExact(JSON.parse(run(runtime, "exact-tokens")), counts, { assembly: false }));
  test(`${name}: ctxweave-tiktoken has the counts of tiktoken`, () =>
    judgeExact(JSON.parse(run(runtime, "exact-tiktoken")), counts, { assets: false }));
}

for (const [name, runtime] of Object.entries(runtimes)) {
  test(`${name}: a vocabulary is loaded into every initialized entry point`, () => {
    const [before, ...after] = JSON.parse(run(runtime, "shared-vocabulary"));
    assert.deepEqual(before, "not_initialized");
    assert.deepEqual(after, [7, 7, "vocabulary_not_loaded", 7]);
  });
}

for (const [name, runtime] of Object.entries(runtimes)) {
  if (runtime[2] !== "mjs") continue;
  for (const { file, name: example, printed } of shown) {
    test(`${name}: ${example} prints its documented output`, () => assert.equal(run(runtime, file), printed));
  }
}

test("README.md and the quick start have examples that run", () => {
  const files = shown.map(({ file }) => file);
  for (const file of ["README-md-0", "docs-quick-start-md-0"]) assert.ok(files.includes(file), file);
});
