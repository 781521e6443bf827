/**
 * The wasm as base64 inside the JavaScript, for where a second file cannot be had: a third larger, compiled only once it
 * is all there, and not for Workers, which may not compile at all.
 */

import { base64 } from "./inline-bytes.js";
import { createInit } from "./load.js";

export * from "./exports.js";

/** Loads the WebAssembly module; see the same function of the browser entry, index.ts. */
export const init = createInit(() => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
