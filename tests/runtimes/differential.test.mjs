/**
 * Exact counts in WebAssembly compared with those of tiktoken-rs in WebAssembly, on random texts: 500, or 10,000 with
 * `CTXWEAVE_CASES=1x`. Runs as long as requested:
 *
 *   CTXWEAVE_FUZZ_SECONDS=600 node --test tests/runtimes/differential.test.mjs
 *
 * `CTXWEAVE_FUZZ_SEED` sets the seed. Tokens are compared, too; pieces are compared natively (tests/it/bpe.rs).
 */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { installed } from "../packaging/packed.mjs";

const require = createRequire(join(installed(), "package.json"));
const ctxweave = require("ctxweave");
const tiktoken = require("ctxweave-tiktoken");
const encodings = ["o200k_base", "cl100k_base", "o200k_harmony", "p50k_base", "p50k_edit", "r50k_base", "gpt2"];

/** Number of texts if no time is given. */
const BOUNDED = process.env.CTXWEAVE_CASES === "1x" ? 10_000 : 500;
const BATCH = Math.min(BOUNDED, 1_000);

let state = Number(process.env.CTXWEAVE_FUZZ_SEED ?? 1);

function below(bound) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * bound);
}

const pick = (list) => list[below(list.length)];
const many = (most, make) => Array.from({ length: 1 + below(most) }, make);
const character = (from, count) => String.fromCodePoint(from + below(count));

const words =
  "the of and to that was for DON'T I'm they'LL we've it's XMLHttpRequest snake_case über naïve été Straße здравствуй мир שלום مرحبا नमस्ते สวัสดี".split(
    " ",
  );
/** Characters with special treatment in the pattern or in Unicode. */
const oddities = [
  ...[" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\u0085", "\u2028", "\u3000", "\u180e", "\ufeff", "\0"],
  ...["!", "...", "--", "/", "//", "#", "$", "€", "'s", "'RE", "'\u017f", "1", "12", "1234567", "<|endoftext|>"],
  ...["a", "B", "Zz", "é", "e\u0301", "ß", "ǅ", "ʰ", "漢", "かな", "한국", "\u0378", "\u{10ffff}"],
  ...["👍", "👨‍👩‍👧‍👦", "🇳🇱", '{"k":', "}"],
];

const kinds = [
  () => many(40, () => pick(words)).join(" "),
  () => many(40, () => pick(oddities)).join(""),
  () => many(30, () => pick(below(2) ? words : oddities)).join(""),
  () => pick(oddities).repeat(1 + below(300)),
  () => many(60, () => character(0x20, 0x5f)).join(""),
  () => many(200, () => character(0x61, 26)).join(""),
  () => many(120, () => character(0x4e00, 0x5000)).join(""),
  // Any character except surrogates.
  () => many(60, () => (below(2) ? character(0, 0xd800) : character(0xe000, 0x12000))).join(""),
  () =>
    JSON.stringify(
      many(8, () => ({ [pick(words)]: pick(oddities), n: below(1e6) })),
      null,
      below(3),
    ),
  () => Buffer.from(many(90, () => below(256))).toString("base64"),
];

test("random texts have the counts of tiktoken in WebAssembly", async (t) => {
  await Promise.all([ctxweave.init(), tiktoken.init()]);
  for (const encoding of encodings) {
    const isOlder = /^(p50k|r50k|gpt2)/.test(encoding);
    await require(isOlder ? `ctxweave-vocab/${encoding}` : `ctxweave/vocab/${encoding}`).load();
  }
  const seconds = Number(process.env.CTXWEAVE_FUZZ_SECONDS ?? 0);
  const end = performance.now() + seconds * 1000;
  let compared = 0;
  while (compared < BOUNDED || performance.now() < end) {
    const texts = Array.from({ length: BATCH }, () => pick(kinds)());
    for (const tokenizer of encodings) {
      const counts = ctxweave.countTokensBatch(texts, { tokenizer });
      const expected = tiktoken.countTokensBatch(texts, { tokenizer });
      const wrong = texts.findIndex((_, at) => counts[at] !== expected[at]);
      const [text, ours, theirs] = [JSON.stringify(texts[wrong]), counts[wrong], expected[wrong]];
      assert.equal(wrong, -1, `${tokenizer} of ${text}: ${ours}, and ${theirs} by tiktoken`);
      // The tokens of some of them, and of all of them together.
      const allowedSpecial = below(2) ? "all" : undefined;
      for (const text of [...texts.slice(0, 100), texts.join("\n")]) {
        const ids = ctxweave.encodeTokens(text, { tokenizer, allowedSpecial });
        assert.deepEqual(ids, tiktoken.encodeTokens(text, { tokenizer, allowedSpecial }), JSON.stringify(text));
        assert.ok(ctxweave.decodeTokens(ids, { tokenizer }) === text, JSON.stringify(text));
      }
    }
    compared += BATCH;
  }
  t.diagnostic(`${compared} texts under ${encodings.length} encodings`);
});
