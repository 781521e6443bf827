/** The build of the packages in pkg/dist. */

import { readFileSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(new URL("../pkg/dist/ctxweave.wasm", import.meta.url)));

/** Whether it is from `cargo xtask build --quick`: its sizes and speeds are not those of published packages. */
export const isQuick = WebAssembly.Module.customSections(module, "quick-build").length > 0;
