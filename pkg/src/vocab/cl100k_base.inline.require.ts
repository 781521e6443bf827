/** The same for `require`. The bytes are those of the ES module, since there is one copy of them. */

import { unpack } from "../unpack.js";
import { createVocabulary, type Vocabulary } from "../vocabulary.js";

export type { Vocabulary, VocabularyOptions, VocabularySource } from "../vocabulary.js";

/** The name to give as `tokenizer`. */
export const name = "cl100k_base";

const vocabulary = /* @__PURE__ */ createVocabulary(name, async () =>
  unpack((await import("./cl100k_base.packed.js")).packed),
);

/** See {@link Vocabulary.load}. */
export const load: Vocabulary["load"] = (options) => vocabulary.load(options);

/** See {@link Vocabulary.bytes}. */
export const bytes: Vocabulary["bytes"] = (options) => vocabulary.bytes(options);
