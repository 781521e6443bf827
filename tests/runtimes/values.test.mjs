/** Errors and small results: plain values, without artifacts of a serializer's defaults. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder } from "../packaging/packed.mjs";

const dir = folder("values");
let ctxweave;
before(async () => {
  ctxweave = await import(pathToFileURL(createRequire(join(dir, "x.js")).resolve("ctxweave")).href);
  await ctxweave.init();
});

const isPlain = (value) => Object.getPrototypeOf(value) === Object.prototype;

test("the details of an error contain the input: null, large numbers, `__proto__`", () => {
  const text =
    '{"type":"broken","nothing":null,"large":18446744073709551615,"fraction":1.5,' +
    '"list":[null,true,{"__proto__":1}],"empty":{},"__proto__":{"polluted":true}}';
  const response = JSON.parse(`{"error":${text}}`);
  try {
    ctxweave.continuation(response, { provider: "openai", parent: null, ids: "n" });
    assert.fail("nothing was thrown");
  } catch (thrown) {
    assert.equal(thrown.code, "provider_error");
    const { error } = thrown.details;
    assert.ok(isPlain(thrown.details) && isPlain(error));
    assert.equal(JSON.stringify(error), JSON.stringify(JSON.parse(text)));
    assert.equal(typeof error.large, "number");
    assert.equal(error.nothing, null);
    assert.equal(error.polluted, undefined);
    assert.deepEqual(Object.keys(error.list[2]), ["__proto__"]);
  }
});

test("absent fields are absent, and nothing is undefined or null unless the types allow it", () => {
  const info = ctxweave.modelInfo("gpt-4o");
  assert.ok(isPlain(info));
  assert.equal("inputLimit" in info, false);
  const { price, ...rest } = info;
  for (const value of [...Object.values(rest), ...Object.values(price)])
    assert.ok(["string", "number", "boolean"].includes(typeof value));
  assert.equal("cacheWrite" in price, false);
  assert.equal(ctxweave.modelInfo("no such model"), undefined);
});

test("numbers are numbers", () => {
  const tree = new ctxweave.LoomTree({ nodes: [{ id: "a", content: "hello", authorType: "human" }], edges: [] });
  assert.equal(tree.revision, 0);
  tree.append("a", " there");
  assert.equal(tree.revision, 1);
  assert.ok(isPlain(tree.size));
  assert.deepEqual(Object.keys(tree.size), ["nodes", "edges", "textBytes", "texts", "counts"]);
  assert.ok(Object.values(tree.size).every((value) => typeof value === "number"));
  assert.equal(typeof ctxweave.countChatTokens([{ role: "user", content: "hello" }]), "number");
  tree.free();
});
