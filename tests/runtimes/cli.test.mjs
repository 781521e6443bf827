/** Node (ES modules and CommonJS), Deno and Bun: the scenario and the README's example, each in a process of its own. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, root } from "../packaging/packed.mjs";
import { counts, countsFile, goldensOf, readGoldens } from "./goldens.mjs";
import { judge, judgeExact } from "./judge.mjs";
import { examples } from "./readme.mjs";

const data = readGoldens();
const smaller = { loom: goldensOf("loom", data), tokens: goldensOf("tokens", data) };
const dir = folder("cli");

/** npm runs no install scripts here (.npmrc), and Bun's would only move this file to where its name says. */
const bun = `node_modules/@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : "x64"}/bin/bun`;

writeFileSync(join(dir, "data.json"), JSON.stringify(data));
for (const [name, data] of Object.entries(smaller)) writeFileSync(join(dir, `${name}.json`), JSON.stringify(data));
copyFileSync(countsFile, join(dir, "counts.json"));
copyFileSync(join(import.meta.dirname, "scenario.mjs"), join(dir, "scenario.mjs"));
for (const [entry, file] of [
  ["ctxweave", "data.json"],
  ["ctxweave/inline", "data.json"],
  ["ctxweave/loom", "loom.json"],
  ["ctxweave/tokens", "tokens.json"],
]) {
  const name = entry.replace("/", "-");
  writeFileSync(join(dir, `${name}.mjs`), `import * as ctxweave from "${entry}";\n${program("await import", file)}`);
  // In CommonJS there is no await at the top, so the whole program is a function.
  const cjs = `(async () => {\nconst ctxweave = require("${entry}");\n${program("await import", file)}})();\n`;
  writeFileSync(join(dir, `${name}.cjs`), cjs);
}
const encodings = ["o200k_base", "cl100k_base"];
for (const [name, entry, vocabularies] of [
  ["exact", "ctxweave", "ctxweave/vocab"],
  ["exact-inline", "ctxweave/inline", "ctxweave/vocab"],
  ["exact-loom", "ctxweave/loom", "ctxweave/loom/vocab"],
  ["exact-tokens", "ctxweave/tokens", "ctxweave/tokens/vocab"],
  ["exact-tiktoken", "ctxweave/tiktoken"],
]) {
  const assets = vocabularies ? encodings.map((of) => [of, `${vocabularies}/${of}`]) : [];
  const imports = [["ctxweave", entry], ...assets];
  const modules = vocabularies ? `{ ${encodings.join(", ")} }` : "undefined";
  const es = imports.map(([as, from]) => `import * as ${as} from "${from}";\n`).join("");
  writeFileSync(join(dir, `${name}.mjs`), es + exactProgram(modules));
  const cjs = imports.map(([as, from]) => `const ${as} = require("${from}");\n`).join("");
  writeFileSync(join(dir, `${name}.cjs`), `(async () => {\n${cjs}${exactProgram(modules)}})();\n`);
}
const shown = examples();
for (const { file, code } of shown) writeFileSync(join(dir, `${file}.mjs`), code);

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

/** Runs a file and gives its stdout; what it prints to stderr (a deprecation, a warning) is a failure. */
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
  for (const [flavour, data] of Object.entries(smaller)) {
    test(`${name}: ctxweave/${flavour} gives the goldens of its areas`, () =>
      judge(JSON.parse(run(runtime, `ctxweave-${flavour}`)), data));
  }
}

for (const [name, runtime] of Object.entries(runtimes)) {
  for (const entry of ["exact", "exact-inline", "exact-loom"]) {
    test(`${name}: ${entry} counts what tiktoken counts`, () => judgeExact(JSON.parse(run(runtime, entry)), counts));
  }
  test(`${name}: ctxweave/tokens counts what tiktoken counts`, () =>
    judgeExact(JSON.parse(run(runtime, "exact-tokens")), counts, { assembly: false }));
  test(`${name}: ctxweave/tiktoken counts what tiktoken counts`, () =>
    judgeExact(JSON.parse(run(runtime, "exact-tiktoken")), counts, { assets: false }));
}

for (const [name, runtime] of Object.entries(runtimes)) {
  if (runtime[2] !== "mjs") continue;
  for (const { file, name: example, printed } of shown) {
    test(`${name}: ${example} prints what it says`, () => assert.equal(run(runtime, file), printed));
  }
}

test("both READMEs have an example", () => {
  const files = shown.map(({ file }) => file);
  for (const readme of ["README-md-0", "pkg-README-md-0"]) assert.ok(files.includes(readme), readme);
});
