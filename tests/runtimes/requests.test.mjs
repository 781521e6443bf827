/** Values that JSON cannot carry, on their way into the wasm: nothing is lost silently, and nothing hangs. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder } from "../packaging/packed.mjs";

const dir = folder("requests");
let ctxweave;
before(async () => {
  ctxweave = await import(pathToFileURL(createRequire(join(dir, "x.js")).resolve("ctxweave")).href);
  await ctxweave.init();
});

const node = (id, content = id) => ({ id, content, authorType: "human" });
const tree = (...nodes) => ({ nodes, edges: [] });

/** The error of a call. */
function error(run) {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return assert.fail("nothing was thrown");
}

const dialogue = (request) => () =>
  ctxweave.assembleDialogue({ tree: tree(node("a")), tip: "a", contextWindow: 8000, ...request });

test("values other than data are named with their path", () => {
  const cycle = {};
  cycle.cycle = cycle;
  const cases = [
    [{ overhead: { perMessage: NaN } }, "overhead.perMessage", "NaN"],
    [{ overhead: { perMessage: -Infinity } }, "overhead.perMessage", "-Infinity"],
    [{ overhead: { perMessage: 3n } }, "overhead.perMessage", "a BigInt"],
    [{ workingBuffer: () => "x" }, "workingBuffer", "a function"],
    [{ instructionScope: Symbol("path") }, "instructionScope", "a symbol"],
    [{ choices: new Map([["a", "b"]]) }, "choices", "a Map"],
    [{ choices: cycle }, "choices.cycle", "a cycle"],
    [
      { tree: tree(node("a"), { ...node("b"), createdAt: new Date(NaN) }) },
      "tree.nodes[1].createdAt",
      "an invalid Date",
    ],
  ];
  for (const [request, path, what] of cases) {
    const { code, details, message } = error(dialogue(request));
    assert.deepEqual([code, details.path], ["invalid_input", path]);
    assert.ok(message.startsWith(`\`${path}\` is ${what}, which JSON cannot carry; it must be `), message);
  }
});

test("unknown fields of entities may hold any value", () => {
  const extra = { method() {}, count: 1n, when: new Date(NaN), map: new Map(), nan: NaN, symbol: Symbol("x") };
  assert.equal(dialogue({ tree: tree({ ...node("a", "hello"), ...extra }) })().messages[0].content, "hello");
});

test("an exception in a getter or `toJSON` becomes the cause", () => {
  const boom = new Error("boom");
  const raise = () => {
    throw boom;
  };
  const cases = [
    [
      {
        get agent() {
          return raise();
        },
      },
      "agent",
    ],
    [
      {
        tree: tree({
          ...node("a"),
          content: {
            type: "text",
            get text() {
              return raise();
            },
          },
        }),
      },
      "tree.nodes[0].content.text",
    ],
    [{ tree: { toJSON: raise } }, "tree"],
    [{ path: new Proxy(["a"], { get: (list, key) => (key === "0" ? raise() : list[key]) }) }, "path[0]"],
  ];
  for (const [change, path] of cases) {
    const request = { tree: tree(node("a")), tip: "a", contextWindow: 8000 };
    Object.defineProperties(request, Object.getOwnPropertyDescriptors(change));
    const thrown = error(() => ctxweave.assembleDialogue(request));
    assert.deepEqual([thrown.code, thrown.details.path, thrown.cause], ["invalid_input", path, boom], path);
  }
});

test("an impossible length is rejected immediately", () => {
  const claimed = new Proxy([], { get: (list, key) => (key === "length" ? 4_294_967_295 : Reflect.get(list, key)) });
  for (const list of [claimed, new Array(4_294_967_295)]) {
    const { code, details } = error(dialogue({ pendingSources: list }));
    assert.deepEqual([code, details.value], ["limit_exceeded", 4_294_967_295]);
  }
});

test("infinite nesting throws", () => {
  let deep = "x";
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  assert.equal(error(dialogue({ tree: tree(node("a", deep)) })).code, "limit_exceeded");
});

test("an own key `__proto__` is preserved, in and out", () => {
  const log = '{"timestamp":"2026-01-01T00:00:00Z","op":"x","__proto__":{"x":1}}\n';
  const { details } = ctxweave.readContext({ log }).context.recent_log[0];
  assert.equal(Object.getPrototypeOf(details), Object.prototype);
  assert.deepEqual(Object.keys(details), ["__proto__"]);
  assert.equal(details.x, undefined);
  const genres = JSON.parse('{"__proto__":"Keep it blue.\\n"}');
  const { context } = ctxweave.readContext({ tastes: { genres }, brief: "Tastes: __proto__\n" });
  assert.deepEqual(Object.keys(context.tastes.genres), ["__proto__"]);
});

