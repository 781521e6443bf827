/** The vocabulary of `cl100k_base`, for Node, Bun and Deno: read from the file beside this one. */

import { readFile } from "../files.js";
import { createVocabulary, type Vocabulary } from "../vocabulary.js";

export type { Vocabulary, VocabularyOptions, VocabularySource } from "../vocabulary.js";

/** The name to give as `tokenizer`. */
export const name = "cl100k_base";

const vocabulary = /* @__PURE__ */ createVocabulary(
  name,
  () => new URL("./cl100k_base.bin", import.meta.url),
  readFile,
);

/** See {@link Vocabulary.load}. */
export const load: Vocabulary["load"] = (options) => vocabulary.load(options);

/** See {@link Vocabulary.bytes}. */
export const bytes: Vocabulary["bytes"] = (options) => vocabulary.bytes(options);
