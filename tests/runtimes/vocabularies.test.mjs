/** Older encodings, and vocabularies converted from a `tokenizer.json`, through the packed and installed packages. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { installed } from "../packaging/packed.mjs";
import { file } from "./tokenizer-json.mjs";

const require = createRequire(join(installed(), "package.json"));
const [ctxweave, tokens, tiktoken] = ["ctxweave", "ctxweave/tokens", "ctxweave-tiktoken"].map(require);

before(() => Promise.all([ctxweave, tokens, tiktoken].map(({ init }) => init())));

test("older encodings are loaded like the others, and count like tiktoken", async () => {
  const text = "Tokens: naïve 👩‍🚀    and 漢字, it's 12345 <|endoftext|>\r\n\r\n  last line";
  for (const tokenizer of ["o200k_harmony", "p50k_base", "p50k_edit", "r50k_base", "gpt2"]) {
    assert.throws(() => ctxweave.countTokens(text, { tokenizer }), { code: "vocabulary_not_loaded" });
    const vocabulary = require(`${tokenizer === "o200k_harmony" ? "ctxweave/vocab" : "ctxweave-vocab"}/${tokenizer}`);
    assert.equal(vocabulary.name, tokenizer);
    await vocabulary.load();
    for (const flavor of [ctxweave, tokens]) {
      const expected = tiktoken.encodeTokens(text, { tokenizer, allowedSpecial: "all" });
      assert.deepEqual(flavor.encodeTokens(text, { tokenizer, allowedSpecial: "all" }), expected, tokenizer);
      assert.equal(flavor.decodeTokens(expected, { tokenizer }), text);
      assert.equal(flavor.countTokens(text, { tokenizer }), tiktoken.countTokens(text, { tokenizer }));
    }
  }
  const tokenizer = "o200k_harmony";
  assert.deepEqual([...tokens.encodeTokens("<|start|>", { tokenizer, allowedSpecial: ["<|start|>"] })], [200006]);
});

test("every area that counts accepts every vocabulary, and the one that does not is skipped", async () => {
  const counting = ["chat", "commits", "folders", "loom", "operators", "workspace"].map((area) => `ctxweave/${area}`);
  const areas = counting.map((name) => require(name));
  const loomImport = require("ctxweave/import");
  await Promise.all([...areas, loomImport].map(({ init }) => init()));
  await require("ctxweave-vocab/p50k_base").load();
  for (const [at, area] of areas.entries()) {
    assert.equal(area.countTokens("a  b", { tokenizer: "p50k_base" }), 3, counting[at]);
  }
  assert.equal(loomImport.countTokens, undefined);
});

test("a tokenizer.json becomes a vocabulary under a custom name", () => {
  const text = JSON.stringify(file);
  const asset = ctxweave.vocabularyOf(text);
  assert.ok(asset instanceof Uint8Array);
  assert.deepEqual(ctxweave.vocabularyOf(file), asset);
  assert.deepEqual(ctxweave.vocabularyOf(new TextEncoder().encode(text)), asset);
  for (const flavor of [ctxweave, tokens, tiktoken]) {
    flavor.loadVocabulary("mine", asset);
    flavor.loadVocabulary("mine", asset);
    const options = { tokenizer: "mine" };
    assert.deepEqual([...flavor.encodeTokens("the the abc", options)], [257, 258, 32, 261]);
    assert.equal(flavor.countTokens("the the abc", options), 4);
    // Normalized before it is cut.
    assert.deepEqual([...flavor.encodeTokens("e\u0301", options)], [259]);
    assert.equal(flavor.decodeTokens([259, 300], options), "é<think>");
    const spans = flavor.tokenSpans("ae\u0301<think>", { ...options, allowedSpecial: ["<think>"] });
    assert.deepEqual([[...spans.ids], [...spans.ends], [...spans.splits]], [[97, 259, 300], [1, 3, 10], []]);
    assert.throws(
      () => flavor.countTokens("a", { tokenizer: "mien" }),
      (error) => {
        assert.equal(error.code, "unknown_value");
        assert.ok(error.details.expected.includes("mine") && /`mine`/.test(error.message), error.message);
        return true;
      },
    );
    // An added token that is not special is found in every text.
    assert.deepEqual([...flavor.encodeTokens("the<think>abc<thin", options)], [257, 300, 261, 60, 256, 105, 110]);
    assert.equal(flavor.countTokens("the<think>abc", options), 3);
    const counter = new flavor.TokenCounter(options);
    for (const delta of ["th", "e th", "e e", "\u0301", " <th", "ink", "> x"]) counter.append(delta);
    assert.equal(counter.count, flavor.countTokens("the the e\u0301 <think> x", options));
    counter.free();
    const other = ctxweave.vocabularyOf({ ...file, normalizer: null });
    assert.throws(() => flavor.loadVocabulary("mine", other), { code: "invalid_vocabulary" });
    assert.throws(() => flavor.loadVocabulary("o200k_base", asset), { code: "invalid_vocabulary" });
    assert.throws(() => flavor.loadVocabulary("mine too", asset.slice(1)), { code: "invalid_vocabulary" });
  }
});

test("an unsupported tokenizer is rejected with its path", () => {
  const of = (model, rest) => ({ ...file, ...rest, model: { ...file.model, ...model } });
  for (const [given, path, words] of [
    [of({ type: "Unigram" }), "model.type", /`Unigram`.*`heuristic`/],
    [of({ byte_fallback: true }), "model.byte_fallback", /SentencePiece/],
    [of({}, { normalizer: { type: "Lowercase" } }), "normalizer", /`Lowercase`/],
    [1, "tokenizerJson", /parsed object/],
  ]) {
    assert.throws(
      () => ctxweave.vocabularyOf(given),
      (error) => {
        assert.equal(error.code, "invalid_input");
        assert.equal(error.details.path, path);
        assert.match(error.message, words);
        return true;
      },
    );
  }
  assert.throws(() => ctxweave.vocabularyOf("{"), { code: "invalid_input" });
});
