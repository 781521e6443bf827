/** Navigation queries of the resident tree, through the packed package: behavior that only JavaScript can show. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../packaging/packed.mjs";

let ctxweave;
before(async () => {
  ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/node.js")));
  await ctxweave.init();
});

const node = (id, content = `text of ${id}`) => ({ id, authorType: "model", content });
const edge = (from, to) => ({ id: `${from}-${to}`, sources: [{ nodeId: from }], targetNodeId: to });
const textOf = (tree, tip) => tree.assembleDialogue({ tip, contextWindow: 100_000 }).messages[0]?.content;

describe("LoomTree.append", () => {
  it("joins text split anywhere, also inside a character", () => {
    const text = 'It is 🌊 wide,\n\n"salt" and 👩‍🚀 deep.';
    for (let step = 1; step < 5; step += 1) {
      const tree = new ctxweave.LoomTree({ nodes: [node("r", "")], edges: [] });
      for (let at = 0; at < text.length; at += step) {
        tree.append("r", text.slice(at, at + step));
        // Queries in between have no effect.
        if (at % 3 === 0) tree.measurePath({ tip: "r", contextWindow: 100_000 });
      }
      assert.equal(textOf(tree, "r"), text, `steps of ${step}`);
      const fresh = new ctxweave.LoomTree({ nodes: [node("r", text)], edges: [] });
      assert.deepEqual(tree.tokensOf(), fresh.tokensOf());
      tree.free();
      fresh.free();
    }
  });

  it("joins a half with one at the end of the stored text, and reports those that remain alone", () => {
    const tree = new ctxweave.LoomTree({ nodes: [node("r", "")], edges: [] });
    const [code] = ["lone_surrogate_replaced"];
    assert.deepEqual(
      tree.upsert({ nodes: [node("r", "wave \ud83c")] }).diagnostics.map((found) => found.code),
      [code],
    );
    assert.deepEqual(tree.append("r", "\udf0a!").diagnostics, []);
    assert.equal(textOf(tree, "r"), "wave 🌊!");
    assert.deepEqual(
      tree.append("r", "\udf0a").diagnostics.map((found) => found.code),
      [code],
    );
    assert.deepEqual(
      tree.append("r", "\ud83c").diagnostics.map((found) => found.code),
      [code],
    );
    assert.deepEqual(tree.append("r", " and").diagnostics, []);
    assert.equal(textOf(tree, "r"), "wave 🌊!\ufffd\ufffd and");
    // A replaced node has no half of its earlier text.
    tree.append("r", "\ud83c");
    tree.upsert({ nodes: [node("r", "new ")] });
    tree.append("r", "\udf0a.");
    assert.equal(textOf(tree, "r"), "new \ufffd.");
    tree.free();
  });

  it("counts with a custom tokenizer, and survives one that throws", () => {
    let fails = false;
    const tokenizer = {
      name: "mine",
      count(text) {
        if (fails) throw new Error("not today");
        return text.length;
      },
    };
    const tree = new ctxweave.LoomTree({ nodes: [node("r", "")], edges: [] });
    tree.append("r", "four");
    assert.deepEqual(tree.tokensOf(["r"], { tokenizer }), Uint32Array.of(4));
    tree.append("r", " more");
    fails = true;
    assert.throws(() => tree.tokensOf(["r"], { tokenizer }), { code: "tokenizer_failed" });
    assert.throws(() => tree.pathTokens(undefined, { tokenizer }), { code: "tokenizer_failed" });
    fails = false;
    assert.deepEqual(tree.tokensOf(["r"], { tokenizer }), Uint32Array.of(9));
    assert.deepEqual(tree.pathTokens(undefined, { tokenizer }), Float64Array.of(9));
    assert.throws(() => tree.append("r", 7), { code: "invalid_input" });
    assert.throws(() => tree.append("no", "text"), { code: "node_not_found" });
    tree.free();
  });
});

describe("LoomTree, for drawing", () => {
  it("returns arrays of numbers that reflect every edit, and belong to the caller", () => {
    const nodes = ["a", "b", "c"].map((id) => node(id));
    const tree = new ctxweave.LoomTree({ nodes, edges: [edge("a", "b"), edge("a", "c")] });
    const before = tree.subtreeTokens();
    assert.ok(before instanceof Float64Array && tree.tokensOf() instanceof Uint32Array);
    tree.tokensOf().fill(7);
    before.fill(7);
    const fresh = () => {
      const other = new ctxweave.LoomTree(tree.toJSON());
      const costs = [other.nodeIds(), other.tokensOf(), other.pathTokens(), other.subtreeTokens()];
      other.free();
      return costs;
    };
    const costs = () => [tree.nodeIds(), tree.tokensOf(), tree.pathTokens(), tree.subtreeTokens()];
    assert.deepEqual(costs(), fresh());
    tree.append("b", " and a good deal more of it");
    assert.deepEqual(costs(), fresh());
    tree.upsert({ nodes: [node("d")], edges: [edge("b", "d")] });
    assert.deepEqual(costs(), fresh());
    tree.remove({ nodes: ["b"] });
    assert.deepEqual(costs(), fresh());
    assert.deepEqual(tree.children(["a", "d"]), [[{ id: "c", edge: "a-c" }], []]);
    assert.deepEqual(tree.children([]), []);
    assert.throws(() => tree.children(["a", "b"]), { code: "node_not_found" });
    assert.throws(() => tree.children(7), { code: "invalid_input" });
    assert.throws(() => tree.tokensOf("a"), { code: "invalid_input" });
    tree.free();
    assert.throws(() => tree.roots(), { code: "handle_freed" });
  });
});
