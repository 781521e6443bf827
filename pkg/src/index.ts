/**
 * Browsers and bundlers: the wasm is a file next to this one. A bundler that knows `new URL(…, import.meta.url)`
 * includes it, under any name; if it did not, the packed form is loaded.
 */

import { area } from "./areas.js";
import { type InitSource, init as load } from "./entries/default.js";

export * from "./entries/default.js";
// Without this line a bundle that uses nothing else would contain the core.
export { CtxweaveError } from "./error.js";

/** See src/load.ts. The location is registered by this call, so that a bundle can leave this module out if it is unused. */
export function init(source?: InitSource): Promise<void> {
  area(AREA).standard = {
    file: () => new URL("./ctxweave.wasm", import.meta.url),
    // Vite and webpack include the file. In their builds for browsers this is undefined, so that the packed form is left
    // out.
    packed:
      !PACKED || (import.meta.env?.PROD && !import.meta.env?.SSR) ? undefined : () => import("./ctxweave.packed.js"),
  };
  return load(source);
}
