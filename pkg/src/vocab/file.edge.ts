/** Like src/edge.ts. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";
import module from "./o200k_base.wasm?module";

export const standard: Standard<VocabularySource> = {
  file: () => module,
};
