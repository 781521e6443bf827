/** The vocabulary of `cl100k_base` inside the JavaScript, for where a second file cannot be had. */

import { unpack } from "../unpack.js";
import { createVocabulary, type Vocabulary } from "../vocabulary.js";
import { packed } from "./cl100k_base.packed.js";

export type { Vocabulary, VocabularyOptions, VocabularySource } from "../vocabulary.js";

/** The name to give as `tokenizer`. */
export const name = "cl100k_base";

const vocabulary = /* @__PURE__ */ createVocabulary(name, () => unpack(packed));

/** See {@link Vocabulary.load}. */
export const load: Vocabulary["load"] = (options) => vocabulary.load(options);

/** See {@link Vocabulary.bytes}. */
export const bytes: Vocabulary["bytes"] = (options) => vocabulary.bytes(options);
