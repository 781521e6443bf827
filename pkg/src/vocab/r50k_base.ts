/** The vocabulary of `r50k_base` (GPT-3), for browsers and bundlers: a file beside this one. */

import { createVocabulary, type Vocabulary } from "../vocabulary.js";

export type { Vocabulary, VocabularyOptions, VocabularySource } from "../vocabulary.js";

/** The name to give as `tokenizer`. */
export const name = "r50k_base";

const vocabulary = /* @__PURE__ */ createVocabulary(name, () => new URL("./r50k_base.bin", import.meta.url));

/** See {@link Vocabulary.load}. */
export const load: Vocabulary["load"] = (options) => vocabulary.load(options);

/** See {@link Vocabulary.bytes}. */
export const bytes: Vocabulary["bytes"] = (options) => vocabulary.bytes(options);
