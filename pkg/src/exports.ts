/** What every entry point exports, but for its own `init`. */

export * from "./api.js";
export { CtxweaveError } from "./error.js";
export { type InitSource, initSync, type SyncInitSource } from "./load.js";
export type * from "./types/commits.js";
export type * from "./types/bodies.js";
export type * from "./types/common.js";
export type * from "./types/folders.js";
export type * from "./types/loom.js";
export type * from "./types/resident.js";
export type * from "./types/operators.js";
export type * from "./types/transcripts.js";
export type * from "./types/workspace.js";
export { version } from "./version.js";
