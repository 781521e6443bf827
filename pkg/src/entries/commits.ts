/** `ctxweave/commits`: context commits, transcripts and counting. */

export * from "../api/commits.js";
export * from "../api/tokens.js";
export * from "../api/transcripts.js";
export * from "../common.js";
export type * from "../types/commits.js";
export type { LoomTreeData } from "../types/loom.js";
export type * from "../types/transcripts.js";
