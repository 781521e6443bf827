/** What users write compiles with TypeScript's strict settings, and their mistakes do not. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, root } from "./packed.mjs";
import { tsc } from "./tsc.mjs";

const dir = folder("strict");
const EXACT = ["--skipLibCheck", "--types", "node", "--exactOptionalPropertyTypes"];

/** Asserts that the text of a module passes the compiler. */
function passes(name, text, flags = EXACT) {
  writeFileSync(join(dir, name), text);
  const { status, stdout } = tsc(dir, [name], flags);
  assert.equal(status, 0, stdout);
}

test("every block of the README and the quick start compiles as a pasted file", () => {
  const names = ["README.md", "docs/quick-start.md"].flatMap((file) => {
    const blocks = [...readFileSync(join(root, file), "utf8").matchAll(/^```(?:ts|js)\n([^]*?)^```/gm)];
    return blocks.map(([, code], at) => {
      const name = `${file.replaceAll(/\W/g, "-")}-${at}.mts`;
      writeFileSync(join(dir, name), code);
      return name;
    });
  });
  assert.ok(names.length > 8, String(names));
  const { status, stdout } = tsc(dir, names);
  assert.equal(status, 0, stdout);
});

test("results and unset options fit into inputs", () => {
  passes(
    "optional.mts",
    `import * as ctxweave from "ctxweave";
import * as looms from "ctxweave/import";
import * as stores from "ctxweave/stores";
declare const unset: number | undefined;
declare const name: string | undefined;
declare const signal: AbortSignal | undefined;
const messages = [{ role: "user", content: "text" }];
const { tree, tip } = ctxweave.chatToLoomTree(messages);
const dialogue = ctxweave.assembleDialogue({ tree, tip, contextWindow: 4096, preferences: { tokenBuffer: unset }, agent: { systemPrompt: name } as ctxweave.Agent, provider: name });
ctxweave.assembleBuffer({ tree, tip, contextWindow: 4096, workingBuffer: name });
ctxweave.loomTreeToChat(tree, { format: "openai", tip });
ctxweave.fitMessages(messages, { maxTokens: unset, model: "gpt-4o", keepLast: unset, system: dialogue.system });
ctxweave.fitMessages(messages, { contextWindow: unset, model: "gpt-4o" });
const { state } = ctxweave.fitMessages(messages, { maxTokens: 5 });
ctxweave.fitMessages(messages, { maxTokens: 5, previous: state, cutTo: unset, edits: { toolResults: { keepLast: unset } }, tokenizer: dialogue.report.tokens.tokenizer });
const chat = new ctxweave.Chat({ maxTokens: 5, target: { provider: "openai", model: "m", maxTokens: unset } });
chat.fit({ keepLast: unset });
const loom = new ctxweave.LoomTree(tree);
const answer = ctxweave.continuation({} as ctxweave.ProviderReply, { createdAt: name, authorAgentId: name } as ctxweave.ContinuationOptions);
loom.upsert(answer);
const added: ctxweave.TreeChange = { nodes: answer.nodes, edges: undefined };
loom.assembleDialogue({ tip, contextWindow: unset, media: answer.media });
const chain = ctxweave.buildContextChain({ files: [], selected: [], maxTokens: unset, truncationMarker: name });
ctxweave.chainResponse(chain);
const piece: ctxweave.AgentFilesRequest = { agent: "codex", cwd: "/", home: name, maxTokens: unset };
const graph = new ctxweave.CommitGraph({ limits: { blobBytes: unset } });
const [record] = graph.commits();
if (record) graph.checkpoint({ artifact_ref: record.artifact_ref, format: record.format, created_at: 0, parent: record.parent, template: record.template, ticket_id: record.ticket_id });
const again: ctxweave.CheckpointerOptions = { format: "generic-v1", principal: name } as ctxweave.CheckpointerOptions;
await ctxweave.materializeWith(graph, { commit: "a", stop: undefined }, async () => new Uint8Array(), { signal, concurrency: unset });
const imported = ctxweave.importTranscript("codex-v1", "", { principal: name, createdAt: undefined } as ctxweave.ImportOptions);
ctxweave.importTranscript("codex-v1", "", { resume: imported.resume } as ctxweave.ImportOptions);
const parsed = ctxweave.parseTask("<task/>", { mode: undefined });
const run = ctxweave.startRun({ task: parsed.task, parentContext: name });
ctxweave.nextRequest(run);
ctxweave.recordResult(run, { output: "", notes: name });
ctxweave.readContext({ brief: undefined, limits: { logEntries: unset } } as ctxweave.WorkspaceInput);
const [file] = looms.importLoom("{}", { cursor: name }).trees;
if (file) looms.exportLoom(file.tree, "markdown", { tip: file.tip });
ctxweave.truncateText("text", 5, { marker: name });
ctxweave.countTokens("text", { tokenizer: name });
new ctxweave.TokenCounter({ tokenizer: name });
ctxweave.countChatTokens([{ role: "user", content: [{ type: "image_url", image_url: { url: "", detail: name } }] }]);
loom.preview({ options: undefined });
const gemini: ctxweave.Target = { provider: "gemini", model: name };
const pinned: ctxweave.Pinned = { label: name, text: "" };
const inputs: ctxweave.TaskInputs = [{ id: name, text: "" }];
ctxweave.sessionContextRecords({ sessionId: "s", folders: [], addedAt: name });
declare const verify: ((ref: string, bytes: Uint8Array) => boolean) | undefined;
graph.materialize({ commit: "a" }, new Map(), { verifyArtifact: verify });
await ctxweave.materializeWith(graph, {}, async () => new Uint8Array(), { verifyArtifact: verify });
ctxweave.materializeStream(graph, {}, async () => new Uint8Array(), { verifyArtifact: verify });
graph.history("a", { depth: unset });
const commits = new stores.CommitStore({ ...stores.memoryStore(), ancestors: undefined }, { retries: unset });
await commits.checkpoint("main", { format: "x", created_at: 0, artifact_ref: name }, new Uint8Array(), { signal });
for await (const { id } of commits.history("a", { depth: unset, signal })) await commits.blob(id, { verifyArtifact: verify, signal });
export default [gemini, pinned, inputs];
export const more = [piece, again, added];
`,
  );
});

