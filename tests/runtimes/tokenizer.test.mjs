/** Encoding, decoding, cutting, splitting and streaming of texts, through the packed and installed packages. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { installed } from "../packaging/packed.mjs";

const require = createRequire(join(installed(), "package.json"));
const tokens = require("ctxweave/tokens");
const flavors = { "ctxweave/tokens": tokens, ctxweave: require("ctxweave"), tiktoken: require("ctxweave-tiktoken") };
const encodings = ["o200k_base", "cl100k_base"];

before(async () => {
  await Promise.all(Object.values(flavors).map(({ init }) => init()));
  for (const encoding of encodings) await require(`ctxweave/vocab/${encoding}`).load();
});

/** The code and the path of the error of a call. */
function thrown(flavor, run) {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof flavor.CtxweaveError, String(error));
    return [error.code, error.details.path];
  }
  return undefined;
}

const text = "Tokens: naïve 👩‍🚀 and 漢字, <|endoftext|>\r\nlast line 🇳🇱";

for (const [name, flavor] of Object.entries(flavors)) {
  test(`${name}: tokens decode to their text, and spans cover it`, () => {
    for (const tokenizer of encodings) {
      const ids = flavor.encodeTokens(text, { tokenizer });
      assert.ok(ids instanceof Uint32Array);
      assert.equal(ids.length, flavor.countTokens(text, { tokenizer }));
      assert.equal(flavor.decodeTokens(ids, { tokenizer }), text);
      assert.equal(flavor.decodeTokens([...ids], { tokenizer }), text);
      assert.equal(Buffer.from(flavor.decodeTokenBytes(ids.subarray(1, 3), { tokenizer })).length > 0, true);
      const spans = flavor.tokenSpans(text, { tokenizer });
      assert.deepEqual(spans.ids, ids);
      assert.equal(spans.ends.at(-1), text.length);
      assert.ok(spans.splits.length > 0 && spans.splits.every((at) => at < ids.length));
      const parts = Array.from(spans.ends, (end, at) => text.slice(at === 0 ? 0 : spans.ends[at - 1], end));
      assert.equal(parts.join(""), text);
      for (const [at, part] of parts.entries()) {
        if (spans.splits.includes(at) || spans.splits.includes(at - 1)) continue;
        assert.equal(flavor.decodeTokens([ids[at]], { tokenizer }), part);
      }
    }
  });

  test(`${name}: special tokens are text unless they are listed`, () => {
    const tokenizer = "o200k_base";
    const encode = (allowedSpecial) => [...flavor.encodeTokens("a<|endoftext|>", { tokenizer, allowedSpecial })];
    assert.equal(encode().length, 8);
    assert.deepEqual(encode("all"), [64, 199999]);
    assert.deepEqual(encode(["<|endoftext|>"]), [64, 199999]);
    assert.equal(encode(["<|endofprompt|>"]).length, 8);
    assert.equal(flavor.decodeTokens([199999], { tokenizer }), "<|endoftext|>");
    const refused = { code: "unknown_value", details: { path: "options.allowedSpecial[0]" } };
    assert.throws(
      () => encode(["<|fim_prefix|>"]),
      (error) => {
        assert.equal(error.code, refused.code);
        assert.equal(error.details.path, refused.details.path);
        assert.deepEqual(error.details.expected, ["<|endoftext|>", "<|endofprompt|>"]);
        return true;
      },
    );
  });

  test(`${name}: tokenizers without tokens, and invalid tokens, are rejected with their path`, () => {
    const tokenizer = "o200k_base";
    const own = { name: "own", count: (text) => text.length };
    assert.deepEqual(
      thrown(flavor, () => flavor.encodeTokens("a")),
      ["unknown_value", "options.tokenizer"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.encodeTokens("a", { tokenizer: "heuristic" })),
      ["unknown_value", "options.tokenizer"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.encodeTokens("a", { tokenizer: own })),
      ["unknown_value", "options.tokenizer"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.encodeTokens("a", { tokeniser: tokenizer })),
      ["invalid_input", "options.tokeniser"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.encodeTokens(1, { tokenizer })),
      ["invalid_input", "text"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.decodeTokens([1, -1], { tokenizer })),
      ["invalid_input", "ids[1]"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.decodeTokens([1, 1.5], { tokenizer })),
      ["invalid_input", "ids[1]"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.decodeTokens("ids", { tokenizer })),
      ["invalid_input", "ids"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.decodeTokens([1, 4e9], { tokenizer })),
      ["invalid_input", "ids[1]"],
    );
    assert.deepEqual(
      thrown(flavor, () => new flavor.TokenCounter({ tokeniser: "a" })),
      ["invalid_input", "options.tokeniser"],
    );
  });

  test(`${name}: invalid UTF-8 becomes U+FFFD, and a BOM is kept`, () => {
    const tokenizer = "cl100k_base";
    const ids = flavor.encodeTokens("👩‍🚀", { tokenizer });
    assert.match(flavor.decodeTokens(ids.subarray(0, 1), { tokenizer }), /^\ufffd+$/);
    const marked = "\ufefftext";
    assert.equal(flavor.decodeTokens(flavor.encodeTokens(marked, { tokenizer }), { tokenizer }), marked);
    assert.equal(flavor.decodeTokens(flavor.encodeTokens("", { tokenizer }), { tokenizer }), "");
  });

  test(`${name}: texts of any length and any characters survive a round trip, with Node's Buffer and without`, () => {
    const tokenizer = "o200k_base";
    const { Buffer } = globalThis;
    for (const unit of ["plain text, ", "naïve, ", "漢字かな、", "👩‍🚀", "a\u{2028}\ufeff"]) {
      for (const times of [1, 4, 50, 5000]) {
        const whole = unit.repeat(times);
        const ids = flavor.encodeTokens(whole, { tokenizer });
        assert.equal(flavor.decodeTokens(ids, { tokenizer }), whole);
        const torn = flavor.decodeTokens(flavor.encodeTokens(`${whole}龘`, { tokenizer }).slice(0, -1), {
          tokenizer,
        });
        assert.ok(torn === whole || torn.endsWith("\ufffd"), torn.slice(-20));
        try {
          delete globalThis.Buffer;
          assert.equal(flavor.decodeTokens(ids, { tokenizer }), whole);
        } finally {
          globalThis.Buffer = Buffer;
        }
        const special = flavor.encodeTokens(`${whole}<|endoftext|>`, { tokenizer, allowedSpecial: "all" });
        assert.equal(flavor.decodeTokens(special, { tokenizer }), `${whole}<|endoftext|>`);
      }
    }
  });

  test(`${name}: a family without a public tokenizer is a multiple of the estimate, which can be calibrated`, () => {
    const prose = "The shuttle carries the weft through the shed. ".repeat(30);
    const estimate = flavor.countTokens(prose);
    assert.ok(flavor.countTokens(prose, { tokenizer: "claude" }) > estimate * 1.3);
    assert.ok(flavor.countTokens(prose, { tokenizer: "gemini" }) < estimate * 1.2);
    const found = flavor.calibrate([{ text: prose, tokens: estimate * 2 }]);
    assert.deepEqual([found.samples, found.error], [1, 5]);
    assert.match(found.tokenizer, /^calibrated:\d+,\d+,\d+,5$/);
    const counted = flavor.countTokens(prose, { tokenizer: found.tokenizer });
    assert.ok(Math.abs(counted - estimate * 2) <= estimate * 0.1, `${counted} of ${estimate * 2}`);
    assert.equal(flavor.modelInfo("claude-opus-4-8").tokenizer, "claude");
    assert.equal(flavor.modelInfo("claude-opus-4-6").tokenizer, "claude-3");
    assert.deepEqual(
      thrown(flavor, () => flavor.calibrate([{ text: "a", tokens: 0 }])),
      ["invalid_input", "samples[0].tokens"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.countTokens("a", { tokenizer: "calibrated:1,2" })),
      ["unknown_value", "options.tokenizer"],
    );
    if (flavor === tokens) return;
    const { report } = flavor.fitMessages([{ role: "user", content: prose }], {
      maxTokens: 5000,
      tokenizer: "claude",
    });
    assert.deepEqual([report.tokens.tokenizer, report.tokens.tokenizerError], ["claude", 35]);
    const plain = flavor.fitMessages([{ role: "user", content: prose }], { maxTokens: 5000 });
    assert.equal("tokenizerError" in plain.report.tokens, false);
  });

  test(`${name}: checks whether a text is within a limit`, () => {
    assert.equal(flavor.isWithinTokenLimit("a b", 2, { tokenizer: "o200k_base" }), 2);
    assert.equal(flavor.isWithinTokenLimit("a b c", 2, { tokenizer: "o200k_base" }), false);
  });

  test(`${name}: a stream counts the text so far at every delta`, () => {
    const own = { count: (text) => text.length };
    const all = `${text} ${text}\r\n\r\n${"word ".repeat(30)}\ud800 alone`;
    for (const tokenizer of [...encodings, "heuristic", own, undefined]) {
      const options = tokenizer === undefined ? undefined : { tokenizer };
      const counter = new flavor.TokenCounter(options);
      for (let end = 1; end <= all.length; end += 1) {
        const so_far = all.slice(0, end);
        assert.equal(
          counter.append(all[end - 1]),
          flavor.countTokens(so_far, options),
          JSON.stringify(so_far.slice(-9)),
        );
        assert.equal(counter.count, flavor.countTokens(so_far, options));
      }
      counter.reset();
      assert.equal(counter.count, 0);
      assert.equal(counter.append("again"), flavor.countTokens("again", options));
      counter.reset();
      let so_far = "";
      for (const character of text) {
        so_far += character;
        assert.equal(counter.append(character), flavor.countTokens(so_far, options), so_far.slice(-9));
      }
      counter.free();
      counter.free();
      assert.throws(() => counter.count, { code: "handle_freed" });
    }
  });
}

