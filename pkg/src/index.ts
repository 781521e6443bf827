/**
 * Browsers and bundlers: the wasm is a file next to this one. A bundler that knows `new URL(…, import.meta.url)` brings
 * it along under whatever name it likes; where none does, the packed form is loaded.
 */

import { area } from "./areas.js";

export * from "./entries/default.js";

area(AREA).standard = {
  file: () => new URL("./ctxweave.wasm", import.meta.url),
  // Vite and webpack bring the file along. In what they build for browsers this is undefined, and the packed form no part of it.
  packed:
    !PACKED || (import.meta.env?.PROD && !import.meta.env?.SSR) ? undefined : () => import("./ctxweave.packed.js"),
};
