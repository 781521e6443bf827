/**
 * Brings no wasm along: the caller gives its address, bytes or module to `init` or `initSync`. For libraries, which
 * leave it to the application how the wasm is loaded.
 */

import { createInit, type InitSource } from "./load.js";

export * from "./exports.js";

/**
 * Loads the WebAssembly module from what the caller gives; await it once before any other call. Calling it again is
 * harmless, also while it loads; after a failure the next call tries again.
 *
 * @throws {CtxweaveError} `wasm_load_failed`
 */
export const init: (source: InitSource) => Promise<void> = createInit(
  // Only plain JavaScript gets here: the types demand a source.
  () => undefined as unknown as InitSource,
);
