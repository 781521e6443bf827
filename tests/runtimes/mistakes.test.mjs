/** Common mistakes of callers, with their errors, and values that JSON would lose. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder } from "../packaging/packed.mjs";

const dir = folder("mistakes");
const load = (name) => import(pathToFileURL(createRequire(join(dir, "x.js")).resolve(name)).href);

let ctxweave;
let aiSdk;
before(async () => {
  ctxweave = await load("ctxweave");
  aiSdk = await load("ctxweave/ai-sdk");
  await ctxweave.init();
});

const messages = [{ role: "user", content: "hello" }];
const node = { id: "a", content: "x", authorType: "human" };
const ref = `blake3:${"0".repeat(64)}`;

/** What a call throws, which must be a `CtxweaveError`. */
async function thrown(run) {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof ctxweave.CtxweaveError, error?.stack);
    assert.doesNotMatch(error.message, /\n/);
    return error;
  }
  return assert.fail(`${run} does not throw`);
}

test("an error as JSON has its message", async () => {
  const error = await thrown(() => ctxweave.countTokens(5));
  const { name, code, message, details } = error;
  assert.deepEqual(JSON.parse(JSON.stringify(error)), { name, code, message, details });
  assert.match(message, /`text`/);
});

test("`tokenizer_failed` has what the tokenizer threw as its cause, in every function that counts", async () => {
  const boom = new Error("boom");
  const tokenizer = {
    count() {
      throw boom;
    },
  };
  const tree = { nodes: [node], edges: [] };
  for (const run of [
    () => ctxweave.countTokens("a", { tokenizer }),
    () => ctxweave.fitMessages(messages, { maxTokens: 5, tokenizer }),
    () => ctxweave.assembleDialogue({ tree, tip: "a", contextWindow: 4096, tokenizer }),
    () => new ctxweave.TokenCounter({ tokenizer }).append("a"),
    () => ctxweave.truncateText("abc", 1, { tokenizer }),
  ]) {
    const error = await thrown(run);
    assert.equal(error.code, "tokenizer_failed");
    assert.equal(error.cause, boom);
  }
});

test("an unbound method and a copy of a handle are named", async () => {
  const chat = new ctxweave.Chat({ maxTokens: 100 });
  const { append } = chat;
  const copy = Object.assign(Object.create(ctxweave.Chat.prototype), chat);
  const graph = new ctxweave.CommitGraph();
  const { commits } = graph;
  for (const run of [
    () => append(messages[0]),
    () => copy.append(messages[0]),
    () => copy.length,
    () => commits(),
    () => new Proxy(graph, {}).commits(),
  ]) {
    const error = await thrown(run);
    assert.match(error.message, /a copy, a proxy or an unbound method; call the method on the original object/);
  }
});

test("a list in place of messages is named", async () => {
  const error = await thrown(() => new ctxweave.Chat({ maxTokens: 100 }).append(messages));
  assert.match(error.message, /must be a message, not a list; pass the messages with `append\(\.\.\.list\)`/);
});

test("a misspelt field of a record is named", async () => {
  const record = { artifact_ref: ref, format: "generic-v1", created_at: 0 };
  for (const [right, wrong] of [
    ["artifact_ref", "artifactRef"],
    ["created_at", "createdAt"],
    ["format", "formats"],
  ]) {
    const { [right]: value, ...rest } = record;
    const { message } = await thrown(() => new ctxweave.CommitGraph().checkpoint({ ...rest, [wrong]: value }));
    assert.equal(message, `the record lacks \`${right}\`; is \`${wrong}\` a misspelling of it?`);
  }
});

test("the messages about a wrong `maxTokens` agree", async () => {
  for (const value of [0, -1, 1.5, 1e300, -1e300]) {
    for (const run of [
      () => ctxweave.fitMessages(messages, { maxTokens: value }),
      () => new ctxweave.Chat({ maxTokens: value }),
      () => ctxweave.planFit(messages, { maxTokens: value }),
    ]) {
      const { code, message, details } = await thrown(run);
      assert.equal(code, "invalid_budget");
      assert.equal(message, `\`maxTokens\` is ${value}; it must be a whole number of 1 or more`);
      assert.deepEqual(details, { setting: "maxTokens", value: String(value) });
    }
  }
});

/** Values that JSON drops or changes, with the part of the message that names them. */
function lossy() {
  const cycle = {};
  cycle.again = { cycle };
  return {
    "a bigint": 5n,
    "a cycle": cycle,
    NaN: Number.NaN,
    Infinity: Infinity,
    "a Map": new Map([[1, 2]]),
    "a Set": new Set([1]),
    "a function": () => 1,
    "a symbol": Symbol("x"),
    "an invalid Date": new Date(Number.NaN),
    "a RegExp": /x/,
    "an Error": new Error("x"),
    "a Promise": Promise.resolve(1),
    "a WeakMap": new WeakMap(),
    bytes: new Uint8Array(3),
  };
}

