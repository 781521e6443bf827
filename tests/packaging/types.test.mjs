/** The types are the contract: every golden's request and result must satisfy them, and wrong ones must not. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readGoldens } from "../runtimes/goldens.mjs";
import { folder, root } from "./packed.mjs";

const dir = folder("types");
const { goldens, trees, media } = readGoldens();

/** The types of what goes in and what comes out. */
const types = {
  assembleDialogue: ["DialogueRequest", "DialogueAssembly"],
  assembleBuffer: ["BufferRequest", "BufferAssembly"],
};

const names = [...new Set(Object.values(types).flat()), "CtxweaveError", "LoomTreeData", "Media"];
const header = `import type { ${names.join(", ")} } from "ctxweave";
type ErrorResult = { error: Pick<CtxweaveError, "code" | "message" | "details"> };
`;

/** Writes and checks a file, strictly, as a user's own code would be. */
function tsc(name, text, ...flags) {
  const path = join(dir, name);
  writeFileSync(path, text);
  const args = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext"];
  const program = join(root, "node_modules/.bin/tsc");
  const { status, stdout } = spawnSync(program, [...args, ...flags, path], { cwd: dir, encoding: "utf8" });
  return { status, stdout };
}

/** A literal, in parentheses on lines of its own, so that an error is reported with the name of the golden above it. */
const literal = (value) => JSON.stringify(value, null, 1);

test("every golden satisfies the types", () => {
  assert.ok(goldens.length > 0);
  const lines = [header];
  for (const [name, tree] of Object.entries(trees))
    lines.push(`const tree_${name} = ${literal(tree)} satisfies LoomTreeData;`);
  lines.push(`const media = ${literal(media)} satisfies Record<string, Media>;`);
  for (const { name, call, request, tree, media: withMedia, expected } of goldens) {
    const result = JSON.parse(expected);
    const [input, output] = types[call];
    lines.push(`// golden ${name}`);
    // A golden about a malformed request has no reason to be well typed.
    if (!["invalid_input", "unknown_value"].includes(result.error?.code)) {
      const parts = [`...${literal(request)}`, tree && `tree: tree_${tree}`, withMedia && "media"].filter(Boolean);
      lines.push(`({ ${parts.join(", ")} }) satisfies ${input};`);
    }
    lines.push(`(${literal(result)}) satisfies ${result.error ? "ErrorResult" : output};`);
  }
  const { status, stdout } = tsc("goldens.mts", lines.join("\n"), "--skipLibCheck");
  assert.equal(status, 0, stdout);
});

test("what is wrong does not satisfy them", () => {
  const wrong = [
    '({ tree: { nodes: [], edges: [] }, tip: "a" }) satisfies DialogueRequest;',
    '({ tree: { nodes: [], edges: [] }, contextWindow: "4096" }) satisfies DialogueRequest;',
    '({ tree: { nodes: [], edges: [], mode: "monologue" }, contextWindow: 4096 }) satisfies BufferRequest;',
    '({ error: { code: "no_such_code", message: "", details: {} } }) satisfies ErrorResult;',
    "({ messages: [], report: {} }) satisfies DialogueAssembly;",
  ];
  const { stdout } = tsc("wrong.mts", `${header}\n${wrong.join("\n")}`, "--skipLibCheck");
  const found = wrong.map((line, at) => stdout.includes(`wrong.mts(${header.split("\n").length + 1 + at},`) || line);
  assert.deepEqual(
    found,
    wrong.map(() => true),
    stdout,
  );
});

test("every entry point has the same functions with the same types, by import and by require", () => {
  const text = (load) => `
${load("a", "ctxweave")}
${load("b", "ctxweave/inline")}
${load("c", "ctxweave/slim")}
${load("t", "ctxweave/tiktoken")}
${load("o200k", "ctxweave/vocab/o200k_base")}
${load("cl100k", "ctxweave/vocab/cl100k_base")}
const whole: typeof a = b;
const backwards: typeof b = a;
const { init: _, ...slim } = c;
const rest: Omit<typeof a, "init"> = slim;
const wider: Omit<typeof a, "CtxweaveError"> = t;
const alike: typeof o200k.load = cl100k.load;
// @ts-expect-error only tiktoken-rs knows this one
a.countTokens("text", { tokenizer: "p50k_base" });
// @ts-expect-error no such tokenizer
t.countTokens("text", { tokenizer: "p51k_base" });
async function use(): Promise<void> {
  await o200k.load();
  await Promise.all([a.init(), cl100k.load({ source: fetch("https://localhost/x.bin"), onProgress: (loaded: number) => loaded })]);
  await o200k.load({ source: new URL("https://localhost/x.bin"), onProgress(loaded, total) { if (total !== undefined) loaded / total; } });
  const bytes: Uint8Array = await o200k.bytes();
  a.loadVocabulary(o200k.name, bytes);
  a.loadVocabulary("cl100k_base", new ArrayBuffer(8));
  // @ts-expect-error no such vocabulary
  a.loadVocabulary("p50k_base", bytes);
  a.countTokens("text", { tokenizer: cl100k.name });
  t.countTokens("text", { tokenizer: "p50k_base" });
  a.assembleDialogue({ tree: { nodes: [], edges: [] }, path: [], contextWindow: 4096, tokenizer: { name: "own", count: (text) => text.length } });
  await a.init();
  await a.init(fetch("https://localhost/ctxweave.wasm"));
  await c.init(new Uint8Array(8));
  // @ts-expect-error slim has nothing to load by itself
  await c.init();
  const count: number = a.countTokens("text", { tokenizer: "heuristic" });
  const most: number | null = a.countTokensUpTo("text", count);
  const { document }: a.BufferAssembly = a.assembleBuffer({ tree: { nodes: [], edges: [] }, path: [], contextWindow: 4096 });
  if (!(document && most)) throw new a.CtxweaveError("internal_error", "none");
}
export = [whole, backwards, rest, wider, alike, use];
`;
  for (const [name, load] of [
    ["entries.mts", (as, from) => `import * as ${as} from "${from}";`],
    ["entries.cts", (as, from) => `import ${as} = require("${from}");`],
  ]) {
    const source = name.endsWith(".cts") ? text(load) : text(load).replace("export = ", "export default ");
    const { status, stdout } = tsc(name, source);
    assert.equal(status, 0, stdout);
  }
});
