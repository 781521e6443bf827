/** The tree that stays, through the packed package: what only JavaScript can do to it. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../packaging/packed.mjs";

let ctxweave;
let exports;
before(async () => {
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (...args) {
    const instance = new Instance(...args);
    exports = instance.exports;
    return instance;
  };
  ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/node.js")));
  await ctxweave.init();
  WebAssembly.Instance = Instance;
});

const node = (at, content = `message ${at}, ${"and so on ".repeat(at % 9)}`) => ({
  id: `n${at}`,
  authorType: at % 2 ? "model" : "human",
  content,
});
const edge = (at) => ({ id: `e${at}`, sources: [{ nodeId: `n${at - 1}` }], targetNodeId: `n${at}` });
const chain = (count) => ({
  nodes: Array.from({ length: count }, (_, at) => node(at)),
  edges: Array.from({ length: count - 1 }, (_, at) => edge(at + 1)),
});

describe("LoomTree", () => {
  it("gives what the functions give, after a hundred random edits", () => {
    const { LoomTree, assembleDialogue, requestBody } = ctxweave;
    const data = chain(30);
    const tree = new LoomTree(data);
    tree.configure({ contextWindow: 300, preferences: { tokenBuffer: 20 } });
    let seed = 7;
    const random = (below) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
    for (let round = 0; round < 100; round += 1) {
      const at = random(data.nodes.length);
      const changed = node(at, `edited ${round} ${"more ".repeat(random(20))}`);
      if (random(3) === 0) {
        const next = data.nodes.length;
        data.nodes.push(node(next));
        data.edges.push(edge(next));
        tree.upsert({ nodes: [node(next)], edges: [edge(next)] });
      }
      data.nodes[at] = changed;
      tree.upsert({ nodes: [changed] });
      assert.throws(() => tree.upsert({ nodes: [node(at, "never")], edges: [{ ...edge(1), targetNodeId: "no" }] }), {
        code: "edge_node_not_found",
      });
      const tip = `n${random(data.nodes.length)}`;
      const request = { tree: { ...data, preferences: { tokenBuffer: 20 } }, tip, contextWindow: 300 };
      const expected = assembleDialogue(request);
      const given = tree.assembleDialogue({ tip });
      assert.ok(given.report.cache);
      delete given.report.cache;
      assert.deepEqual(given, expected);
      const { messages, report } = tree.summarizeDialogue({ tip });
      assert.deepEqual(messages, expected.messages);
      assert.deepEqual(report.tokens, expected.report.tokens);
      assert.equal(report.cache.messages, messages.length);
      const target = { provider: "gemini" };
      assert.deepEqual(tree.requestBody({ tip, target }), requestBody({ ...request, target }));
    }
    tree.free();
  });

  it("is not to be used after it was freed", () => {
    const tree = new ctxweave.LoomTree(chain(2));
    tree[Symbol.dispose]();
    tree.free();
    for (const use of [() => tree.path("n1"), () => tree.size, () => tree.upsert({}), () => tree.configure({})]) {
      assert.throws(use, { name: "CtxweaveError", code: "handle_freed" });
    }
  });

  it("survives a tokenizer that throws, and one that uses it", () => {
    const { LoomTree } = ctxweave;
    const tree = new LoomTree(chain(6));
    tree.configure({ contextWindow: 4000 });
    let broken = true;
    const tokenizer = {
      name: "mine",
      count(text) {
        if (broken) throw new Error("not today");
        return text.length;
      },
    };
    assert.throws(() => tree.measurePath({ tip: "n5", tokenizer }), { code: "tokenizer_failed" });
    broken = false;
    const { tokens } = tree.measurePath({ tip: "n5", tokenizer });
    assert.equal(tokens.tokenizer, "mine");
    assert.ok(tokens.messages > 100, "what the failed call gave is not remembered");
    const codes = [];
    const nosy = {
      count(text) {
        for (const use of [() => tree.path("n1"), () => tree.free()]) {
          try {
            use();
          } catch ({ code }) {
            codes.push(code);
          }
        }
        return text.length;
      },
    };
    assert.equal(tree.measurePath({ tip: "n5", tokenizer: nosy }).tokens.messages, tokens.messages);
    assert.deepEqual([...new Set(codes)], ["handle_busy"]);
    assert.equal(tree.path("n5").length, 6);
    tree.free();
  });

  it("takes bytes, says what was damaged, and refuses what is no tree", () => {
    const { LoomTree } = ctxweave;
    const tree = new LoomTree(new TextEncoder().encode(JSON.stringify(chain(3))));
    assert.deepEqual(tree.path("n2"), ["n0", "n1", "n2"]);
    assert.deepEqual(tree.diagnostics, []);
    const [found] = tree.upsert({ nodes: [node(3, "half \ud83d of it")], edges: [edge(3)] }).diagnostics;
    assert.equal(found.code, "lone_surrogate_replaced");
    assert.equal(found.path, "nodes[0].content");
    tree.free();
    for (const wrong of [7, {}, null, new Uint8Array([123])]) {
      assert.throws(() => new LoomTree(wrong), { code: "invalid_input" });
    }
  });

  it("a thousand trees and many edits leave the memory as it was", () => {
    assert.equal(typeof globalThis.gc, "function", "node runs with --expose-gc");
    const { LoomTree } = ctxweave;
    const held = new LoomTree(chain(2));
    const { texts } = held.size;
    const work = (count) => {
      for (let at = 0; at < count; at += 1) {
        const tree = new LoomTree(chain(40));
        tree.configure({ contextWindow: 1500 });
        for (let draft = 0; draft < 20; draft += 1) {
          tree.upsert({ nodes: [node(40, `typing ${at} ${draft}`)], edges: [edge(40)] });
          tree.summarizeDialogue({ tip: "n40" });
          assert.throws(() => tree.remove({ nodes: ["nowhere"] }), { code: "node_not_found" });
        }
        tree.remove({ nodes: ["n40"] });
        tree.free();
      }
      globalThis.gc();
      return exports.memory.buffer.byteLength;
    };
    const before = work(50);
    assert.equal(work(500), before, "wasm memory");
    assert.equal(held.size.texts, texts, "what was remembered went with the trees");
    held.free();
  });
});