test("what JSON loses is reported with its path", async () => {
  const target = { provider: "openai", model: "gpt-4o" };
  for (const [what, value] of Object.entries(lossy())) {
    const within = (name) => (what === "a cycle" ? `${name}.again.cycle` : name);
    for (const [path, run] of [
      ["message.deep.value", () => new ctxweave.Checkpointer({ format: "generic-v1" }).push({ deep: { value } })],
      [
        "summary.deep.value",
        () => new ctxweave.Checkpointer({ format: "generic-v1" }).compact({ deep: { value } }, {}),
      ],
      ["tokenizerJson.model.value", () => ctxweave.vocabularyOf({ model: { value } })],
      [
        "body.messages[1].extra",
        () => {
          const chat = new ctxweave.Chat({ maxTokens: 1000, target });
          chat.append(...messages, { role: "assistant", content: "y", extra: value });
          chat.requestBody();
        },
      ],
    ]) {
      const error = await thrown(run);
      assert.equal(error.code, "invalid_input");
      assert.equal(error.details.path, within(path), `${path} ${what}`);
      assert.ok(error.message.endsWith(`not ${what}`), error.message);
    }
  }
});

test("a value that stands twice, or is a date, is no loss", () => {
  const twice = { a: 1 };
  const chat = new ctxweave.Chat({ maxTokens: 1000, target: { provider: "openai", model: "gpt-4o" } });
  chat.append(...messages, { role: "assistant", content: "y", extra: [twice, { twice }, twice, new Date(0)] });
  const { messages: sent } = JSON.parse(new TextDecoder().decode(chat.requestBody()));
  assert.deepEqual(sent[1].extra, [twice, { twice }, twice, "1970-01-01T00:00:00.000Z"]);
});

test("tokens and snapshots that are none are reported", async () => {
  for (const name of ["decodeTokens", "decodeTokenBytes"]) {
    for (const ids of [
      [1.5],
      [-1],
      [Number.NaN],
      [5n],
      ["1"],
      [undefined],
      [2 ** 32],
      new Map(),
      new Float32Array(1),
    ]) {
      const { code, details } = await thrown(() => ctxweave[name](ids, { tokenizer: "o200k_base" }));
      assert.equal(code, "invalid_input");
      assert.match(details.path, /^ids/);
    }
  }
  for (const result of [undefined, null, Number.NaN, 5]) {
    const { code, details } = await thrown(() => new ctxweave.CommitGraph().snapshot(result));
    assert.deepEqual([code, details.path], ["invalid_input", "result"]);
  }
});

test("an empty id continues no stored conversation", () => {
  const input = [
    { type: "function_call_output", call_id: "a", output: "z" },
    { role: "user", content: "hi" },
  ];
  const kept = (fields) => ctxweave.fitMessages({ input, ...fields }, { maxTokens: 1000 }).messages.input.length;
  for (const name of ["previous_response_id", "previous_interaction_id", "conversation"]) {
    assert.equal(kept({ [name]: "r" }), 2);
    assert.equal(kept({ [name]: "" }), 1);
    assert.equal(kept({ [name]: null }), 1);
  }
});

/** Requests with a getter: `answer` returns its first argument for a number of reads, and the second one later. */
const GETTERS = {
  tree: (answer) => ({
    get tree() {
      return answer({ nodes: [node], edges: [] }, undefined);
    },
  }),
  nodes: (answer) => ({
    tree: {
      edges: [],
      get nodes() {
        return answer([node], []);
      },
    },
  }),
  content: (answer) => ({
    tree: {
      edges: [],
      nodes: [
        {
          ...node,
          get content() {
            return answer("x", { type: "mixed" });
          },
        },
      ],
    },
  }),
};

test("a getter that changes its answer is reported", () => {
  const rest = { tip: "a", contextWindow: 4096 };
  const plain = ctxweave.assembleDialogue({ ...rest, tree: { nodes: [node], edges: [] } });
  for (const [name, make] of Object.entries(GETTERS)) {
    let failed = 0;
    let assembled = 0;
    for (let right = 1; right <= 6; right += 1) {
      let reads = 0;
      const answer = (first, later) => ((reads += 1) > right ? later : first);
      const request = Object.defineProperties({ ...rest }, Object.getOwnPropertyDescriptors(make(answer)));
      let result;
      try {
        result = ctxweave.assembleDialogue(request);
      } catch (error) {
        assert.ok(error instanceof ctxweave.CtxweaveError, error.stack);
        assert.equal(error.code, "invalid_input", error.message);
        failed += 1;
        continue;
      }
      assert.deepEqual(result, plain, `\`${name}\`, right ${right} times`);
      assembled += 1;
    }
    assert.ok(failed >= 1 && assembled >= 1, `\`${name}\`: ${failed} failed, ${assembled} assembled`);
  }
});

test("a text that is none, and instructions that cannot be read, are reported", async () => {
  for (const text of [5, null, undefined, {}, [], Symbol("x"), 5n, () => 1]) {
    const { details } = await thrown(() => ctxweave.truncateText(text, 5));
    assert.equal(details.path, "text");
  }
  const boom = new Error("boom");
  const throwing = () => {
    throw boom;
  };
  const step = aiSdk.fitPrepareStep({ maxTokens: 1000 });
  for (const instructions of [
    new Proxy([], { get: throwing }),
    [Object.defineProperty({}, "content", { get: throwing })],
  ]) {
    const error = await thrown(() => step({ messages, instructions }));
    assert.equal(error.cause, boom);
    assert.equal(error.details.path, "step.instructions");
  }
});
