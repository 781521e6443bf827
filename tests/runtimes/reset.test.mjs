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
    const { Chat, CommitGraph, LoomTree, TokenCounter } = ctxweave;
    const tree = new LoomTree({ nodes: [{ id: "a", authorType: "human", content: "Hi" }], edges: [] });
    const chat = new Chat({ maxTokens: 1000 });
    const counter = new TokenCounter();
    const graph = new CommitGraph();
    counter.append("Hi");
    ctxweave.reset();
    const lost = { name: "CtxweaveError", code: "handle_lost" };
    assert.throws(() => tree.size, lost);
    assert.throws(() => chat.fit(), lost);
    assert.throws(() => counter.append("!"), lost);
    assert.throws(() => graph.resolve("a"), lost);
    for (const handle of [tree, chat, counter, graph]) handle.free();
    const again = new TokenCounter();
    assert.ok(again.append("Hi") > 0);
    again.free();
  });

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