for (const [name, flavor] of Object.entries(flavors)) {
  test(`${name}: a text is cut and split by its counter`, () => {
    const long = "One sentence here. Another one! 漢字かな交じり文。\n\n".repeat(40);
    const own = { count: (text) => Math.ceil(text.length / 3) };
    for (const tokenizer of [...encodings, "heuristic", own]) {
      const count = (text) => flavor.countTokens(text, { tokenizer });
      for (const boundary of ["token", "grapheme", "word", "line", "sentence"]) {
        for (const side of ["end", "start", "middle"]) {
          const cut = flavor.truncateText(long, 100, { tokenizer, side, boundary, marker: "…" });
          assert.equal(count(cut.text), cut.tokens);
          assert.ok(cut.tokens <= 100 && cut.tokens > 60 && cut.truncated, JSON.stringify([boundary, side, cut]));
          const [head, tail] = cut.text.split("…");
          assert.ok(long.startsWith(head) && long.endsWith(tail));
          assert.deepEqual([cut.head, cut.tail], [head.length, tail.length]);
        }
        const pieces = flavor.splitText(long, { tokenizer, maxTokens: 64, overlap: 20, boundary });
        let end = 0;
        for (const piece of pieces) {
          assert.equal(piece.text, long.slice(piece.start, piece.end));
          assert.equal(count(piece.text), piece.tokens);
          assert.ok(piece.tokens <= 64 && piece.start <= end && piece.end > end);
          assert.ok(count(long.slice(piece.start, end)) <= 20);
          end = piece.end;
        }
        assert.equal(end, long.length);
      }
    }
    assert.deepEqual(flavor.truncateText("short", 10), {
      text: "short",
      tokens: 1,
      truncated: false,
      head: 5,
      tail: 0,
    });
    assert.deepEqual(flavor.truncateText("long enough to cut", 0, { marker: "…" }), {
      text: "",
      tokens: 0,
      truncated: true,
      head: 0,
      tail: 0,
    });
  });

  test(`${name}: an impossible cut is rejected with its path`, () => {
    assert.deepEqual(
      thrown(flavor, () => flavor.truncateText("a", -1)),
      ["invalid_input", "maxTokens"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.truncateText("a", 1, { sides: "end" })),
      ["invalid_input", "options.sides"],
    );
    assert.deepEqual(
      thrown(flavor, () => flavor.splitText("a", { maxTokens: 4, overlap: 3 })),
      ["invalid_input", "options.overlap"],
    );
  });
}

test("a custom counter that fails leaves the stream unchanged", () => {
  let fails = false;
  const count = (text) => {
    if (fails) throw new Error("no");
    return text.length;
  };
  const counter = new tokens.TokenCounter({ tokenizer: { count } });
  assert.equal(counter.append("abc"), 3);
  fails = true;
  assert.throws(() => counter.append("d"), { code: "tokenizer_failed" });
  fails = false;
  assert.equal(counter.count, 3);
  assert.equal(counter.append("e"), 4);
  const inner = new tokens.TokenCounter({ tokenizer: { count: (text) => (inner.append("x"), text.length) } });
  assert.throws(() => inner.append("a"), { code: "tokenizer_failed" });
});

test("other entry points do not export these functions", () => {
  for (const area of ["chat", "commits", "folders", "loom", "operators", "workspace"])
    for (const name of ["encodeTokens", "truncateText", "vocabularyOf"])
      assert.equal(name in require(`ctxweave/${area}`), false, area);
});
