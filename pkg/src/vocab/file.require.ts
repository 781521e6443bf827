/** Like src/index.require.ts. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";
import { readPresent } from "../files.js";

export const standard: Standard<VocabularySource> = {
  file: () => readPresent(() => __dirname, "o200k_base.bin"),
  packed: () => import("./o200k_base.packed.js"),
};
