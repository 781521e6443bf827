/**
 * Browsers and bundlers: the wasm is a file beside this one. A bundler that knows `new URL(…, import.meta.url)` brings
 * it along under whatever name it likes.
 */

import { area } from "./areas.js";

export * from "./entries/default.js";

area(AREA).standard = () => new URL("./ctxweave.wasm", import.meta.url);
