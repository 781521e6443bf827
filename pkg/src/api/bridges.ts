/** Functions that involve two areas. */

import { callJson } from "../call.js";
import type { ConvertedChat } from "../types/chat.js";
import type { LoomChatOptions } from "../types/bridges.js";
import type { ReadonlyData, WithUnknownFields } from "../types/common.js";
import type { LoomTreeData } from "../types/loom.js";

/**
 * Converts a path of a Loom tree into a chat in any format: the result of `assembleDialogue` without a limit.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function loomTreeToChat<Message = unknown>(
  tree: ReadonlyData<WithUnknownFields<LoomTreeData>>,
  options: ReadonlyData<LoomChatOptions>,
): ConvertedChat<Message> {
  return callJson("loomTreeToChat", { tree, options }) as ConvertedChat<Message>;
}
