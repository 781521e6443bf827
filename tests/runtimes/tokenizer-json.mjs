/** A small `tokenizer.json`, as open models have it. */

/** A byte as byte-level tokenizers write it. */
const visible = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
const bytes = Array.from({ length: 256 }, (_, byte) => byte);
const hidden = bytes.filter((byte) => !visible(byte));
const written = (byte) => String.fromCodePoint(visible(byte) ? byte : 0x100 + hidden.indexOf(byte));
const write = (text) => Array.from(new TextEncoder().encode(text), written).join("");

const QWEN2 = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

/** A tokenizer with a few tokens besides the bytes: those of pairs, in order, each merged of its last character and the rest. */
const merges = ["th", "the", " the", "é", "ab", "abc"].map((text) => [write(text).slice(0, -1), write(text).slice(-1)]);
export const file = {
  added_tokens: [{ id: 300, content: "<think>", special: false }],
  normalizer: { type: "NFC" },
  pre_tokenizer: {
    type: "Sequence",
    pretokenizers: [
      { type: "Split", pattern: { Regex: QWEN2 }, behavior: "Isolated", invert: false },
      { type: "ByteLevel", add_prefix_space: false, use_regex: false },
    ],
  },
  model: {
    type: "BPE",
    merges,
    vocab: Object.fromEntries(
      [...bytes.map(written), ...merges.map((pair) => pair.join(""))].map((text, id) => [text, id]),
    ),
  },
};
// A space is no part of a word that merges with what comes before: " the" is " " and "the".
file.model.merges[2] = [write(" "), "the"];
