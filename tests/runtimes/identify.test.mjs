/** Identification of files and values: bytes, texts, values that JSON cannot carry, and hostile input. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { HumanMessage } from "@langchain/core/messages";
import { folder, root } from "../packaging/packed.mjs";

const dir = folder("identify");
const load = (name) => import(pathToFileURL(createRequire(join(dir, "x.js")).resolve(name)).href);

let identify;
before(async () => {
  const ctxweave = await load("ctxweave");
  await ctxweave.init();
  ({ identify } = ctxweave);
});

const utf8 = (text) => new TextEncoder().encode(text);
const kindOf = (input, options) => identify(input, options).kind;

test("bytes, text and value of a file are identified alike", () => {
  const body = { system: "Be brief.", messages: [{ role: "user", content: "Hi." }] };
  const text = JSON.stringify(body);
  for (const input of [body, text, utf8(text), Buffer.from(text), utf8(text).buffer]) {
    const { kind, format, body: provider, count } = identify(input);
    assert.deepEqual([kind, format, provider, count], ["chat", "anthropic", "anthropic", 1]);
  }
});

test("session files are sessions", () => {
  const names = readdirSync(join(root, "examples/sessions")).filter((name) => !name.endsWith(".md"));
  assert.ok(names.length > 5);
  for (const name of names) {
    const found = identify(readFileSync(join(root, "examples/sessions", name)));
    assert.equal(found.kind, "session", name);
    assert.ok(found.evidence.length > 0);
  }
});

test("messages are identified in the libraries' types", () => {
  const { kind, format } = identify([new HumanMessage("Hi.")]);
  assert.deepEqual([kind, format], ["chat", "langchain"]);
  const image = { type: "image", image: new Uint8Array(9) };
  assert.equal(identify([{ role: "user", content: [image] }]).format, "ai-sdk");
});

test("both entry points give the same result", async () => {
  const commits = await load("ctxweave/commits");
  await commits.init();
  const names = readdirSync(join(root, "tests/golden/import")).filter((name) => !name.includes(".expected."));
  const files = names.map(
    (name) => JSON.parse(readFileSync(join(root, "tests/golden/import", name), "utf8")).args?.[0],
  );
  assert.ok(files.length > 20);
  for (const input of [{ nodes: [], edges: [] }, [{ role: "user", content: "Hi." }], "<task/>", ...files]) {
    assert.deepEqual(commits.identify(input), identify(input));
  }
});

test("hostile input gets a result", () => {
  const cycle = {};
  cycle.self = cycle;
  for (const input of [
    undefined,
    null,
    0,
    NaN,
    true,
    "",
    " ",
    "\0\0",
    [],
    {},
    cycle,
    new Map(),
    new Uint8Array(),
    () => 1,
  ])
    assert.equal(kindOf(input), "unknown", String(input));
  let deep = {};
  for (let at = 0; at < 1000; at += 1) deep = { deep };
  assert.equal(kindOf(deep), "unknown");
  assert.equal(kindOf("[".repeat(100_000)), "unknown");
  assert.equal(kindOf(utf8("{".repeat(100_000))), "unknown");
});

test("unreadable input throws an error that names it", () => {
  const bytes = utf8("{}");
  structuredClone(bytes, { transfer: [bytes.buffer] });
  assert.throws(() => identify(bytes), { code: "invalid_input", details: { path: "input" } });
  const throws = {
    get messages() {
      throw new Error("no");
    },
  };
  assert.throws(() => identify(throws), { code: "invalid_input" });
  assert.throws(() => identify("text", { name: "a" }), { code: "invalid_input" });
  assert.throws(() => identify("text", { path: 5 }), { code: "invalid_input" });
});
