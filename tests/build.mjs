/** Which build of the packages is in pkg/dist. */

import { readFileSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(new URL("../pkg/dist/ctxweave.wasm", import.meta.url)));

/** Whether it is that of `cargo xtask build --quick`: its sizes and speeds are not those of the packages as they are published. */
export const isQuick = WebAssembly.Module.customSections(module, "quick-build").length > 0;