test("entities may have fields of their own", () => {
  passes(
    "fields.mts",
    `import * as ctxweave from "ctxweave";
interface Row { id: string; content: string; authorType: "human"; color: string; metadata: { excluded: boolean; starred: boolean } }
const row: Row = { id: "a", content: "", authorType: "human", color: "red", metadata: { excluded: false, starred: true } };
const edge = { id: "e", sources: [{ nodeId: "a", weight: 1 }], targetNodeId: "b", label: "x" };
ctxweave.assembleDialogue({ tree: { nodes: [row], edges: [edge], owner: "x" }, tip: "a", contextWindow: 4096 });
ctxweave.assembleDialogue({
  tree: {
    nodes: [{ id: "a", content: "", authorType: "human", color: "red", metadata: { starred: true } }],
    edges: [{ id: "e", sources: [{ nodeId: "a", weight: 1 }], targetNodeId: "a", label: "x" }],
    owner: "x",
  },
  pendingSources: [{ nodeId: "a", weight: 1 }],
  tip: "a",
  contextWindow: 4096,
});
const tree = new ctxweave.LoomTree({ nodes: [row], edges: [], owner: "x" });
tree.upsert({ nodes: [row, { id: "b", content: "", authorType: "model", color: "red" }], edges: [edge, { ...edge, label: "y" }] });
ctxweave.loomTreeToChat({ nodes: [{ ...row, more: 1 }], edges: [] }, { format: "openai" });
ctxweave.buildContextChain({ files: [{ path: "AGENTS.md", content: "", mtime: 5 }], selected: [] });
ctxweave.watchersOf("AGENTS.md", [{ path: "AGENTS.md", content: "", mtime: 5 }]);
ctxweave.planAgentFiles({ agent: "codex", cwd: "/", files: [{ path: "/AGENTS.md", content: "", mtime: 5 }] });
// @ts-expect-error an option is none of them
ctxweave.assembleDialogue({ tree: { nodes: [], edges: [] }, tip: "a", contextWindow: 4096, maxToken: 5 });
// @ts-expect-error a known field keeps its type
ctxweave.assembleDialogue({ tree: { nodes: [{ id: 5, content: "", authorType: "human" }], edges: [] }, tip: "a", contextWindow: 4096 });
`,
  );
});

