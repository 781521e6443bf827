import type { ChatFormat } from "./chat.js";
import type { DialogueRequest } from "./loom.js";

/** The path of a tree to convert into a chat, and the format. */
export interface LoomChatOptions extends Pick<
  DialogueRequest,
  | "agent"
  | "choices"
  | "includeAnnotations"
  | "instructionScope"
  | "limits"
  | "media"
  | "path"
  | "pendingSources"
  | "tip"
  | "versionSelections"
> {
  format: ChatFormat;
}
