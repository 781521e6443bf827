/** The adapters answer like the systems whose modules they replace. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { root } from "../packaging/packed.mjs";

const adapters = join(root, "examples/adapters");
let dir;
before(() => (dir = mkdtempSync(join(tmpdir(), "ctxweave-adapters-"))));
after(() => rmSync(dir, { recursive: true, force: true }));

/** Writes files below the scratch folder; returns their folder. */
function folder(name, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, name, path, ".."), { recursive: true });
    writeFileSync(join(dir, name, path), text);
  }
  return join(dir, name);
}

describe("read_context", async () => {
  const { fullNotes, readContext } = await import(join(adapters, "read-context.mjs"));
  const lines = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => `note ${from + at}`).join("\n");

  it("works on a fresh workspace", async () => {
    const empty = await readContext("img", { workspaces: join(dir, "none"), tastes: join(dir, "none") });
    assert.deepEqual(empty, {
      tastes: { default: "", genres: {}, conflicts: [] },
      brief: { raw: "", intent: "", tastes: [] },
      notes: { summary: "", truncated: false },
      recent_log: [],
      recent_gaps: [],
    });
  });

  it("returns what the files hold, in the documented shape", async () => {
    const tastes = folder("tastes", {
      "_default.md": "Do not crush blacks.\n",
      "underwater.md": "Keep it blue.\n",
      "night.md": "Keep it blue.\nDark.\n",
      "unused.md": "x\n",
    });
    const log = Array.from({ length: 12 }, (_, at) => JSON.stringify({ timestamp: `t${at}`, op: "set", value: at }));
    const workspaces = folder("workspaces", {
      "img/brief.md": "Tastes: underwater, night\n\nBring the blues back.\n",
      "img/notes.md": `${lines(1, 41)}\n`,
      "img/log.jsonl": `${log.join("\n")}\nbroken\n`,
      "img/vocabulary_gaps.jsonl": `${JSON.stringify({ description: "no dehaze" })}\n`,
    });
    const found = [];
    const context = await readContext("img", { workspaces, tastes, onDiagnostic: ({ code }) => found.push(code) });
    assert.deepEqual(Object.keys(context), ["tastes", "brief", "notes", "recent_log", "recent_gaps"]);
    assert.deepEqual(Object.keys(context.tastes.genres), ["underwater", "night"]);
    assert.deepEqual(context.tastes.conflicts, [{ point: "Keep it blue.", files: ["underwater", "night"] }]);
    assert.equal(context.brief.intent, "Bring the blues back.");
    const summary = `${lines(1, 10)}\n\n... [1 lines elided] ...\n\n${lines(12, 41)}`;
    assert.deepEqual([context.notes.summary.trimEnd(), context.notes.truncated], [summary, true]);
    assert.deepEqual([context.recent_log.length, context.recent_log[0].timestamp], [10, "t11"]);
    assert.deepEqual(context.recent_log[0].details, { value: 11 });
    assert.deepEqual(
      [context.recent_gaps[0].intent_category, context.recent_gaps[0].session_id],
      ["uncategorized", null],
    );
    assert.deepEqual(found, ["malformed_line"]);
    assert.equal(await fullNotes("img", { workspaces }), `${lines(1, 41)}\n`);
    const program = spawnSync(process.execPath, [join(adapters, "read-context.mjs"), workspaces, tastes, "img"]);
    assert.deepEqual(JSON.parse(program.stdout), context);
    await assert.rejects(readContext("../img", { workspaces, tastes }));
  });
});

describe("the assembler of a Loom", async () => {
  const { assemble } = await import(join(adapters, "loom-assembler.mjs"));
  const agent = { configuration: { systemPrompt: "Agent." } };
  const node = (id, authorType, content, metadata) => ({ id, authorType, content, ...(metadata && { metadata }) });
  const chain = (nodes) =>
    nodes.slice(1).map(({ id }, at) => ({ id: `e${id}`, sources: [{ nodeId: nodes[at].id }], targetNodeId: id }));
  const tree = (nodes, rest = {}) => ({ systemContext: "Tree.", nodes, edges: chain(nodes), ...rest });

  it("combines system contexts, filters and merges", async () => {
    const nodes = [
      node("a", "human", "Hi."),
      node("b", "human", "There."),
      node("c", "model", "Hello."),
      node("d", "human", "secret", { excluded: true }),
      node("e", "human", "gone", { pruned: true }),
    ];
    const result = await assemble({ tree: tree(nodes), tip: "e", agent, contextWindow: 4000 });
    assert.equal(result.systemPrompt, "Agent.\n\nTree.");
    assert.deepEqual(result.messages, [
      { role: "user", content: "Hi.\n\nThere." },
      { role: "assistant", content: "Hello." },
    ]);
    assert.equal(result.truncated, false);
    const first = await assemble({
      tree: tree(nodes),
      tip: "c",
      agent,
      contextWindow: 4000,
      nativeSystemPrompt: false,
    });
    assert.deepEqual([first.systemPrompt, first.messages[0].role], [undefined, "system"]);
  });

  it("makes a document in buffer mode, without the system context by default", async () => {
    const nodes = [node("a", "human", "The sea"), node("b", "model", " is calm.")];
    const buffer = tree(nodes, { mode: "buffer" });
    const result = await assemble({ tree: buffer, tip: "b", agent, contextWindow: 4000, workingBuffer: " But" });
    assert.deepEqual([result.prompt, result.systemPrompt], ["The sea is calm. But", undefined]);
    const on = await assemble({
      tree: { ...buffer, bufferModeSystemContext: true },
      tip: "b",
      agent,
      contextWindow: 4000,
    });
    assert.equal(on.systemPrompt, "Agent.\n\nTree.");
  });

  it("truncates by the strategy and says so, or refuses", async () => {
    const nodes = Array.from({ length: 40 }, (_, at) =>
      node(`n${at}`, at % 2 ? "model" : "human", `${at} `.repeat(60)),
    );
    const request = { tree: tree(nodes), tip: "n39", agent, contextWindow: 1500 };
    const middle = await assemble(request);
    assert.equal(middle.truncated, true);
    assert.ok(middle.estimatedTokens <= 1500 - 1024 && middle.removedNodeIds.length > 0);
    assert.match(middle.messages.at(-1).content, /^39 39/);
    const stop = await assemble({ ...request, preferences: { truncationStrategy: "stopAtLimit" } });
    assert.deepEqual([stop.ok, stop.reason], [false, "context_too_long"]);
    assert.ok(stop.overBy > 0);
  });
});

