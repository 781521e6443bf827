/** Like src/node.ts. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";
import { readFile } from "../files.js";
import { beside } from "../source.js";

export const standard: Standard<VocabularySource> = {
  file: () => beside(import.meta.url, "o200k_base.bin"),
  packed: () => import("./o200k_base.packed.js"),
  readFile,
};
