/** `ctxweave/import`: files of other looms and exports of chats as Loom trees, Loom trees as such files. */

export * from "../api/import.js";
export * from "../common.js";
export type * from "../types/import.js";
export type { LoomEdge, LoomNode, LoomTreeData, NodeContent, NodeMetadata } from "../types/loom.js";