test("bytes are accepted as bytes, and named elsewhere", () => {
  const bytes = new TextEncoder().encode("Keep it blue.\n");
  for (const notes of [bytes, bytes.buffer, new DataView(bytes.buffer)]) {
    assert.equal(ctxweave.readFullNotes({ notes }), "Keep it blue.\n");
  }
  const { code, message } = error(() => ctxweave.readContext({ tastesDir: bytes }));
  assert.deepEqual([code, message], ["invalid_input", "`tastesDir` is bytes; it must be a string"]);
});

test("unknown options are reported", () => {
  const { diagnostics } = ctxweave.readContext({ limits: { notesHeadLine: 3 }, note: "x" });
  assert.deepEqual(
    diagnostics.map(({ code, path, message }) => [code, path, message]),
    [
      ["unknown_option", "note", "unknown option `note`; did you mean `notes`?"],
      ["unknown_option", "limits.notesHeadLine", "unknown option `notesHeadLine`; did you mean `notesHeadLines`?"],
    ],
  );
  const thrown = error(() => ctxweave.countTokens("a", { tokeniser: "o200k_base" }));
  assert.deepEqual([thrown.code, thrown.details.path], ["invalid_input", "options.tokeniser"]);
  assert.match(thrown.message, /did you mean `tokenizer`/);
});

test("results can be spread into options of drivers", async () => {
  const spread = { report: {}, diagnostics: [] };
  const memory = async () => ({ context: "", matches: [] });
  const messages = [{ role: "user", content: "Hi" }];
  const { diagnostics } = await ctxweave.loadContext(async () => undefined, spread);
  assert.deepEqual(diagnostics, []);
  await ctxweave.assembleContextForTask({ task: {}, ...spread }, memory, spread);
  await ctxweave.runTask({ task: {} }, { memory, model: () => "x", ...spread });
  assert.deepEqual(ctxweave.fitMessages(messages, { maxTokens: 100, ...spread }).report.diagnostics, []);
  await ctxweave.fitMessagesWith(messages, { maxTokens: 100, ...spread }, async () => "x", spread);
  const graph = new ctxweave.CommitGraph();
  await ctxweave.materializeWith(graph, { format: "generic-v1" }, async () => undefined, spread);
  graph.free();
  // Anywhere else they are unknown.
  const { code } = error(() => ctxweave.countTokens("a", { tokenizer: "heuristic", reports: 1 }));
  assert.equal(code, "invalid_input");
  const nested = ctxweave.readContext({ limits: { report: 1 } });
  assert.deepEqual(
    nested.diagnostics.map(({ path }) => path),
    ["limits.report"],
  );
});

test("a dialogue is the same for few nodes and for many, whatever its ids and contents", () => {
  const text = { type: "text", text: "yo" };
  const empty = { type: "mixed", blocks: [] };
  for (const count of [1, 2, 30, 60, 100]) {
    const nodes = Array.from({ length: count }, (_, at) => ({
      id: at === 0 ? "\uFEFFa" : `n${at}é`,
      content: at === 1 ? { type: "mixed", blocks: [empty, { type: "mixed", blocks: [text] }] } : `message ${at}`,
      authorType: at % 2 ? "model" : "human",
    }));
    const edges = nodes
      .slice(1)
      .map(({ id }, at) => ({ id: `e${at}`, sources: [{ nodeId: nodes[at].id }], targetNodeId: id }));
    const tip = nodes.at(-1).id;
    const ids = nodes.map(({ id }) => id);
    const data = { nodes, edges };
    const results = [
      ctxweave.assembleDialogue({ tree: data, tip, contextWindow: 100_000 }),
      // Not all strings can be the caller's: a date has to be written as text.
      ctxweave.assembleDialogue({
        tree: { nodes: nodes.map((node) => ({ ...node, createdAt: new Date(0) })), edges },
        tip,
        contextWindow: 100_000,
      }),
      new ctxweave.LoomTree(data).assembleDialogue({ tip, contextWindow: 100_000 }),
    ];
    for (const { messages, report } of results) {
      assert.deepEqual(report.path, ids);
      assert.deepEqual(
        report.nodes.map(({ nodeId }) => nodeId),
        ids,
      );
      assert.deepEqual(
        messages.map(({ nodeIds }) => nodeIds[0]),
        ids,
      );
      assert.equal(messages[1]?.content ?? "yo", "yo");
      assert.deepEqual({ messages, report }, results[0]);
    }
  }
});

