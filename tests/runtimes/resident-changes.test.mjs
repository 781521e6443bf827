/** Changes, previews and searches of the resident tree, through the packed package. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../packaging/packed.mjs";

let ctxweave;
before(async () => {
  ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/loom/node.js")));
  await ctxweave.init();
});

const given = () => ({
  id: "t",
  mode: "dialogue",
  owner: { name: "Ann" },
  nodes: [
    { id: "a", authorType: "human", content: { type: "text", text: "Tell me of the sea." }, color: "blue" },
    { id: "b", authorType: "model", content: "It is wide, and it is salt.", metadata: { bookmarked: true } },
    { id: "c", authorType: "human", content: "And of the ships?", editedFrom: null, metadata: {} },
  ],
  edges: [
    { id: "ab", sources: [{ nodeId: "a", role: "primary" }], targetNodeId: "b", edgeType: "continuation" },
    { id: "bc", sources: [{ nodeId: "b" }], targetNodeId: "c", weight: 2 },
  ],
});
const text = (bytes) => new TextDecoder().decode(bytes);

describe("LoomTree's changes", () => {
  it("returns the tree unchanged", () => {
    const tree = new ctxweave.LoomTree(given());
    assert.deepEqual(tree.toJSON(), given());
    assert.deepEqual(JSON.parse(JSON.stringify({ tree })), { tree: given() });
    assert.equal(text(tree.snapshot()), JSON.stringify(tree));
    const again = new ctxweave.LoomTree(tree.snapshot());
    assert.equal(text(again.snapshot()), text(tree.snapshot()));
    for (const made of [tree, again]) made.free();
    assert.throws(() => tree.snapshot(), { code: "handle_freed" });
  });

  it("undoes a streamed reply piece by piece, and redoes it", () => {
    const tree = new ctxweave.LoomTree(given());
    const before = text(tree.snapshot());
    const undo = [
      tree.upsert({
        nodes: [{ id: "d", authorType: "model", content: "" }],
        edges: [{ id: "cd", sources: [{ nodeId: "c" }], targetNodeId: "d" }],
      }).inverse,
    ];
    // The third and the fourth have half a character each.
    for (const delta of ["They are", " many ", "\ud83c", "\udf0a", "."]) undo.push(tree.append("d", delta).inverse);
    assert.equal(tree.toJSON().nodes[3].content, "They are many 🌊.");
    const after = text(tree.snapshot());
    assert.equal(tree.revision, 6);
    const redo = undo.reverse().map((change) => tree.apply(JSON.parse(JSON.stringify(change))).inverse);
    assert.equal(text(tree.snapshot()), before);
    for (const change of redo.reverse()) tree.apply(change);
    assert.equal(text(tree.snapshot()), after);
    tree.free();
  });

  it("updates a copy", () => {
    const tree = new ctxweave.LoomTree(given());
    const copy = new ctxweave.LoomTree(tree.snapshot());
    let known = tree.revision;
    for (const edit of [
      () => tree.remove({ nodes: ["a"] }),
      () => tree.append("c", " All of them."),
      () => tree.configure({ title: "The sea", contextWindow: 5000 }),
      () => tree.upsert({ nodes: [given().nodes[0]], edges: [] }),
      () => tree.upsert({ nodes: [] }),
    ]) {
      edit();
      const { revision, ...change } = tree.changesSince(known);
      known = revision;
      copy.apply(change);
      assert.equal(text(copy.snapshot()), text(tree.snapshot()));
    }
    assert.equal(known, 4);
    const late = new ctxweave.LoomTree({ nodes: [{ id: "old", authorType: "human", content: "" }], edges: [] });
    const whole = tree.changesSince(1000);
    assert.equal(whole.replace, true);
    late.apply(whole);
    assert.deepEqual(late.toJSON().nodes, tree.toJSON().nodes);
    for (const made of [tree, copy, late]) made.free();
  });

  it("previews with the defaults, other options and a custom tokenizer", () => {
    const tree = new ctxweave.LoomTree(given());
    const tokenizer = { name: "letters", count: (text) => text.length };
    tree.configure({ contextWindow: 5000, tip: "b", tokenizer });
    const { before, after, added } = tree.preview({ options: { tip: "c" } });
    assert.equal(before.tokenizer, "letters");
    assert.equal(after.total, tree.measurePath({ tip: "c" }).tokens.total);
    assert.deepEqual(added, [{ nodeId: "c", tokens: 17 }]);
    assert.deepEqual(tree.compare({}, { tip: "c" }).added, added);
    assert.equal(tree.compare({ provider: "anthropic" }, { provider: "gemini" }).cachedTokens, 0);
    assert.equal(tree.revision, 0);
    assert.throws(() => tree.preview({ optoins: {} }), { code: "invalid_input", message: /nearest|`options`|optoins/ });
    assert.throws(() => tree.preview(null), { code: "invalid_input" });
    assert.throws(() => tree.compare({}, { tokenizer: { name: "other", count: () => 1 } }), { code: "invalid_input" });
    tree.free();
  });

  it("searches, with ranges of UTF-16", () => {
    const tree = new ctxweave.LoomTree({ nodes: [{ id: "a", authorType: "human", content: "🌊 MÉR" }], edges: [] });
    const [{ start, end }] = tree.search("mer", { ignoreCase: true, ignoreAccents: true });
    assert.equal(tree.toJSON().nodes[0].content.slice(start, end), "MÉR");
    assert.deepEqual(tree.search("mer"), []);
    tree.free();
  });

  it("requests several answers in the provider's way", () => {
    const tree = new ctxweave.LoomTree(given());
    tree.configure({ contextWindow: 5000, tip: "c" });
    const bodies = (target, n = 3) =>
      tree.requestBodies({ target: { model: "m", ...target }, n }).map((it) => text(it));
    const body = (target) => text(tree.requestBody({ target: { model: "m", ...target } }));
    const three = bodies({ provider: "anthropic" });
    assert.deepEqual(three, Array(3).fill(body({ provider: "anthropic" })));
    assert.equal(bodies({ provider: "openai-responses" }).length, 3);
    assert.deepEqual(bodies({ provider: "openai" }), [body({ provider: "openai", n: 3 })]);
    assert.deepEqual(bodies({ provider: "openai" }, 1), [body({ provider: "openai" })]);
    assert.deepEqual(bodies({ provider: "completion" }), [body({ provider: "completion", n: 3 })]);
    const [gemini] = bodies({ provider: "gemini", generationConfig: { topP: 0.5 } });
    assert.deepEqual(JSON.parse(gemini).generationConfig, { topP: 0.5, candidateCount: 3 });
    for (const n of [0, 1.5, "3", undefined]) {
      assert.throws(() => tree.requestBodies({ target: { provider: "openai", model: "m" }, n }), {
        code: "invalid_input",
      });
    }
    tree.free();
  });
});
