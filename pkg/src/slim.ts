/**
 * Brings no wasm along: the caller gives its address, bytes or module to `init` or `initSync`. For libraries, which
 * leave it to the application how the wasm is loaded.
 */

import { type InitSource, init as load } from "./entries/default.js";

export * from "./entries/default.js";

/**
 * Loads the WebAssembly module from what the caller gives; await it once before any other call. Calling it again is
 * harmless, also while it loads; after a failure the next call tries again.
 *
 * @throws {CtxweaveError} `wasm_load_failed`
 */
export const init: (source: InitSource) => Promise<void> = load;
