/** Judges the output of the scenario in a runtime. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packaging/packed.mjs";

/** Every result of the scenario must equal the goldens, byte for byte. */
export function judge({ early, version, counts, outputs }, { goldens }) {
  assert.equal(early, "not_initialized", "a call before init throws");
  assert.equal(version, JSON.parse(readFileSync(join(root, "pkg/package.json"), "utf8")).version);
  if (goldens.every(({ call }) => ["exportLoom", "importLoom"].includes(call))) {
    assert.equal(counts, undefined, "the area that only reads files counts no tokens");
  } else {
    assert.deepEqual(counts.batch, counts.single);
    assert.deepEqual(counts.upTo, counts.single);
    assert.equal(counts.single[0], 0);
    assert.ok(
      counts.over.every((count) => count === null),
      "a limit one token below is exceeded",
    );
  }
  assert.equal(outputs.length, goldens.length);
  assert.ok(goldens.length > 0, "there are goldens");
  for (const [at, { name, expected }] of goldens.entries()) {
    assert.equal(outputs[at].name, name);
    assert.equal(outputs[at].output, expected, `golden ${name}`);
  }
}

/** Exact counts must equal tiktoken's, and with the assets every mistake has its code. */
export function judgeExact(
  { codes, counted, wrong, spaces, assembled, own },
  texts,
  { assets = true, assembly = true } = {},
) {
  if (assets) {
    assert.deepEqual(codes, {
      notLoaded: "vocabulary_not_loaded",
      damaged: "invalid_vocabulary",
      torn: "invalid_vocabulary",
      empty: "invalid_vocabulary",
      other: "invalid_vocabulary",
      noBytes: "invalid_input",
      still: "vocabulary_not_loaded",
      progress: true,
    });
  }
  assert.deepEqual(wrong, []);
  assert.equal(counted, texts.length);
  const special = texts.find(([text]) => text === "<|endoftext|>");
  assert.deepEqual(special[1], { o200k_base: 7, cl100k_base: 7 });
  assert.ok(texts.length >= 40 && texts.some(([text]) => text === "\ufeff"), "the batch equals the single counts");
  // The longest token of spaces has 128 of them.
  assert.equal(spaces, 1_000_000 / 128 + 0.5);
  if (!assembly) {
    assert.deepEqual([assembled, own], [undefined, undefined], "nothing but counting");
    return;
  }
  for (const [at, { tokens, messages, limit, recount }] of assembled.entries()) {
    assert.equal(tokens.tokenizer, ["o200k_base", "cl100k_base"][at]);
    assert.equal(tokens.total, recount + tokens.overhead, "the total is the recount");
    assert.ok(messages > 3 && tokens.total <= limit, `${messages} messages, ${tokens.total} of ${limit} tokens`);
  }
  assert.deepEqual([own.tokens.tokenizer, own.tokens.messages], ["characters", "twelve chars".length]);
  assert.deepEqual([own.code, own.nonsense], ["tokenizer_failed", "tokenizer_failed"]);
  assert.match(own.message, /out of order/);
}
