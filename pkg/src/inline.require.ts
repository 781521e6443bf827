/** The same for `require`, with the bytes of the ES module, so that there is only one copy. */

import { area } from "./areas.js";
import { type InitSource, init as load } from "./entries/default.js";
import { unpack } from "./source.js";

export * from "./entries/default.js";
// Without this line a bundle that uses nothing else would contain the core.
export { CtxweaveError } from "./error.js";

/** See src/load.ts. The location is registered by this call, so that a bundle can leave this module out if it is unused. */
export function init(source?: InitSource): Promise<void> {
  area(AREA).standard = { file: async () => unpack((await import("./ctxweave.packed.js")).packed) };
  return load(source);
}
