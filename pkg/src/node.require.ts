/** The same for `require` in runtimes that cannot give it the ES module. */

import { area } from "./areas.js";
import { readFile } from "./files.js";

export * from "./entries/default.js";

area(AREA).standard = {
  // Tools that look for the files that a program needs understand this form.
  file: () => require("node:url").pathToFileURL(require("node:path").join(__dirname, "ctxweave.wasm")),
  packed: PACKED ? () => import("./ctxweave.packed.js") : undefined,
  readFile,
};
