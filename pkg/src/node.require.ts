/** The same for `require` in runtimes that cannot require the ES module. */

import { area } from "./areas.js";
import { type InitSource, init as load } from "./entries/default.js";
import { readFile } from "./files.js";

export * from "./entries/default.js";
// Without this line a bundle that uses nothing else would contain the core.
export { CtxweaveError } from "./error.js";

/** See src/load.ts. The location is registered by this call, so that a bundle can leave this module out if it is unused. */
export function init(source?: InitSource): Promise<void> {
  area(AREA).standard = {
    // Tools that trace the files of a program recognize this form.
    file: () => require("node:url").pathToFileURL(require("node:path").join(__dirname, "ctxweave.wasm")),
    packed: PACKED ? () => import("./ctxweave.packed.js") : undefined,
    readFile,
  };
  return load(source);
}
