/** Inside the JavaScript, for where a second file cannot be had. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";
import { unpack } from "../source.js";
import { packed } from "./o200k_base.packed.js";

export const standard: Standard<VocabularySource> = {
  file: () => unpack(packed),
};
