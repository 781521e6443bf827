/** What JSON cannot carry, on its way into the wasm: nothing is lost without a word, and nothing hangs. */

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

test("what is no data where data belongs is named with its path", () => {
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

test("unknown fields of entities may hold what they like", () => {
  const extra = { method() {}, count: 1n, when: new Date(NaN), map: new Map(), nan: NaN, symbol: Symbol("x") };
  assert.equal(dialogue({ tree: tree({ ...node("a", "hello"), ...extra }) })().messages[0].content, "hello");
});

test("what a getter or `toJSON` throws is the cause", () => {
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

test("a length that nobody has is refused at once", () => {
  const claimed = new Proxy([], { get: (list, key) => (key === "length" ? 4_294_967_295 : Reflect.get(list, key)) });
  for (const list of [claimed, new Array(4_294_967_295)]) {
    const { code, details } = error(dialogue({ pendingSources: list }));
    assert.deepEqual([code, details.value], ["limit_exceeded", 4_294_967_295]);
  }
});

test("what is nested without end is an error", () => {
  let deep = "x";
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  assert.equal(error(dialogue({ tree: tree(node("a", deep)) })).code, "limit_exceeded");
});

test("an own key `__proto__` stays one, in and out", () => {
  const log = '{"timestamp":"2026-01-01T00:00:00Z","op":"x","__proto__":{"x":1}}\n';
  const { details } = ctxweave.readContext({ log }).context.recent_log[0];
  assert.equal(Object.getPrototypeOf(details), Object.prototype);
  assert.deepEqual(Object.keys(details), ["__proto__"]);
  assert.equal(details.x, undefined);
  const genres = JSON.parse('{"__proto__":"Keep it blue.\\n"}');
  const { context } = ctxweave.readContext({ tastes: { genres }, brief: "Tastes: __proto__\n" });
  assert.deepEqual(Object.keys(context.tastes.genres), ["__proto__"]);
});

test("bytes are taken where bytes are, and named where they are not", () => {
  const bytes = new TextEncoder().encode("Keep it blue.\n");
  for (const notes of [bytes, bytes.buffer, new DataView(bytes.buffer)]) {
    assert.equal(ctxweave.readFullNotes({ notes }), "Keep it blue.\n");
  }
  const { code, message } = error(() => ctxweave.readContext({ tastesDir: bytes }));
  assert.deepEqual([code, message], ["invalid_input", "`tastesDir` must be a string"]);
});

test("options that are not known are said", () => {
  const { diagnostics } = ctxweave.readContext({ limits: { notesHeadLine: 3 }, note: "x" });
  assert.deepEqual(
    diagnostics.map(({ code, path, message }) => [code, path, message]),
    [
      ["unknown_option", "note", "there is no option `note`; did you mean `notes`?"],
      ["unknown_option", "limits.notesHeadLine", "there is no option `notesHeadLine`; did you mean `notesHeadLines`?"],
    ],
  );
  const thrown = error(() => ctxweave.countTokens("a", { tokeniser: "o200k_base" }));
  assert.deepEqual([thrown.code, thrown.details.path], ["invalid_input", "options.tokeniser"]);
  assert.match(thrown.message, /did you mean `tokenizer`/);
});

test("a dialogue is the same for few nodes and for many, whatever its ids and contents are", () => {
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
      // Not all of it can stay the caller's: a date has to be written as text.
      ctxweave.assembleDialogue({
        tree: { nodes: nodes.map((node) => ({ ...node, createdAt: new Date(0) })), edges },
        tip,
        contextWindow: 100_000,
      }),
      new ctxweave.LoomTree(data).assembleDialogue({ tip, contextWindow: 100_000 }),
    ];
    for (const { messages, report } of results) {
      // A tree that stays compares with its last dialogue.
      delete report.cache;
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

test("lone surrogates are repaired wherever they stand", () => {
  const { diagnostics } = ctxweave.readContext({
    brief: "a\ud800",
    tastes: { genres: { "b\udfff": "c" } },
    notes: "\udc00",
  });
  const repaired = diagnostics.filter(({ code }) => code === "lone_surrogate_replaced").map(({ path }) => path);
  assert.deepEqual(repaired, ["brief", "tastes.genres.b\ufffd", "notes"]);
});
