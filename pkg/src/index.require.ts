/**
 * `require` in environments without a named runtime: bundlers for browsers, which use the packed form, and test runners
 * that simulate a browser in Node, where the file is read.
 */

import { area } from "./areas.js";
import { type InitSource, init as load } from "./entries/default.js";
import { readPresent } from "./files.js";

export * from "./entries/default.js";
// Without this line a bundle that uses nothing else would contain the core.
export { CtxweaveError } from "./error.js";

/** See src/load.ts. The location is registered by this call, so that a bundle can leave this module out if it is unused. */
export function init(source?: InitSource): Promise<void> {
  area(AREA).standard = {
    file: () => readPresent(() => __dirname, "ctxweave.wasm"),
    packed: PACKED ? () => import("./ctxweave.packed.js") : undefined,
  };
  return load(source);
}
