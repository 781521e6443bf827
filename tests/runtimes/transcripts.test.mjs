/**
 * Transcripts compared with other implementations: CBOR with cborg, JSONL with `JSON.parse`. The inputs are random,
 * from a seed that a failure names.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { decode, encode } from "cborg";
import { installed } from "../packaging/packed.mjs";

let ctxweave;

before(async () => {
  ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/node.js")));
  await ctxweave.init();
});

/** mulberry32: enough for tests, and the same everywhere. */
function random(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count) => Math.floor(next() * count);
  return { next, below, pick: (list) => list[below(list.length)] };
}

const words = ["", "a", "hé", "💶", '{"x":1}', "line\nline", "\u2028", "}{", "\\", '"', "x".repeat(300)];

function bureauMessage(rng) {
  const block = (Type, key, value) => ({
    Type,
    Text: null,
    ToolUse: null,
    ToolResult: null,
    ServerToolUse: null,
    ServerToolResult: null,
    Thinking: null,
    [key]: value,
  });
  const input = () => new TextEncoder().encode(JSON.stringify({ [rng.pick(["a", "b"])]: rng.pick(words) }));
  const blocks = [
    () => block("text", "Text", rng.pick(words)),
    () => block("tool_use", "ToolUse", { ID: `t${rng.below(9)}`, Name: rng.pick(words), Input: input() }),
    () => block("tool_result", "ToolResult", { ToolUseID: "t", Content: rng.pick(words), IsError: rng.below(2) === 0 }),
    () => block("thinking", "Thinking", { Content: rng.pick(words), Signature: rng.pick(words) }),
    () => ({ Type: "from_the_future", Deep: [[1.5, -3, new Uint8Array([1, 2]), { n: null }]] }),
  ];
  return {
    Role: rng.pick(["user", "assistant"]),
    Content: Array.from({ length: rng.below(4) }, () => rng.pick(blocks)()),
  };
}

test("joined CBOR equals cborg's encoding of all items", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const rng = random(seed);
    const deltas = Array.from({ length: rng.below(5) }, () => {
      return Array.from({ length: rng.pick([0, 1, 2, 23, 24, 30]) }, () => bureauMessage(rng));
    });
    const { bytes, tier } = ctxweave.translateTranscript({
      parts: deltas.map((delta) => ({ format: "bureau-agent-v1", bytes: encode(delta) })),
      format: "bureau-agent-v1",
    });
    assert.equal(tier, "native");
    assert.deepEqual(Buffer.from(bytes), Buffer.from(encode(deltas.flat())), `seed ${seed}`);
  }
});

test("written CBOR equals cborg's, including key order", () => {
  const bytes = new TextEncoder().encode(
    [
      { role: "user", content: "hello 💶" },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm" },
          { type: "toolCall", id: "t1", name: "read", arguments: { path: "a", n: 1.5 } },
        ],
      },
      { role: "user", content: [{ type: "toolResult", toolCallId: "t1", content: "no", isError: true }] },
    ]
      .map((line) => JSON.stringify(line))
      .join("\n"),
  );
  const done = ctxweave.translateTranscript({
    parts: [{ format: "generic-v1", bytes }],
    format: "bureau-agent-v1",
    crossFamily: "transcode",
  });
  const items = decode(done.bytes);
  assert.deepEqual(Buffer.from(encode(items)), Buffer.from(done.bytes));
  assert.equal(items[1].Content[1].ToolUse.Name, "read");
  assert.deepEqual(JSON.parse(Buffer.from(items[1].Content[1].ToolUse.Input).toString()), { path: "a", n: 1.5 });
  assert.equal(items[2].Content[0].ToolResult.IsError, true);
  assert.equal(items[0].Content[0].ToolUse, null);
});

/** Random JSON text, with the numbers, escapes and white space of other writers. */
function jsonText(rng, depth) {
  const string = () =>
    `"${rng.pick(["", "a", "é💶", "\\u00e9", "\\ud83d\\ude00", "\\ud800", "\\udc00x", '\\n\\t\\\\\\"\\/', "\u2028\u0085", "}{", "[,]"])}"`;
  const number = () =>
    rng.pick([
      () => String(rng.below(1000) - 500),
      () => String(rng.next() * 10 ** (rng.below(40) - 20)),
      () =>
        rng.pick([
          "-0",
          "0.1e1",
          "1E+2",
          "1e-7",
          "12345678901234567890",
          "0.30000000000000004",
          "5e-324",
          "1e308",
          "-1.5",
        ]),
    ])();
  const space = () => rng.pick(["", "", "", " ", "\t", " \r"]);
  const many = (item) => Array.from({ length: rng.below(4) }, item).join(`${space()},${space()}`);
  const kinds = [string, number, () => rng.pick(["true", "false", "null"])];
  if (depth > 0) {
    kinds.push(
      () => `[${space()}${many(() => jsonText(rng, depth - 1))}${space()}]`,
      () => `{${many(() => `${string()}${space()}:${space()}${jsonText(rng, depth - 1)}`)}}`,
    );
  }
  return rng.pick(kinds)();
}

