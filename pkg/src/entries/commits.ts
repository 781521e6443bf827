/** `ctxweave/commits`: context commits, transcripts, `identify` and counting. */

export { Checkpointer } from "../api/commits/checkpointer.js";
export { registerFormat } from "../api/commits/formats.js";
export { CommitGraph } from "../api/commits/graph.js";
export { materializeStream, materializeWith } from "../api/commits/materialize-with.js";
export { artifactRef, shortRef } from "../api/commits/refs.js";
export { timeKey } from "../api/commits/times.js";
export { ChainWalk } from "../api/commits/walk.js";
export * from "../api/identify.js";
export * from "../api/tokens.js";
export * from "../api/transcripts.js";
export * from "../common.js";
export type * from "../types/commits.js";
export type * from "../types/identify.js";
export type { LoomTreeData } from "../types/loom.js";
export type * from "../types/transcripts.js";
