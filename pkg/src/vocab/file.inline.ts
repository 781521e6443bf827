/** Inside the JavaScript, for programs that cannot load a second file. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";
import { unpack } from "../source.js";
import { packed } from "./o200k_base.packed.js";

export const standard: Standard<VocabularySource> = {
  file: () => unpack(packed),
};
