/** The same for `require`, with the bytes of the ES module, so that there is only one copy. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";
import { unpack } from "../source.js";

export const standard: Standard<VocabularySource> = {
  file: async () => unpack((await import("./o200k_base.packed.js")).packed),
};
