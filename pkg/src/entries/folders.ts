/** `ctxweave/folders`: folders with AGENTS.md files, and counting. */

export * from "../api/agent-files.js";
export * from "../api/folders.js";
export * from "../api/tokens.js";
export * from "../common.js";
export type * from "../types/agent-files.js";
export type * from "../types/folders.js";
export type { FileContent } from "../types/workspace.js";
