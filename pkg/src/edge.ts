/** The edge runtime of Next and Vercel: the same, by the name that a module has there. */

import { area } from "./areas.js";
import module from "./ctxweave.wasm?module";

export * from "./entries/default.js";

area(AREA).standard = { file: () => module };
