/** Workers may not compile WebAssembly: they receive the compiled module by a static import. */

import { area } from "./areas.js";
import module from "./ctxweave.wasm";

export * from "./entries/default.js";

area(AREA).standard = { file: () => module };
