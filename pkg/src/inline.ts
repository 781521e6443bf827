/**
 * The wasm inside the JavaScript, for programs that cannot load a second file. It can be compiled only once it is
 * complete, and not in Workers, which may not compile at all.
 */

import { area } from "./areas.js";
import { packed } from "./ctxweave.packed.js";
import { unpack } from "./source.js";

export * from "./entries/default.js";

area(AREA).standard = { file: () => unpack(packed) };
