/** `ctxweave/workspace`: an agent's first turn, and counting. */

export * from "../api/workspace.js";
export * from "../api/tokens.js";
export * from "../common.js";
export type * from "../types/workspace.js";
