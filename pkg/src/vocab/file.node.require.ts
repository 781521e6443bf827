/** Like src/node.require.ts. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";
import { readFile } from "../files.js";

export const standard: Standard<VocabularySource> = {
  file: () => require("node:url").pathToFileURL(require("node:path").join(__dirname, "o200k_base.bin")),
  packed: () => import("./o200k_base.packed.js"),
  readFile,
};
