/** Chats in other formats, and as Loom trees. */

import { callJson } from "../json.js";
import type { ChatTree, ChatTreeOptions, ConvertedChat, ConvertOptions } from "../types/chat.js";
import type { ReadonlyData } from "../types/common.js";
import { type AnyChat, listOf, plainChat } from "./messages.js";

/**
 * The same chat in another format. What the target cannot say is a diagnostic, and stands there as a text where that is
 * possible. Where the format is the same, these are the very messages. Bytes become base64. The chat is never changed.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function convertMessages<Message = unknown, Chat extends AnyChat = AnyChat>(
  messages: Chat,
  options: ReadonlyData<ConvertOptions>,
): ConvertedChat<Message> {
  const request = { messages: plainChat(messages), options };
  const answer = callJson("convertMessages", request, "base64") as Partial<ConvertedChat<Message>> & { same?: true };
  const { same: _, messages: converted = listOf(messages).slice() as Message[], ...rest } = answer;
  return { messages: converted, ...(rest as Omit<ConvertedChat<Message>, "messages">) };
}

/**
 * A chat as a Loom tree, a node a message, to be assembled under a budget, branched, or kept.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function chatToLoomTree<Chat extends AnyChat>(
  messages: Chat,
  options?: ReadonlyData<ChatTreeOptions>,
): ChatTree {
  return callJson("chatToLoomTree", { messages: plainChat(messages), options }, "base64") as ChatTree;
}
