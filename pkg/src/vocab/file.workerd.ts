/** Workers: a module with the vocabulary as a custom section, because every tool can import a module. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";
import module from "./o200k_base.wasm";

export const standard: Standard<VocabularySource> = {
  file: () => module,
};
