/** `ctxweave/chat`: chats fitted to their limits, and counting. */

export * from "../api/chat.js";
export * from "../api/tokens.js";
export * from "../common.js";
export type * from "../types/chat.js";
