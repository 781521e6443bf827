/** Node, Bun and Deno: the wasm is read from the file beside this one. */

import { readFile } from "./files.js";
import { createInit } from "./load.js";

export * from "./exports.js";

/** Loads the WebAssembly module; see the same function of the browser entry, index.ts. */
export const init = createInit(
  () => new URL("./ctxweave.wasm", import.meta.url),
  readFile,
);
