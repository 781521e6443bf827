/** Repeated calls must not leak: neither wasm memory nor entries in the wasm's list of JavaScript objects. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../packaging/packed.mjs";

test("ten thousand calls leak no memory", async () => {
  assert.equal(typeof globalThis.gc, "function", "node runs with --expose-gc");
  const { Instance } = WebAssembly;
  let exports;
  let slots;
  WebAssembly.Instance = function (...args) {
    ({ exports } = new Instance(...args));
    // The wasm holds JavaScript values in slots of a list. Enough simultaneous values to occupy all free slots reveal
    // the number of slots.
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
      // Errors must not leak either.
      assert.throws(() => ctxweave.assembleDialogue({ ...request, tip: "nowhere" }), { code: "node_not_found" });
    }
    ctxweave.countTokensBatch(Array(5000).fill(""));
    globalThis.gc();
    return { wasm: exports.memory.buffer.byteLength, slots, heap: process.memoryUsage().heapUsed };
  };
  // The first calls allocate the working set.
  call(1000);
  const before = call(1000);
  const after = call(10_000);
  assert.equal(after.wasm, before.wasm, "wasm memory");
  assert.ok(before.slots > 5000, `${before.slots} places`);
  // The order of free slots varies, so there may be fewer.
  assert.ok(after.slots <= before.slots, `the list of JavaScript objects: ${before.slots}, then ${after.slots}`);
  assert.ok(after.heap - before.heap < 2 << 20, `the heap grew by ${after.heap - before.heap} bytes`);
});
