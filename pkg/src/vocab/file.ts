/** Browsers and bundlers: a file next to this one, or its packed form; src/index.ts says when. The build puts other names in place of `o200k_base`. */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";

export const standard: Standard<VocabularySource> = {
  file: () => new URL("./o200k_base.bin", import.meta.url),
  packed: import.meta.env?.PROD && !import.meta.env?.SSR ? undefined : () => import("./o200k_base.packed.js"),
};