describe("the contexts API", async () => {
  const { handler } = await import(join(adapters, "contexts-api.mjs"));
  const get = async (answer, path) => {
    const response = await answer(new Request(`http://localhost${path}`));
    return { status: response.status, body: await response.json() };
  };

  it("lists folders and chains without an automatic parent chain", async () => {
    const vault = folder("vault", {
      "AGENTS.md": "Root.\n",
      "Projects/AGENTS.md": "Projects.\n",
      "Projects/parachute/AGENTS.md": '---\nwatch: "../"\n---\nParachute.\n',
      "Projects/parachute/CLAUDE.md": "Claude.\n",
      "Areas/taiji/CLAUDE.md": "Taiji.\n",
    });
    const answer = handler(vault);
    const folders = await get(answer, "/api/contexts/folders");
    assert.deepEqual(
      folders.body.filter(({ path }) => path.includes("/")),
      [
        { path: "Areas/taiji", has_agents_md: false, has_claude_md: true },
        { path: "Projects/parachute", has_agents_md: true, has_claude_md: true },
      ],
    );
    const one = (await get(answer, "/api/contexts/chain?folders=Areas/taiji")).body;
    assert.deepEqual(
      one.files.map(({ path, level }) => [path, level]),
      [["Areas/taiji/CLAUDE.md", "direct"]],
    );
    const two = (await get(answer, "/api/contexts/chain?folders=Projects/parachute,Areas/taiji")).body;
    assert.deepEqual(
      two.files.map(({ path, level }) => [path, level]),
      [
        ["Projects/AGENTS.md", "parent"],
        ["Areas/taiji/CLAUDE.md", "direct"],
        ["Projects/parachute/AGENTS.md", "direct"],
      ],
    );
    assert.equal(
      two.total_tokens,
      two.files.reduce((sum, { tokens }) => sum + tokens, 0),
    );
    assert.deepEqual((await get(answer, "/api/contexts/chain?folders=../x")).body, {
      files: [],
      omitted: [],
      total_tokens: 0,
    });
    assert.equal((await get(answer, "/api/other")).status, 404);
  });
});

describe("the agent service", async () => {
  const { init, memoryStore } = await import("ctxweave/stores");
  const { ContextService } = await import(join(adapters, "agent-service.mjs"));
  const delta = (...texts) =>
    new TextEncoder().encode(texts.map((content) => `${JSON.stringify({ role: "user", content })}\n`).join(""));
  const text = ({ content }) => new TextDecoder().decode(content);

  it("checkpoints, resolves, materializes, forks and compacts", async () => {
    await init();
    const service = new ContextService(memoryStore());
    const say = (minute, principal, content, rest = {}) =>
      service.checkpoint({
        principal,
        format: "generic-v1",
        created_at: `2026-03-01T09:0${minute}:00Z`,
        delta: delta(content),
        ...rest,
      });
    // A fresh start is the same call without a commit.
    assert.deepEqual([text(await service.materialize({})), (await service.materialize({})).message_count], ["", 0]);
    const one = await say(0, "@a", "one");
    const two = await say(1, "@a", "two");
    assert.match(one.id, /^ctx-[0-9a-f]{16}$/);
    assert.equal(text(await service.materialize({ commit: two.id })), text({ content: delta("one", "two") }));
    assert.deepEqual(await service.resolve({ principal: "@a", timestamp: "2026-03-01T09:00:30Z" }), { id: one.id });
    assert.deepEqual(await service.resolve({ principal: "@a", timestamp: "2026-03-01T08:00:00Z" }), { id: null });
    assert.deepEqual(
      (await service.history({ id: two.id })).map(({ id }) => id),
      [two.id, one.id],
    );
    // Two branches of one commit do not see each other.
    await service.fork(one.id, "discussion");
    const other = await say(2, "@b", "other", { head: "discussion" });
    assert.equal(text(await service.materialize({ commit: other.id })), text({ content: delta("one", "other") }));
    // A compaction hides what is before it, unless the whole chain is requested.
    const compact = await say(3, "@a", "summary", { commit_type: "compaction", checkpoint: "compaction" });
    const last = await say(4, "@a", "three");
    assert.equal(text(await service.materialize({ commit: last.id })), text({ content: delta("summary", "three") }));
    const whole = await service.materialize({ commit: last.id, stop: "root" });
    assert.equal(text(whole), text({ content: delta("one", "two", "three") }));
    // A repeated request returns the cached artifact.
    assert.equal(await service.materialize({ commit: last.id, stop: "root" }), whole);
    await service.updateMetadata({ id: compact.id, summary: "The first two turns." });
    assert.equal((await service.show({ id: compact.id })).summary, "The first two turns.");
  });
});
