/**
 * Contains no wasm: the caller passes its address, bytes or module to `init` or `initSync`. For libraries that leave it
 * to the application how the wasm is loaded.
 */

import { type InitSource, init as load } from "./entries/default.js";

export * from "./entries/default.js";
// Without this line a bundle that uses nothing else would contain the core.
export { CtxweaveError } from "./error.js";

/**
 * Loads the WebAssembly module from `source`. Await it once before any other call. Idempotent, also while it loads;
 * after a failure the next call tries again.
 *
 * @throws {CtxweaveError} `wasm_load_failed`
 */
export const init: (source: InitSource) => Promise<void> = load;
