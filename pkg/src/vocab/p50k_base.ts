/** The vocabulary of `p50k_base` (Codex, and GPT-3's `text-davinci-002` and `-003`). */

import { createVocabulary, type Vocabulary } from "../vocabulary.js";
import { standard } from "./file.js";

export type { Vocabulary, VocabularyOptions, VocabularySource } from "../vocabulary.js";

/** The value for `tokenizer`. */
export const name = "p50k_base";

const vocabulary = /* @__PURE__ */ createVocabulary(name, standard);

/** See {@link Vocabulary.load}. */
export const load: Vocabulary["load"] = (options) => vocabulary.load(options);

/** See {@link Vocabulary.bytes}. */
export const bytes: Vocabulary["bytes"] = (options) => vocabulary.bytes(options);
