/**
 * Browsers and bundlers: the wasm is a file next to this one. A bundler that knows `new URL(…, import.meta.url)`
 * includes it, under any name; if it did not, the packed form is loaded.
 */

import { area } from "./areas.js";

export * from "./entries/default.js";

area(AREA).standard = {
  file: () => new URL("./ctxweave.wasm", import.meta.url),
  // Vite and webpack include the file. In their builds for browsers this is undefined, so that the packed form is left
  // out.
  packed:
    !PACKED || (import.meta.env?.PROD && !import.meta.env?.SSR) ? undefined : () => import("./ctxweave.packed.js"),
};
