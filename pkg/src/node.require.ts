/** The same for `require` in runtimes that cannot require the ES module. */

import { area } from "./areas.js";
import { readFile } from "./files.js";

export * from "./entries/default.js";

area(AREA).standard = {
  // Tools that trace the files of a program recognize this form.
  file: () => require("node:url").pathToFileURL(require("node:path").join(__dirname, "ctxweave.wasm")),
  packed: PACKED ? () => import("./ctxweave.packed.js") : undefined,
  readFile,
};