function wellFormed(value) {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

test("JSON.parse agrees with the readers, line by line", () => {
  let read = 0;
  let skipped = 0;
  for (let seed = 1; seed <= 2000; seed += 1) {
    const rng = random(seed);
    const lines = Array.from({ length: 1 + rng.below(6) }, () => {
      const line = `{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"n","arguments":{"v":${jsonText(rng, 3)}}}]}`;
      if (rng.below(6) > 0) return line;
      const at = rng.below(line.length);
      const other = rng.pick(["", "x", '"', "}", "{", ",", "\\", "\u0001", "\u2028", " "]);
      return line.slice(0, at) + other + line.slice(at + 1);
    });
    const expected = [];
    const damaged = [];
    let unsure = false;
    lines.forEach((line, at) => {
      let value;
      try {
        value = JSON.parse(line);
      } catch {
        damaged.push(at + 1);
        // A line that begins with a whole object and continues is read up to there, which `JSON.parse` cannot do.
        unsure ||= /\}\s*[^\s,\]}]/.test(line) || /\}\}\]\}.+$/s.test(line);
        return;
      }
      if (value?.role !== "assistant" || value.content?.[0]?.type !== "toolCall") unsure = true;
      const given = value?.content?.[0]?.arguments;
      if (typeof given !== "object" || given === null || Array.isArray(given)) unsure = true;
      expected.push(JSON.parse(JSON.stringify(wellFormed(given ?? null))));
    });
    if (unsure) {
      skipped += 1;
      continue;
    }
    const bytes = new TextEncoder().encode(lines.join("\n"));
    const { messages, diagnostics } = ctxweave.transcriptToMessages("generic-v1", bytes);
    const found = messages.flatMap(({ content }) => content).map((part) => part.arguments);
    assert.deepEqual(found, expected, `seed ${seed}: ${lines.join("\n")}`);
    const told = diagnostics.filter(({ code }) => code === "malformed_line" || code === "torn_line");
    assert.deepEqual(
      told.map(({ line }) => line),
      damaged,
      `seed ${seed}`,
    );
    read += expected.length;
  }
  assert.ok(read > 4000 && skipped < 500, `${read} lines were read, ${skipped} files skipped`);
});

test("an invalid request throws a CtxweaveError", () => {
  const { importTranscript, transcriptToMessages, transcriptToLoomTree, translateTranscript } = ctxweave;
  const bytes = new Uint8Array();
  for (const call of [
    () => importTranscript(),
    () => importTranscript("generic-v1", { text: "text" }),
    () => importTranscript("generic-v1", bytes, 5),
    () => transcriptToMessages(5, bytes),
    () => transcriptToLoomTree("generic-v1"),
    () => transcriptToLoomTree("generic-v2", bytes),
    () => translateTranscript(),
    () => translateTranscript({ parts: 5, format: "generic-v1" }),
    () => translateTranscript({ parts: [{ format: "generic-v1" }], format: "generic-v1" }),
  ]) {
    assert.throws(call, (error) => error.name === "CtxweaveError", String(call));
  }
});

test("a transcript becomes a tree that can be assembled", () => {
  const lines = ["one", "two", "three"].map((content, at) =>
    JSON.stringify({ role: at % 2 ? "assistant" : "user", content }),
  );
  const { tree, tip, media } = ctxweave.transcriptToLoomTree("generic-v1", new TextEncoder().encode(lines.join("\n")));
  const { messages } = ctxweave.assembleDialogue({ tree, tip, media, contextWindow: 4096 });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ["one", "two", "three"],
  );
});

test("a session file may be a string", () => {
  const file = '{"role":"user","content":"h\u00e9, \ud83d\udcb6"}\n{"role":"assistant","content":"ok"}\n';
  const bytes = new TextEncoder().encode(file);
  const options = { createdAt: "2026-03-02T10:00:00Z" };
  assert.equal(ctxweave.transcriptToMessages("generic-v1", file).messages.length, 2);
  for (const name of ["transcriptToMessages", "transcriptToLoomTree", "importTranscript"]) {
    const ofString = ctxweave[name]("generic-v1", file, options);
    assert.deepEqual(ofString, ctxweave[name]("generic-v1", bytes, options), name);
  }
  assert.throws(() => ctxweave.transcriptToMessages("generic-v1", {}), /`bytes` must be bytes or a string/);
});
