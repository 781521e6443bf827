/** A small `tokenizer.json`, in the format of open models. */

/** A byte as written by byte-level tokenizers. */
const visible = (byte) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
const bytes = Array.from({ length: 256 }, (_, byte) => byte);
const hidden = bytes.filter((byte) => !visible(byte));
const written = (byte) => String.fromCodePoint(visible(byte) ? byte : 0x100 + hidden.indexOf(byte));
const write = (text) => Array.from(new TextEncoder().encode(text), written).join("");

const QWEN2 = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

/**
 * A tokenizer with the bytes and a few more tokens: those of pairs, in order, each merged from its prefix and its last
 * character.
 */
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
// A space does not merge with the word after it: " the" is " " and "the".
file.model.merges[2] = [write(" "), "the"];
