/** The edge runtime of Next and Vercel, which imports a module under another specifier than workerd. */

import { area } from "./areas.js";
import module from "./ctxweave.wasm?module";

export * from "./entries/default.js";

area(AREA).standard = { file: () => module };
