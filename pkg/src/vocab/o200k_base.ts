/** The vocabulary of `o200k_base` (GPT-4o and everything since). */

import { createVocabulary, type Vocabulary } from "../vocabulary.js";
import { standard } from "./file.js";

export type { Vocabulary, VocabularyOptions, VocabularySource } from "../vocabulary.js";

/** The value for `tokenizer`. */
export const name = "o200k_base";

const vocabulary = /* @__PURE__ */ createVocabulary(name, standard);

/** See {@link Vocabulary.load}. */
export const load: Vocabulary["load"] = (options) => vocabulary.load(options);

/** See {@link Vocabulary.bytes}. */
export const bytes: Vocabulary["bytes"] = (options) => vocabulary.bytes(options);