test("lone surrogates are repaired everywhere", () => {
  const { diagnostics } = ctxweave.readContext({
    brief: "a\ud800",
    tastes: { genres: { "b\udfff": "c" } },
    notes: "\udc00",
  });
  const repaired = diagnostics.filter(({ code }) => code === "lone_surrogate_replaced").map(({ path }) => path);
  assert.deepEqual(repaired, ["brief", "tastes.genres.b\ufffd", "notes"]);
});

/** mulberry32. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

test("every JSON value arrives as from JSON.stringify", () => {
  const next = random(20);
  const below = (count) => Math.floor(next() * count);
  const pick = (list) => list[below(list.length)];
  const letters = ["a", '"', "\\", "\n", "\0", "\u0001", "\u007f", "é", "中", "💶", "\u2028", "\ufeff", "\\u0041"];
  const text = () => Array.from({ length: pick([0, 1, 5, 63, 64, 65, 300]) }, () => pick(letters)).join("");
  const keys = [
    "",
    "a",
    "é",
    '"',
    "\0k",
    "\u00010",
    "toJSON",
    "constructor",
    "__proto__",
    "list",
    "\n",
    "k".repeat(70),
  ];
  const value = (depth) => {
    const kind = below(depth > 4 ? 4 : 7);
    if (kind < 2) return text();
    if (kind === 2) return pick([0, -0, 1.5, -1e21, 2 ** 53, 1e-7, 5e-324, 123456789]);
    if (kind === 3) return pick([true, false, null, undefined]);
    if (kind === 4) return Array.from({ length: below(5) }, () => value(depth + 1));
    const entries = Array.from({ length: below(5) }, () => [pick(keys), value(depth + 1)]);
    const object = Object.fromEntries(entries);
    return kind === 5 ? object : Object.assign(Object.create(null), object);
  };
  for (let round = 0; round < 3000; round += 1) {
    const args = { value: value(0) };
    const call = { type: "toolCall", id: "1", name: "t", arguments: args };
    const nodes = [
      { id: "a", content: { type: "mixed", blocks: [call] }, authorType: "model" },
      { id: "b", content: { type: "toolResult", toolCallId: "1", content: text() }, authorType: "human" },
    ];
    const edges = [
      { id: "e", sources: [{ nodeId: "a", role: "primary" }], targetNodeId: "b", edgeType: "continuation" },
    ];
    const { messages } = ctxweave.assembleDialogue({ tree: { nodes, edges }, tip: "b", contextWindow: 1e7 });
    assert.deepEqual(messages[0].content[0].arguments, JSON.parse(JSON.stringify(args)), `round ${round}`);
  }
});

test("long texts of all sizes arrive unchanged", () => {
  const contents = ["x", "\n", "é", "中", "💶", '"\\'].flatMap((unit) =>
    [63, 64, 127, 128, 16_383, 16_384, 65_530, 65_536, 70_000, 300_000].map((count) => `(${unit.repeat(count)})`),
  );
  const nodes = contents.map((content, at) => node(`n${at}`, content));
  const request = { tree: { nodes, edges: [] }, contextWindow: 1e9 };
  for (const { id, content } of nodes) {
    const { messages } = ctxweave.assembleDialogue({ ...request, path: [id], nonsense: undefined });
    assert.ok(messages[0].content === content, id);
    const body = ctxweave.requestBody({ ...request, path: [id], target: { provider: "openai", model: "m" } });
    assert.ok(JSON.parse(new TextDecoder().decode(body)).messages[0].content === content, id);
  }
});

test("a getter may make another request, and objects may inherit", () => {
  const inner = () =>
    ctxweave.assembleDialogue({ tree: tree(node("b", "inner ".repeat(50))), tip: "b", contextWindow: 8000 });
  const outer = {
    id: "a",
    authorType: "human",
    get content() {
      return `outer ${inner().messages[0].content}`;
    },
  };
  const { messages } = ctxweave.assembleDialogue({ contextWindow: 8000, tip: "a", tree: tree(outer) });
  assert.equal(messages[0].content, `outer ${"inner ".repeat(50).trim()}`);
  try {
    Object.prototype.contextWindw = 3;
    assert.deepEqual(dialogue({})().report.diagnostics, []);
  } finally {
    delete Object.prototype.contextWindw;
  }
  assert.equal(dialogue({})().messages[0].content, "a");
});
