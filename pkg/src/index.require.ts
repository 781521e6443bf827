/**
 * `require` where no runtime is known by name: bundlers for browsers, which have the packed form, and test runners that are in
 * Node and play a browser, where the file is read.
 */

import { area } from "./areas.js";
import { readPresent } from "./files.js";

export * from "./entries/default.js";

area(AREA).standard = {
  file: () => readPresent(() => __dirname, "ctxweave.wasm"),
  packed: PACKED ? () => import("./ctxweave.packed.js") : undefined,
};
