/** The resident tree, through the packed package: behavior that only JavaScript can show. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../packaging/packed.mjs";

let ctxweave;
let exports;
/** Whether counting traps, which the module never does on its own. */
let broken = false;
before(async () => {
  const { Instance } = WebAssembly;
  const trap = new WebAssembly.Module(
    new Uint8Array([
      0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 116, 0, 0, 10, 5, 1, 3, 0, 0, 11,
    ]),
  );
  const { t: unreachable } = new Instance(trap).exports;
  WebAssembly.Instance = function (...args) {
    exports = new Instance(...args).exports;
    const { countTokens } = exports;
    return { exports: { ...exports, countTokens: (...args) => (broken ? unreachable() : countTokens(...args)) } };
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
  it("rejects an unknown setting before a missing vocabulary", () => {
    const tree = new ctxweave.LoomTree(chain(3));
    for (const settings of [
      { bogus: 1 },
      { tokenizer: "cl100k_base", bogus: 1 },
      { tokenizer: "cl100k_base", preferences: { tokenBufer: 1 } },
    ]) {
      assert.throws(() => tree.configure(settings), {
        code: "invalid_input",
        message: /unknown option `(bogus|tokenBufer)`/,
      });
    }
    tree.configure({ tokenizer: "cl100k_base", contextWindow: 100_000 });
    assert.throws(() => tree.measurePath({ tip: "n2" }), { code: "vocabulary_not_loaded" });
    tree.configure({ tokenizer: null });
    assert.equal(tree.measurePath({ tip: "n2" }).nodes, 3);
    tree.free();
  });

  it("equals the functions, after a hundred random edits", () => {
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
      assert.deepEqual(given, expected);
      const { messages, report } = tree.summarizeDialogue({ tip });
      assert.deepEqual(messages, expected.messages);
      assert.deepEqual(report.tokens, expected.report.tokens);
      const target = { provider: "gemini" };
      assert.deepEqual(tree.requestBody({ tip, target }), requestBody({ ...request, target }));
    }
    tree.free();
  });

  it("sends only new messages, whatever was queried before and whatever callers did with the results", () => {
    const { LoomTree, assembleDialogue, requestBody } = ctxweave;
    let seed = 11;
    const random = (below) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
    const one = (list) => list[random(list.length)];
    const contents = [
      () => "the same words",
      () => `words ${random(1000)} and so on`.repeat(1 + random(5)),
      () => ({ type: "image", ref: "cat", mimeType: "image/png", width: 20, height: 20 }),
      () => ({ type: "mixed", blocks: ["two", " texts "].map((text) => ({ type: "text", text })) }),
      () => `"quoted"\n\n\ttext ${random(50)} `,
    ];
    // Consecutive nodes of one role merge into one message, and plain texts are the most frequent.
    const made = (id) => ({
      id,
      authorType: one(["human", "human", "model"]),
      content: one([...contents, contents[0], contents[1], contents[1], contents[1]])(),
      ...(random(12) === 0 && { metadata: { excluded: true } }),
    });
    const media = { cat: { data: "aGVsbG8=" } };
    const spoil = (result) => {
      for (const message of result.messages) {
        message.nodeIds.push("spoilt");
        if (typeof message.content !== "string") message.content.length = 0;
        message.content = "spoilt";
      }
      result.messages.splice(0, 3);
      result.report.preferences.truncationMarker = "spoilt";
      result.report.tokens.total = -1;
      result.report.diagnostics.push("spoilt");
    };
    let throwing = false;
    const tokenizer = {
      name: "mine",
      count(text) {
        if (throwing) throw new Error("not today");
        return Math.ceil(text.length / 3);
      },
    };
    const trees = Array.from({ length: 3 }, () => {
      const data = { nodes: [made("n0")], edges: [], preferences: { tokenBuffer: 20 } };
      const tree = new LoomTree(data);
      tree.configure({ media });
      return { data, tree, parents: new Map(), previous: null, made: 0 };
    });
    let most = 0;
    for (let round = 0; round < 1200; round += 1) {
      const it = one(trees);
      const { data, tree } = it;
      const act = random(10);
      if (act < 5) {
        // Mostly at the end, sometimes a branch.
        const parent = random(6) === 0 ? one(data.nodes).id : data.nodes.at(-1).id;
        const added = made(`n${(it.made += 1)}`);
        const link = { id: `e${it.made}`, sources: [{ nodeId: parent }], targetNodeId: added.id };
        data.nodes.push(added);
        data.edges.push(link);
        tree.upsert({ nodes: [added], edges: [link] });
      } else if (act === 5) {
        const at = random(data.nodes.length);
        data.nodes[at] = made(data.nodes[at].id);
        tree.upsert({ nodes: [data.nodes[at]] });
      } else if (act === 6 && data.nodes.length > 2) {
        const { id } = data.nodes.pop();
        data.edges = data.edges.filter((edge) => edge.targetNodeId !== id && edge.sources[0].nodeId !== id);
        tree.remove({ nodes: [id] });
      } else if (act === 7) {
        assert.throws(() => tree.upsert({ nodes: [made("n0"), made("n0")] }), { code: "duplicate_id" });
        assert.throws(() => tree.summarizeDialogue({ tip: "nowhere", contextWindow: 100 }), { code: "node_not_found" });
        assert.throws(() => tree.summarizeDialogue({ tip: "n0", contextWindow: 1 }), { code: "invalid_budget" });
      } else if (act === 8) {
        // The tokenizer throws while the answer is on its way.
        throwing = true;
        const tip = data.nodes.at(-1).id;
        assert.throws(() => tree.summarizeDialogue({ tip, contextWindow: 5000, tokenizer: { ...tokenizer } }), {
          code: "tokenizer_failed",
        });
        throwing = false;
      }
      const options = {
        tip: random(4) === 0 ? one(data.nodes).id : data.nodes.at(-1).id,
        contextWindow: one([90, 160, 400, 400, 4000]),
        provider: one(["anthropic", "openai"]),
        ...(random(3) === 0 && { preferences: { truncationStrategy: "rollingWindow" } }),
        ...(random(5) === 0 && { agent: { configuration: { systemPrompt: `be ${random(3)}` } } }),
        ...(random(5) === 0 && { tokenizer }),
        ...(random(9) === 0 && { includeAnnotations: "all" }),
        ...(random(9) === 0 && { loomAware: { addendum: false, pinned: [{ nodeId: one(data.nodes).id }] } }),
        // Most continue the last dialogue of the tree.
        ...(random(5) > 0 && { previous: it.previous }),
      };
      const request = { ...options, tree: data, media };
      let expected;
      try {
        expected = assembleDialogue(request);
      } catch ({ code }) {
        assert.throws(() => tree.summarizeDialogue(options), { code }, `round ${round}`);
        continue;
      }
      const { report, messages, system, state } = expected;
      assert.equal(state === undefined, options.previous === undefined);
      const cut = report.cut && {
        nodes: report.cut.nodeIds.length,
        partialNodes: report.cut.partialNodeIds.length,
        tokens: report.cut.tokens,
        position: report.cut.position,
        ...(report.cut.marker !== undefined && { marker: report.cut.marker }),
      };
      const short = {
        strategy: report.strategy,
        limit: report.limit,
        tokens: report.tokens,
        truncated: report.truncated,
        ...(cut && { cut }),
        ...(report.prefix && { prefix: report.prefix }),
        minimumRecentNodesMet: report.minimumRecentNodesMet,
        pathLength: report.path.length,
        preferences: report.preferences,
        diagnostics: report.diagnostics,
      };
      const summary = tree.summarizeDialogue(options);
      const wanted = { ...(system !== undefined && { system }), messages, report: short, ...(state && { state }) };
      assert.equal(JSON.stringify(summary), JSON.stringify(wanted), `round ${round}`);
      most = Math.max(most, messages.length);
      spoil(summary);
      if (state) {
        const again = tree.summarizeDialogue({ ...options, previous: state });
        assert.deepEqual(again.messages, messages);
        assert.deepEqual([again.report.prefix.messages, again.report.prefix.stable], [messages.length, true]);
        spoil(again);
        it.previous = state;
      }
      const whole = tree.assembleDialogue(options);
      assert.equal(JSON.stringify(whole), JSON.stringify(expected), `round ${round}`);
      for (const list of [whole.report.path, whole.report.nodes, whole.report.cut?.nodeIds]) list?.push("spoilt");
      whole.report.nodes[0].nodeId = "spoilt";
      spoil(whole);
      if (random(3) === 0) {
        const target = {
          provider: one(["anthropic", "openai", "gemini", "gemini-interactions", "openai-responses"]),
          model: "m",
          maxTokens: 9,
        };
        const { body, report, state } = tree.requestBodyWithReport({ ...options, target });
        assert.equal(state === undefined, options.previous === undefined);
        assert.deepEqual(body, requestBody({ ...request, target }), `round ${round}`);
        // The state of a dialogue without a provider is not continued with one.
        if (state === undefined) assert.deepEqual(report.tokens, short.tokens);
        body.fill(0);
        assert.deepEqual(tree.requestBody({ ...options, target }), requestBody({ ...request, target }));
      }
      if (random(60) === 0) {
        tree.free();
        it.tree = new LoomTree(data);
        it.tree.configure({ media });
        it.previous = null;
      }
    }
    assert.ok(most > 12, `the longest had ${most} messages`);
    trees.forEach(({ tree }) => tree.free());
  });

  it("escapes every character at every position, new and copied", () => {
    const { LoomTree } = ctxweave;
    const specials = Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code));
    for (const special of [...specials, "é", "\u2028", "\ufeff", "😀"]) {
      // At every offset of a vector of sixteen bytes, and over more than one.
      const contents = Array.from({ length: 40 }, (_, at) => `<${"a".repeat(at)}${special}${special}b${special}>`);
      const nodes = contents.map((content, at) => node(at, content));
      const tree = new LoomTree({ nodes, edges: chain(40).edges });
      const options = { tip: "n39", contextWindow: 100_000, target: { provider: "openai", model: special } };
      const messages = contents.map((content, at) => ({ role: at % 2 ? "assistant" : "user", content }));
      for (let round = 0; round < 2; round += 1) {
        const text = new TextDecoder().decode(tree.requestBody(options));
        assert.equal(text, JSON.stringify({ model: special, messages }));
      }
      tree.free();
    }
  });

  it("throws after it was freed", () => {
    const tree = new ctxweave.LoomTree(chain(2));
    tree[Symbol.dispose]();
    tree.free();
    for (const use of [() => tree.path("n1"), () => tree.size, () => tree.upsert({}), () => tree.configure({})]) {
      assert.throws(use, { name: "CtxweaveError", code: "handle_freed" });
    }
  });

  it("a tip overrides a default path, and the reverse", () => {
    const { LoomTree } = ctxweave;
    const tree = new LoomTree(chain(5));
    const ids = (options) => tree.summarizeDialogue(options).messages.flatMap(({ nodeIds }) => nodeIds);
    tree.configure({ contextWindow: 4000, path: ["n0", "n1"] });
    assert.deepEqual(ids({}), ["n0", "n1"]);
    assert.equal(ids({ tip: "n2", path: undefined }).at(-1), "n2");
    assert.equal(tree.path("n3").at(-1), "n3");
    tree.configure({ tip: "n4" });
    assert.equal(ids({}).at(-1), "n4");
    assert.deepEqual(ids({ path: ["n0"], tip: undefined }), ["n0"]);
    assert.throws(() => tree.configure({ contextwindow: 1 }), { code: "invalid_input" });
    tree.free();
  });

  it("repairs and reports lone surrogates in every field", () => {
    const { LoomTree } = ctxweave;
    const tree = new LoomTree({ title: "a\ud800", nodes: [node(0)], edges: [] });
    assert.deepEqual(
      tree.diagnostics.map(({ code, path }) => [code, path]),
      [["lone_surrogate_replaced", "title"]],
    );
    const { diagnostics } = tree.upsert({ nodes: [{ ...node(1), authorAgentId: "\udc00" }] });
    assert.equal(diagnostics[0].path, "nodes[0].authorAgentId");
    tree.free();
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
    assert.ok(tokens.messages > 100, "the failed call was not cached");
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

  it("accepts bytes, reports damage, and rejects other values", () => {
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

  it("a thousand trees and many edits leak no memory", () => {
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
    assert.equal(held.size.texts, texts, "the caches were freed with the trees");
    held.free();
  });

  // The last test: it ends the instance that the others use.
  it("throws `handle_lost` after the module was restarted", () => {
    const { LoomTree, countTokens } = ctxweave;
    const old = new LoomTree(chain(5));
    old.configure({ contextWindow: 4000 });
    const { messages } = old.summarizeDialogue({ tip: "n4" });
    broken = true;
    assert.throws(() => countTokens("hello"), { code: "internal_error" });
    broken = false;
    assert.ok(countTokens("hello") > 0);
    const uses = [
      () => old.summarizeDialogue({ tip: "n4" }),
      () => old.requestBody({ tip: "n4", target: { provider: "openai" } }),
      () => old.upsert({ nodes: [node(9)] }),
      () => old.size,
      () => old.path("n1"),
    ];
    for (const use of uses) assert.throws(use, { name: "CtxweaveError", code: "handle_lost" });
    // A tree of the new instance has the address that the old one had.
    const tree = new LoomTree(chain(5));
    tree.configure({ contextWindow: 4000 });
    old.free();
    old.free();
    assert.throws(() => old.size, { code: "handle_freed" });
    assert.deepEqual(tree.summarizeDialogue({ tip: "n4" }).messages, messages);
    tree.free();
  });
});
