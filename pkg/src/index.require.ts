/**
 * `require` in environments without a named runtime: bundlers for browsers, which use the packed form, and test runners
 * that simulate a browser in Node, where the file is read.
 */

import { area } from "./areas.js";
import { readPresent } from "./files.js";

export * from "./entries/default.js";

area(AREA).standard = {
  file: () => readPresent(() => __dirname, "ctxweave.wasm"),
  packed: PACKED ? () => import("./ctxweave.packed.js") : undefined,
};
