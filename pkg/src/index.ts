/**
 * Browsers and bundlers: the wasm is a file beside this one. A bundler that knows `new URL(…, import.meta.url)` brings
 * it along under whatever name it likes.
 */

import { createInit } from "./load.js";

export * from "./exports.js";

/**
 * Loads the WebAssembly module; await it once before any other call. Calling it again is harmless, also while it
 * loads; after a failure the next call tries again.
 *
 * @param source where the module comes from; by default it is the package's own `ctxweave.wasm`
 * @throws {CtxweaveError} `wasm_load_failed`
 */
export const init = createInit(() => new URL("./ctxweave.wasm", import.meta.url));
