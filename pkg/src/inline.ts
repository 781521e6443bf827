/**
 * The wasm inside the JavaScript, for where a second file cannot be had: compiled only once it is all there, and not for
 * Workers, which may not compile at all.
 */

import { area } from "./areas.js";
import { packed } from "./ctxweave.packed.js";
import { unpack } from "./source.js";

export * from "./entries/default.js";

area(AREA).standard = { file: () => unpack(packed) };
