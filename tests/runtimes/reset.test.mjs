/** `reset`: a new instance, whose memory is that of the start; handles of the old one are lost. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../packaging/packed.mjs";

const file = (path) => pathToFileURL(join(installed(), "node_modules/ctxweave/dist", path)).href;

describe("reset", () => {
  let ctxweave;
  let memories;

  before(async () => {
    // The memory of each instance that the package makes.
    const { Instance } = WebAssembly;
    memories = [];
    WebAssembly.Instance = function (...args) {
      const instance = new Instance(...args);
      memories.push(new WeakRef(instance.exports.memory));
      return instance;
    };
    ctxweave = await import(file("node.js"));
  });

  const size = () => memories.at(-1).deref().buffer.byteLength;

  it("does nothing before `init`", () => {
    ctxweave.reset();
    assert.throws(() => ctxweave.countTokens("a"), { code: "not_initialized" });
    assert.equal(memories.length, 0);
  });

  it("releases the memory of a large request", async () => {
    await ctxweave.init();
    ctxweave.countTokens("a few words");
    const start = size();
    ctxweave.fitMessages([{ role: "user", content: "a large text ".repeat(2_000_000) }], { maxTokens: 1e8 });
    const grown = size();
    assert.ok(grown > start + (20 << 20), `${start} bytes, then ${grown}`);
    ctxweave.reset();
    assert.equal(memories.length, 2);
    assert.ok(ctxweave.countTokens("a few words") > 0);
    assert.ok(size() <= start, `${size()} bytes, at first ${start}`);
    assert.equal(typeof globalThis.gc, "function", "node runs with --expose-gc");
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc();
    assert.equal(memories[0].deref(), undefined, "the old memory is garbage");
  });

  it("does not let memory grow over many resets", () => {
    const sizes = Array.from({ length: 20 }, () => {
      ctxweave.countTokens("some text ".repeat(100_000));
      ctxweave.reset();
      return size();
    });
    assert.equal(new Set(sizes).size, 1, sizes.join(", "));
  });

  it("keeps loaded vocabularies", async () => {
    const { load } = await import(file("vocab/o200k_base.node.js"));
    await load();
    const options = { tokenizer: "o200k_base" };
    const count = ctxweave.countTokens("<|endoftext|> is plain text", options);
    ctxweave.reset();
    assert.equal(ctxweave.countTokens("<|endoftext|> is plain text", options), count);
  });

  it("loses every kind of handle", () => {
    const { ChainWalk, Chat, Checkpointer, CommitGraph, LoomTree, TokenCounter } = ctxweave;
    const tree = new LoomTree({ nodes: [{ id: "a", authorType: "human", content: "Hi" }], edges: [] });
    const chat = new Chat({ maxTokens: 1000 });
    const counter = new TokenCounter();
    const graph = new CommitGraph();
    const checkpointer = new Checkpointer({ format: "generic-v1" });
    const walk = new ChainWalk({ commit: "a" });
    counter.append("Hi");
    checkpointer.push({ role: "user", content: "Hi" });
    ctxweave.reset();
    const lost = { name: "CtxweaveError", code: "handle_lost" };
    assert.throws(() => tree.size, lost);
    assert.throws(() => chat.fit(), lost);
    assert.throws(() => counter.append("!"), lost);
    assert.throws(() => graph.resolve("a"), lost);
    assert.throws(() => checkpointer.pending, lost);
    assert.throws(() => checkpointer.push({ role: "user", content: "Hi" }), lost);
    assert.throws(() => walk.wanted, lost);
    assert.throws(() => walk.push("{}"), lost);
    const handles = { Chat: chat, ChainWalk: walk, Checkpointer: checkpointer, CommitGraph: graph, LoomTree: tree };
    // Every class with `free` is here.
    const classes = Object.keys(ctxweave).filter((name) => typeof ctxweave[name].prototype?.free === "function");
    assert.deepEqual(classes.sort(), [...Object.keys(handles), "TokenCounter"].sort());
    for (const handle of [...Object.values(handles), counter]) handle.free();
    const again = new TokenCounter();
    assert.ok(again.append("Hi") > 0);
    again.free();
  });

  const graphWith = () => {
    const graph = new ctxweave.CommitGraph();
    const blob = new TextEncoder().encode('{"role":"user","content":"Hi"}\n');
    const { record } = graph.checkpoint({
      format: "generic-v1",
      artifact_ref: ctxweave.artifactRef(blob),
      created_at: "2026-01-01T00:00:00Z",
      message_count: 1,
    });
    return [blob, graph, { commit: record.id }];
  };

  /** Drivers that have a handle, while they wait for the caller's function `pause`. */
  const losing = {
    async materializeWith(pause) {
      const [blob, ...given] = graphWith();
      return ctxweave.materializeWith(...given, () => pause(blob));
    },
    async materializeStream(pause) {
      const [blob, ...given] = graphWith();
      const { stream, done } = ctxweave.materializeStream(...given, () => pause(blob));
      done.catch(() => undefined);
      return stream.getReader().read();
    },
  };

  /** Drivers whose state is plain data. */
  const continuing = {
    fitMessagesWith(pause) {
      const chat = Array.from({ length: 30 }, (_, at) => ({
        role: at % 2 === 0 ? "user" : "assistant",
        content: `message ${at} with some words in it`,
      }));
      return ctxweave.fitMessagesWith(chat, { maxTokens: 250 }, () => pause("a summary"));
    },
    loadContext: (pause) => ctxweave.loadContext((path) => pause(`# ${path}`)),
    loadAgentFiles: (pause) =>
      ctxweave.loadAgentFiles({ agent: "codex", cwd: "/" }, (path) =>
        pause(path === "/AGENTS.md" ? { content: "Be brief." } : undefined),
      ),
    async runTask(pause) {
      const { task } = ctxweave.parseTask(`<task type="atomic"><description>d</description><context_management>
  <inherit_context>none</inherit_context><accumulate_data>false</accumulate_data><fresh_context>enabled</fresh_context>
</context_management></task>`);
      const memory = () => pause({ context: "c", matches: [] });
      return ctxweave.runTask({ task }, { memory, model: () => pause({ output: "done" }) });
    },
  };

  /** Calls a driver whose functions answer later; `meanwhile` runs before each answer. Returns the number of answers. */
  const driven = async (drive, meanwhile) => {
    let answers = 0;
    const pause = async (answer) => {
      await new Promise((resolve) => setImmediate(resolve));
      meanwhile();
      answers += 1;
      return answer;
    };
    return { result: await drive(pause), answers };
  };

  for (const [name, drive] of Object.entries(losing)) {
    it(`loses ${name} while it waits for the caller's function`, async () => {
      const { answers } = await driven(drive, () => undefined);
      assert.ok(answers > 0);
      await assert.rejects(driven(drive, ctxweave.reset), { name: "CtxweaveError", code: "handle_lost" });
    });
  }

  for (const [name, drive] of Object.entries(continuing)) {
    it(`does not disturb ${name} while it waits for the caller's function`, async () => {
      const expected = await driven(drive, () => undefined);
      assert.ok(expected.answers > 0);
      assert.deepEqual(await driven(drive, ctxweave.reset), expected);
    });
  }

  it("is refused inside a call", () => {
    const errors = [];
    const count = (text) => {
      try {
        ctxweave.reset();
      } catch (error) {
        errors.push(error.code);
      }
      return text.length;
    };
    const tokenizer = { name: "letters", count };
    assert.equal(ctxweave.countTokens("abc", { tokenizer }), 3);
    assert.deepEqual([...new Set(errors)], ["handle_busy"]);
    ctxweave.reset();
    assert.ok(ctxweave.countTokens("abc") > 0);
  });
});
