/** `ctxweave/chat`: chats fitted to their limits, and counting. */

export * from "../api/chat.js";
export * from "../api/chat-resident.js";
export * from "../api/tokens.js";
// For all formats, not only OpenAI's.
export { countChatTokens } from "../api/chat.js";
export * from "../common.js";
export type * from "../types/chat.js";
export type { LoomTreeData, Media } from "../types/loom.js";
