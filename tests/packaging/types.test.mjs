/** The types are the contract: every golden's request and result must satisfy them, and wrong ones must not. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readGoldens } from "../runtimes/goldens.mjs";
import { examples } from "../runtimes/readme.mjs";
import { folder, packages, root } from "./packed.mjs";
import { tsc } from "./tsc.mjs";

const dir = folder("types");
const { goldens, trees, media } = readGoldens();

const header = `import * as ctxweave from "ctxweave";
import * as looms from "ctxweave/import";
type ErrorResult = { error: Pick<ctxweave.CtxweaveError, "code" | "message" | "details"> };
/** JSON has null for a result that is not there, and lists for arrays of numbers. */
type Given<T> = T extends undefined | void ? null : T extends Uint32Array | Float64Array ? (number | null)[] : T;
`;

/** Writes and checks a file with strict settings, like a user's code. */
function check(name, text, ...flags) {
  const path = join(dir, name);
  writeFileSync(path, text);
  return tsc(dir, [path], ["--exactOptionalPropertyTypes", ...flags]);
}

/**
 * A value as source text on separate lines, so that an error is reported with the name of the golden above it. Bytes
 * and maps are written as in tests/it/calls.
 */
function literal(value) {
  if (Array.isArray(value)) return `[\n${value.map(literal).join(",\n")}\n]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (typeof (value.$text ?? value.$hex) === "string") return "new Uint8Array()";
  if (Array.isArray(value.$map)) return `new Map(${literal(value.$map)})`;
  return `{\n${Object.entries(value)
    .map(([key, value]) => `${JSON.stringify(key)}: ${literal(value)}`)
    .join(",\n")}\n}`;
}

/** A golden about malformed input or an unknown option does not have to be well typed. */
const malformed = (result) =>
  /^(invalid|unknown)_/.test(result?.error?.code ?? "") ||
  (result?.report ?? result)?.diagnostics?.some(({ code }) => code === "unknown_option");

/** The result type of a call that depends on its arguments. */
const results = {
  convertMessages: "ctxweave.ConvertedChat",
  fitMessages: "ctxweave.FitResult<unknown[] | object>",
  loomTreeToChat: "ctxweave.ConvertedChat",
  newSince: "ctxweave.AgentFileChanges | ctxweave.NewAgentFilesPlan",
};

/** Asserts that a result has the type; for an error, that it is one. */
const satisfies = (result, type) =>
  `(${literal(result)}) satisfies ${result?.error?.code ? "ErrorResult" : `Given<${type}>`};`;

test("every golden satisfies the types", () => {
  assert.ok(goldens.length > 0);
  const lines = [header];
  for (const [name, tree] of Object.entries(trees))
    lines.push(`const tree_${name} = ${literal(tree)} satisfies ctxweave.LoomTreeData;`);
  lines.push(`const media = ${literal(media)} satisfies Record<string, ctxweave.Media>;`);
  for (const { name, call, request, args = [request], steps, tree, media: withMedia, expected } of goldens) {
    const result = JSON.parse(expected);
    const [first, ...others] = args.map(literal);
    const parts = [`...${first}`, tree && `tree: tree_${tree}`, withMedia && "media"].filter(Boolean);
    const given = [parts.length > 1 ? `{ ${parts.join(", ")} }` : first, ...others].join(", ");
    lines.push(`// golden ${name}`);
    const entry = name.startsWith("import") ? "looms" : "ctxweave";
    if (!steps) {
      if (!malformed(result)) lines.push(`(): unknown => ${entry}.${call}(${given});`);
      lines.push(satisfies(result, results[call] ?? `ReturnType<typeof ${entry}.${call}>`));
      continue;
    }
    const failed = !Array.isArray(result);
    if (!malformed(result)) lines.push(`(): unknown => new ctxweave.${call}(${given});`);
    if (failed) lines.push(satisfies(result));
    for (const [at, [method, ...args]] of failed ? [] : steps.entries()) {
      if (!malformed(result[at])) {
        lines.push(`(it: ctxweave.${call}): unknown => it.${method}(${args.map(literal).join(", ")});`);
      }
      lines.push(satisfies(result[at], `ReturnType<ctxweave.${call}["${method}"]>`));
    }
  }
  const { status, stdout } = check("goldens.mts", lines.join("\n"), "--skipLibCheck");
  assert.equal(status, 0, stdout);
});

