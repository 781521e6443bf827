/** Node, Bun and Deno: the wasm is read from the file next to this one; bundled code falls back to the packed form. */

import { area } from "./areas.js";
import { type InitSource, init as load } from "./entries/default.js";
import { readFile } from "./files.js";
import { beside } from "./source.js";

export * from "./entries/default.js";
// Without this line a bundle that uses nothing else would contain the core.
export { CtxweaveError } from "./error.js";

/** See src/load.ts. The location is registered by this call, so that a bundle can leave this module out if it is unused. */
export function init(source?: InitSource): Promise<void> {
  area(AREA).standard = {
    file: () => beside(import.meta.url, "ctxweave.wasm"),
    packed: PACKED ? () => import("./ctxweave.packed.js") : undefined,
    readFile,
  };
  return load(source);
}