test("values of the exported option types are accepted", () => {
  passes(
    "named.mts",
    `import { Chat, type ChatOptions } from "ctxweave/chat";
import * as sdk from "ctxweave/ai-sdk";
import * as langchain from "ctxweave/langchain";
import * as agents from "ctxweave/openai-agents";
const options: ChatOptions = { maxTokens: 1000 };
const chat = new Chat(options);
chat.fit(options);
chat.requestBody(options);
chat.requestBodyWithReport(options);
const hook: sdk.HookOptions = { contextWindow: 1000 };
sdk.fitMiddleware(hook);
sdk.fitPrepareStep(hook);
agents.fitModelInput(hook satisfies agents.HookOptions);
const chain: langchain.HookOptions = { maxTokens: 1000, onTooLong: (_, messages) => messages.slice(-1) };
langchain.fitMiddleware(chain);
const model: langchain.PreModelHookOptions = { model: "gpt-4o" };
langchain.preModelHook(model);
// @ts-expect-error two limits
const both: ChatOptions = { maxTokens: 5, contextWindow: 5 };
// @ts-expect-error two limits
const two: sdk.HookOptions = { maxTokens: 5, contextWindow: 5 };
// @ts-expect-error no limit
const none: langchain.PreModelHookOptions = { keepLast: 5 };
export default [both, two, none];
`,
  );
});

test("a fit has one limit", () => {
  passes(
    "limits.mts",
    `import { Chat, fitMessages, fitMessagesWith, planFit } from "ctxweave/chat";
import { fitMiddleware, fitPrepareStep } from "ctxweave/ai-sdk";
import { fitMiddleware as fitLangChain, preModelHook } from "ctxweave/langchain";
import { fitModelInput } from "ctxweave/openai-agents";
const both = { maxTokens: 5, contextWindow: 5 };
fitMessages([], { model: "gpt-4o" });
fitMessages([], { model: "gpt-4o", contextWindow: 5 });
new Chat({});
new Chat({ maxTokens: 5 }).fit({ contextWindow: 5 });
fitMiddleware({ maxTokens: 5 });
fitModelInput({ contextWindow: 5 });
preModelHook({ model: "gpt-4o" });
// @ts-expect-error two limits
fitMessages([], both);
// @ts-expect-error two limits
fitMessages([], { ...both, model: "gpt-4o" });
// @ts-expect-error no limit
fitMessages([], {});
// @ts-expect-error no limit
planFit([], { keepLast: 5 });
// @ts-expect-error no limit
fitMessagesWith([], { summary: {} }, () => "");
// @ts-expect-error two limits
new Chat(both);
// @ts-expect-error two limits
new Chat({}).fit(both);
// @ts-expect-error two limits
fitMiddleware(both);
// @ts-expect-error two limits
fitPrepareStep(both);
// @ts-expect-error two limits
fitLangChain(both);
// @ts-expect-error two limits
fitModelInput(both);
// @ts-expect-error no limit, and no model of the host
preModelHook({ keepLast: 5 });
`,
  );
});

test("no entry point exports the insides of the facade", async () => {
  const internal = /^(onlyTokenizer|checked[A-Z]\w*|invalid|jsonOf|callJson|writeRequest|guarded|Handles|raceAbort)$/;
  const { exports } = JSON.parse(readFileSync(join(root, "pkg/package.json"), "utf8"));
  // `ctxweave/vocab` is shared code; its types have `createVocabulary` alone.
  const entries = Object.keys(exports).filter(
    (name) => !/\.\w+$|ai-sdk|langchain|openai-agents|^\.\/vocab$/.test(name),
  );
  assert.ok(entries.length > 10, String(entries));
  for (const [at, entry] of entries.entries()) {
    // Found from the folder of the installed package.
    const path = join(dir, `entry-${at}.mjs`);
    writeFileSync(path, `export * from "ctxweave${entry.slice(1)}";\n`);
    assert.deepEqual(
      Object.keys(await import(path)).filter((name) => internal.test(name)),
      [],
      entry,
    );
  }
});
