import type { ChatFormat } from "./chat.js";
import type { DialogueRequest } from "./loom.js";

/** Which path of a tree becomes a chat, and in which format. */
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
