/** The same for `require`. The bytes are those of the ES module, since there is one copy of them. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";
import { unpack } from "../source.js";

export const standard: Standard<VocabularySource> = {
  file: async () => unpack((await import("./o200k_base.packed.js")).packed),
};
