/** What every entry point exports in addition to its area. */

export { CtxweaveError, type CtxweaveErrorConstructor, type CtxweaveErrorOf } from "./error.js";
export { init, type InitSource, initSync, type SyncInitSource } from "./load.js";
export { reset } from "./runtime.js";
export type * from "./types/common.js";
export { version } from "./version.js";
