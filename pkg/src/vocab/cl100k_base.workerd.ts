/** The vocabulary of `cl100k_base`, for Workers: a static import, which wrangler and miniflare turn into bytes. */

import { createVocabulary, type Vocabulary } from "../vocabulary.js";
import data from "./cl100k_base.bin";

export type { Vocabulary, VocabularyOptions, VocabularySource } from "../vocabulary.js";

/** The name to give as `tokenizer`. */
export const name = "cl100k_base";

const vocabulary = /* @__PURE__ */ createVocabulary(name, () => data);

/** See {@link Vocabulary.load}. */
export const load: Vocabulary["load"] = (options) => vocabulary.load(options);

/** See {@link Vocabulary.bytes}. */
export const bytes: Vocabulary["bytes"] = (options) => vocabulary.bytes(options);
