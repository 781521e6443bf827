/** Node, Bun and Deno: the wasm is read from the file next to this one; bundled code falls back to the packed form. */

import { area } from "./areas.js";
import { readFile } from "./files.js";
import { beside } from "./source.js";

export * from "./entries/default.js";

area(AREA).standard = {
  file: () => beside(import.meta.url, "ctxweave.wasm"),
  packed: PACKED ? () => import("./ctxweave.packed.js") : undefined,
  readFile,
};
