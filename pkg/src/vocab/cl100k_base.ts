/** The vocabulary of `cl100k_base` (GPT-4, GPT-3.5 Turbo and the embedding models). */

import { createVocabulary, type Vocabulary } from "../vocabulary.js";
import { standard } from "./file.js";

export type { Vocabulary, VocabularyOptions, VocabularySource } from "../vocabulary.js";

/** The value for `tokenizer`. */
export const name = "cl100k_base";

const vocabulary = /* @__PURE__ */ createVocabulary(name, standard);

/** See {@link Vocabulary.load}. */
export const load: Vocabulary["load"] = (options) => vocabulary.load(options);

/** See {@link Vocabulary.bytes}. */
export const bytes: Vocabulary["bytes"] = (options) => vocabulary.bytes(options);
