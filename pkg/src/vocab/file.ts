/**
 * Browsers and bundlers: a file next to this one, or its packed form, as in src/index.ts. The build replaces
 * `o200k_base` by other names.
 */

import type { Standard } from "../source.js";
import type { VocabularySource } from "../vocabulary.js";

export const standard: Standard<VocabularySource> = {
  file: () => new URL("./o200k_base.bin", import.meta.url),
  packed: import.meta.env?.PROD && !import.meta.env?.SSR ? undefined : () => import("./o200k_base.packed.js"),
};
