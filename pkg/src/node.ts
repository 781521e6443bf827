/** Node, Bun and Deno: the wasm is read from the file beside this one. */

import { area } from "./areas.js";
import { readFile } from "./files.js";

export * from "./entries/default.js";

Object.assign(area(AREA), { standard: () => new URL("./ctxweave.wasm", import.meta.url), readFile });
