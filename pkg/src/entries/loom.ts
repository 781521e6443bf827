/** `ctxweave/loom`: Loom trees, request bodies and counting. */

export * from "../api/loom.js";
export * from "../api/resident.js";
export * from "../api/tokens.js";
export * from "../common.js";
export type * from "../types/bodies.js";
export type * from "../types/continuation.js";
export type * from "../types/loom.js";
export type * from "../types/resident.js";
