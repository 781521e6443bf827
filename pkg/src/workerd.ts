/** Workers may not compile WebAssembly: they receive the compiled module by a static import. */

import { area } from "./areas.js";
import module from "./ctxweave.wasm";
import { type InitSource, init as load } from "./entries/default.js";

export * from "./entries/default.js";
// Without this line a bundle that uses nothing else would contain the core.
export { CtxweaveError } from "./error.js";

/** See src/load.ts. The location is registered by this call, so that a bundle can leave this module out if it is unused. */
export function init(source?: InitSource): Promise<void> {
  area(AREA).standard = { file: () => module };
  return load(source);
}