test("wrong values do not satisfy them", () => {
  const wrong = [
    '({ tree: { nodes: [], edges: [] }, tip: "a" }) satisfies ctxweave.DialogueRequest;',
    '({ tree: { nodes: [], edges: [] }, contextWindow: "4096" }) satisfies ctxweave.DialogueRequest;',
    '({ tree: { nodes: [], edges: [], mode: "monologue" }, contextWindow: 4096 }) satisfies ctxweave.BufferRequest;',
    '({ error: { code: "no_such_code", message: "", details: {} } }) satisfies ErrorResult;',
    "({ messages: [], report: {} }) satisfies ctxweave.DialogueAssembly;",
  ];
  const { stdout } = check("wrong.mts", `${header}\n${wrong.join("\n")}`, "--skipLibCheck");
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
${load("l", "ctxweave/loom")}
${load("n", "ctxweave/tokens")}
${load("t", "ctxweave-tiktoken")}
${load("aiSdk", "ctxweave/ai-sdk")}
${load("openAiAgents", "ctxweave/openai-agents")}
${load("chat", "ctxweave/chat")}
${load("commits", "ctxweave/commits")}
${load("folders", "ctxweave/folders")}
${load("looms", "ctxweave/import")}
${load("stores", "ctxweave/stores")}
${load("operators", "ctxweave/operators")}
${load("workspace", "ctxweave/workspace")}
${load("inline", "ctxweave/vocab/o200k_base/inline")}
${load("o200k", "ctxweave/vocab/o200k_base")}
${load("cl100k", "ctxweave/vocab/cl100k_base")}
${load("older", "ctxweave-vocab/p50k_edit")}
${load("olderThere", "ctxweave-vocab/gpt2")}
${load("harmony", "ctxweave/tokens/vocab/o200k_harmony")}
${load("loomVocabulary", "ctxweave/loom/vocab/o200k_base")}
${load("tokensVocabulary", "ctxweave/tokens/vocab/cl100k_base")}
const whole: typeof a = b;
const backwards: typeof b = a;
const { init: _, ...slim } = c;
const rest: Omit<typeof a, "init"> = slim;
const alikeThere: Omit<typeof a, "CtxweaveError"> = t;
const part: Omit<typeof l, "CtxweaveError"> = a;
const tokens: Omit<typeof n, "CtxweaveError"> = a;
// What makes tokens of texts, and cuts them, is in these two alone.
type Tokens = "encodeTokens" | "decodeTokens" | "decodeTokenBytes" | "tokenSpans" | "isWithinTokenLimit" | "calibrate" | "truncateText" | "splitText" | "TokenCounter" | "vocabularyOf";
type Counting = Omit<typeof n, "CtxweaveError" | Tokens>;
const least: Counting = l;
const parts: Counting[] = [chat, commits, folders, operators, workspace];
// @ts-expect-error it counts nothing
looms.countTokens;
const all: Omit<typeof chat & typeof commits & typeof folders & typeof operators & typeof workspace, "CtxweaveError"> = a;
const kept: Promise<stores.StoredCommit> = new stores.CommitStore(stores.memoryStore()).checkpoint("main", { format: "generic-v1", created_at: 0 }, new Uint8Array());
const objects: stores.DeletingStore = stores.s3Store({ endpoint: "https://s3.example.org", bucket: "b", credentials: { accessKeyId: "a", secretAccessKey: "s" }, fetch });
const signing: stores.DeletingStore = stores.s3Store({ endpoint: "https://s3.example.org", bucket: "b", fetch: (address, init) => fetch(new Request(address, init)) });
const tables: stores.DeletingStore = stores.postgresStore({ query: async (text: string, values: unknown[]) => ({ rows: [{ text, values }] }) });
// @ts-expect-error a bucket is missing
stores.s3Store({ endpoint: "https://s3.example.org", fetch });
declare const streamed: commits.MaterializedStream;
const chunks: ReadableStream<Uint8Array> = streamed.stream;
// @ts-expect-error its chunks are bytes
const letters: ReadableStream<string> = streamed.stream;
const walked: typeof commits.CtxweaveError = stores.CtxweaveError;
const packed: typeof o200k.load = inline.load;
type Named = chat.FitReport | commits.CommitRecord | folders.ContextChain | operators.Task | workspace.ReadContext;
const hooks = [aiSdk.fitMiddleware(), aiSdk.fitPrepareStep({ maxTokens: 5 }), openAiAgents.fitModelInput({ model: "gpt-4o" })];
const sameClass: typeof n.CtxweaveError = a.CtxweaveError;
const alike: typeof o200k.load = cl100k.load;
const olderToo: [typeof o200k.load, "gpt2"] = [older.load, olderThere.name];
const harmonious: "o200k_harmony" = harmony.name;
const there: typeof o200k.load = loomVocabulary.load;
const thereToo: typeof o200k.load = tokensVocabulary.load;
// @ts-expect-error the flavor has the Loom area alone
l.parseTask("<task/>");
// @ts-expect-error only \`ctxweave/import\` reads files of other looms
a.importLoom("{}");
const importedTree: looms.ImportedTree | undefined = looms.importLoom({ root: {} }, { select: ["a", 1], utcOffset: "+02:00" }).trees[0];
if (importedTree) new a.LoomTree(importedTree.tree);
const written: string = looms.exportLoom({ nodes: [], edges: [] }, "markdown", { tip: "a" });
// @ts-expect-error no such format
looms.exportLoom({ nodes: [], edges: [] }, "tapestry");
// @ts-expect-error the flavor has counting alone
n.assembleDialogue;
// @ts-expect-error and none of the types of what it has not
type Tree = n.LoomTreeData;
const counted: number = n.countChatTokens([{ role: "user", content: "text" }], { tokenizer: tokensVocabulary.name });
a.countTokens("text", { tokenizer: "p50k_base" });
// @ts-expect-error no name
t.countTokens("text", { tokenizer: 51 });
chat.fitMessages([], { maxTokens: 5, model: "gpt-4o" });
chat.fitMessages([], { contextWindow: 5, model: "gpt-4o" });
chat.fitMessages([], { model: "gpt-4o" });
// @ts-expect-error two limits
chat.fitMessages([], { maxTokens: 5, contextWindow: 5 });
// @ts-expect-error no limit
chat.fitMessages([], { keepLast: 5 });
new chat.Chat({ contextWindow: 5 }).fit({ maxTokens: 5 });
n.vocabularyOf("{}");
// @ts-expect-error the other areas convert nothing
l.vocabularyOf("{}");
async function use(): Promise<void> {
  await o200k.load();
  await Promise.all([a.init(), cl100k.load({ source: fetch("https://localhost/x.bin"), onProgress: (loaded: number) => loaded })]);
  await o200k.load({ source: new URL("https://localhost/x.bin"), onProgress(loaded, total) { if (total !== undefined) loaded / total; } });
  const bytes: Uint8Array = await o200k.bytes();
  a.loadVocabulary(o200k.name, bytes);
  a.loadVocabulary("cl100k_base", new ArrayBuffer(8));
  a.loadVocabulary("p50k_base", bytes);
  const mine: Uint8Array = a.vocabularyOf({ model: {} });
  n.loadVocabulary("mine", a.vocabularyOf(mine));
  a.encodeTokens("text", { tokenizer: "mine" });
  // @ts-expect-error no tokenizer
  a.vocabularyOf({ vocab: {} });
  a.countTokens("text", { tokenizer: cl100k.name });
  t.countTokens("text", { tokenizer: "p50k_base" });
  a.assembleDialogue({ tree: { nodes: [], edges: [] }, path: [], contextWindow: 4096, tokenizer: { name: "own", count: (text) => text.length } });
  interface Query { readonly words: readonly string[] }
  const query: Query = { words: ["a"] };
  const fixed = {
    tree: {
      nodes: [
        { id: "q", content: { type: "mixed", blocks: ["text"] }, authorType: "human", createdAt: new Date(0) },
        { id: "a", content: { type: "toolCall", id: "c", name: "find", arguments: query }, authorType: "model", createdAt: 1 },
      ],
      edges: [{ id: "e", sources: [{ nodeId: "q" }], targetNodeId: "a" }],
    },
    path: ["q", "a"],
    contextWindow: 4096,
    loomAware: { trace: ["opened"] },
  } as const;
  a.assembleDialogue(fixed);
  a.requestBody({ ...fixed, target: { provider: "openai", model: "m" } as const });
  new a.LoomTree(fixed.tree).upsert({ nodes: fixed.tree.nodes, edges: fixed.tree.edges });
  a.buildContextChain({ files: [{ path: "a/AGENTS.md", content: "x" }], selected: ["a"] } as const);
  a.startRun({ task: { type: "atomic", description: "d" } } as const);
  await a.init();
  await a.init(fetch("https://localhost/ctxweave.wasm"));
  await c.init(new Uint8Array(8));
  // @ts-expect-error slim has nothing to load by itself
  await c.init();
  const count: number = a.countTokens("text", { tokenizer: "heuristic" });
  const most: number | null = a.countTokensUpTo("text", count);
  const { document }: a.BufferAssembly = a.assembleBuffer({ tree: { nodes: [], edges: [] }, path: [], contextWindow: 4096 });
  if (!(document && most)) throw new a.CtxweaveError("internal_error", "none");
  class Derived extends n.CtxweaveError { readonly hint = "none"; }
  await n.init().catch((error: unknown) => {
    if (error instanceof Derived) return error.hint;
    if (error instanceof n.CtxweaveError) {
      if (error.code === "ambiguous_path") return error.details.candidates.map(({ edgeId }) => edgeId).join();
      // @ts-expect-error a unit of another code
      if (error.code === "context_too_long") return error.details.candidates.map(({ edgeId }) => edgeId).join();
      const any: a.CtxweaveError = error;
      return any.code;
    }
    // @ts-expect-error it may be anything
    return error.code;
  });
}
export = [hooks, whole, backwards, rest, alikeThere, olderToo, harmonious, part, tokens, least, parts, all, packed, sameClass, alike, there, thereToo, counted, use];
`;
  for (const [name, load] of [
    ["entries.mts", (as, from) => `import * as ${as} from "${from}";`],
    ["entries.cts", (as, from) => `import ${as} = require("${from}");`],
  ]) {
    const source = name.endsWith(".cts") ? text(load) : text(load).replace("export = ", "export default ");
    const { status, stdout } = check(name, source);
    assert.equal(status, 0, stdout);
  }
});

/**
 * Checks files as a project with these options: the declarations of the package are checked, and no types are added.
 */
function checkAll(name, files, options) {
  const project = join(dir, name);
  mkdirSync(project, { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(project, path), text);
  const compilerOptions = { noEmit: true, strict: true, target: "es2022", skipLibCheck: false, types: [], ...options };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", project], {
    cwd: project,
    encoding: "utf8",
  });
  // Errors in the declarations of other packages are ignored.
  return stdout.split("\n").filter((line) => /^[^ ].*error TS/.test(line) && !line.includes("../node_modules/@"));
}

const entries = Object.keys(packages).flatMap((name) =>
  Object.entries(JSON.parse(readFileSync(join(root, packages[name], "package.json"), "utf8")).exports)
    .filter(([, target]) => typeof target === "object")
    .map(([entry]) => `${name}${entry.slice(1)}`),
);

test("the declarations are valid without any library types, and in older CommonJS", () => {
  const plain = entries.filter((entry) => !/ai-sdk|langchain|openai-agents/.test(entry));
  const files = (of) => ({
    "required.cts": `${of.map((entry, at) => `import e${at} = require("${entry}");`).join("\n")}\nexport = [${of.map((_, at) => `e${at}`)}];\n`,
    "imported.mts": `${of.map((entry, at) => `import * as e${at} from "${entry}";`).join("\n")}\nexport default [${of.map((_, at) => `e${at}`)}];\n`,
  });
  assert.ok(plain.length > 20);
  for (const module of ["node16", "nodenext"]) {
    assert.deepEqual(checkAll(`plain-${module}`, files(plain), { module, lib: ["es2022"] }), [], module);
    assert.deepEqual(checkAll(`dom-${module}`, files(plain), { module, lib: ["es2022", "dom"] }), [], module);
    // The hosts of the drop-ins need more.
    const all = checkAll(`all-${module}`, files(entries), { module, lib: ["esnext", "dom"], types: ["node"] });
    assert.deepEqual(
      all.filter((line) => /ctxweave/.test(line.split("(")[0])),
      [],
      module,
    );
  }
});

test("a value of type string is accepted as a name", () => {
  const text = `import * as ctxweave from "ctxweave";
const tree = { nodes: [], edges: [] };
const target = { provider: "anthropic", model: "claude-sonnet-4-5" };
export const body: Uint8Array = ctxweave.requestBody({ tree, path: [], contextWindow: 4096, target });
const options = { provider: "anthropic" };
export const dialogue = ctxweave.assembleDialogue({ tree, path: [], contextWindow: 4096, ...options });
export const resident = new ctxweave.Chat({ maxTokens: 5, target }).requestBody({ target });
const parts = [{ format: "generic-v1", bytes: "" }];
export const translated = ctxweave.translateTranscript({ parts, format: "codex-v1", crossFamily: "transcode" });
// @ts-expect-error it is no name
ctxweave.requestBody({ tree, path: [], contextWindow: 4096, target: { provider: 5, model: "m" } });
`;
  const { status, stdout } = check("names.mts", text);
  assert.equal(status, 0, stdout);
});

test("the examples of docs/sessions.md and docs/loading.md have the types", () => {
  const found = examples().filter(({ name }) => /docs\/(sessions|loading)\.md/.test(name));
  assert.ok(found.length > 2);
  for (const { file, code } of found) {
    const { status, stdout } = check(`${file}.mts`, code);
    assert.equal(status, 0, stdout);
  }
});
