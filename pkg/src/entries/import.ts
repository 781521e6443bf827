/** `ctxweave/import`: imports files of other looms and chat exports as Loom trees, and exports Loom trees. */

export * from "../api/import.js";
export * from "../common.js";
export type * from "../types/import.js";
export type { LoomEdge, LoomNode, LoomTreeData, NodeContent, NodeMetadata } from "../types/loom.js";
