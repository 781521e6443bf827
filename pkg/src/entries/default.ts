/** `ctxweave`: all areas. */

export * from "../api/bridges.js";
export * from "../api/cut.js";
export * from "../api/identify.js";
export * from "../api/open-models.js";
export * from "../api/tokenizer.js";
export type * from "../types/bridges.js";
export type * from "../types/identify.js";
export * from "./chat.js";
export * from "./commits.js";
export * from "./folders.js";
export * from "./loom.js";
export * from "./operators.js";
export * from "./workspace.js";
// For all formats, not only OpenAI's.
export { countChatTokens } from "../api/chat.js";
