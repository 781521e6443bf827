/** The vocabulary of `gpt2` (GPT-2; the file is that of `r50k_base`). */

import { createVocabulary, type Vocabulary } from "../vocabulary.js";
import { standard } from "./file.js";

export type { Vocabulary, VocabularyOptions, VocabularySource } from "../vocabulary.js";

/** The value for `tokenizer`. */
export const name = "gpt2";

const vocabulary = /* @__PURE__ */ createVocabulary(name, standard);

/** See {@link Vocabulary.load}. */
export const load: Vocabulary["load"] = (options) => vocabulary.load(options);

/** See {@link Vocabulary.bytes}. */
export const bytes: Vocabulary["bytes"] = (options) => vocabulary.bytes(options);
