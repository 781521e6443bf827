/**
 * The wasm inside the JavaScript, for programs that cannot load a second file. It can be compiled only once it is
 * complete, and not in Workers, which may not compile at all.
 */

import { area } from "./areas.js";
import { packed } from "./ctxweave.packed.js";
import { type InitSource, init as load } from "./entries/default.js";
import { unpack } from "./source.js";

export * from "./entries/default.js";
// Without this line a bundle that uses nothing else would contain the core.
export { CtxweaveError } from "./error.js";

/** See src/load.ts. The location is registered by this call, so that a bundle can leave this module out if it is unused. */
export function init(source?: InitSource): Promise<void> {
  area(AREA).standard = { file: () => unpack(packed) };
  return load(source);
}
