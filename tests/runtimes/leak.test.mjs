/** Repeated calls must not make the process grow: neither wasm memory nor the list of JavaScript objects that wasm holds. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../packaging/packed.mjs";

test("ten thousand calls leave the memory as it was", async () => {
  assert.equal(typeof globalThis.gc, "function", "node runs with --expose-gc");
  const { Instance } = WebAssembly;
  let exports;
  let slots;
  WebAssembly.Instance = function (...args) {
    ({ exports } = new Instance(...args));
    // Wasm gets a JavaScript value as its place in a list. So many at once that all free places are taken show how many
    // places there are.
    const countTokensBatch = (result, at, count, ...more) => {
      slots = Math.max(...new Uint32Array(exports.memory.buffer, at, count));
      return exports.countTokensBatch(result, at, count, ...more);
    };
    return { exports: { ...exports, countTokensBatch } };
  };
  const ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/node.js")));
  await ctxweave.init();
  WebAssembly.Instance = Instance;

  const nodes = Array.from({ length: 20 }, (_, at) => ({
    id: `n${at}`,
    authorType: at % 2 ? "model" : "human",
    content: `message ${at} ${"and so on ".repeat(20)}`,
  }));
  const edges = nodes
    .slice(1)
    .map(({ id }, at) => ({ id: `e${at}`, sources: [{ nodeId: nodes[at].id }], targetNodeId: id }));
  const request = { tree: { nodes, edges }, tip: "n19", contextWindow: 1500, preferences: { tokenBuffer: 100 } };
  const call = (count) => {
    for (let at = 0; at < count; at += 1) {
      ctxweave.assembleDialogue(request);
      ctxweave.assembleBuffer(request);
      ctxweave.countTokensBatch(["one", "two"]);
      // The way out through an error must not leak either.
      assert.throws(() => ctxweave.assembleDialogue({ ...request, tip: "nowhere" }), { code: "node_not_found" });
    }
    ctxweave.countTokensBatch(Array(5000).fill(""));
    globalThis.gc();
    return { wasm: exports.memory.buffer.byteLength, slots, heap: process.memoryUsage().heapUsed };
  };
  // The first calls bring everything to its working size.
  call(1000);
  const before = call(1000);
  const after = call(10_000);
  assert.equal(after.wasm, before.wasm, "wasm memory");
  assert.ok(before.slots > 5000, `${before.slots} places`);
  // Which places are free first is not always the same, so that it may be fewer.
  assert.ok(after.slots <= before.slots, `the list of JavaScript objects: ${before.slots}, then ${after.slots}`);
  assert.ok(after.heap - before.heap < 2 << 20, `the heap grew by ${after.heap - before.heap} bytes`);
});
