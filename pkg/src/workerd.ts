/** Workers may not compile WebAssembly: they are handed the compiled module by a static import. */

import module from "./ctxweave.wasm";
import { createInit } from "./load.js";

export * from "./exports.js";

/** Loads the WebAssembly module; see the same function of the browser entry, index.ts. */
export const init = createInit(() => module);
