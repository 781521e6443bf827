/** The same for `require`, with the bytes of the ES module, so that there is only one copy. */

import { area } from "./areas.js";
import { unpack } from "./source.js";

export * from "./entries/default.js";

area(AREA).standard = { file: async () => unpack((await import("./ctxweave.packed.js")).packed) };
