/** The same for `require`. The bytes are those of the ES module, since there is one copy of them. */

import { area } from "./areas.js";
import { unpack } from "./source.js";

export * from "./entries/default.js";

area(AREA).standard = { file: async () => unpack((await import("./ctxweave.packed.js")).packed) };
