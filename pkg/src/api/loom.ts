/** Assembly of Loom trees. */

import { answerOf, callJson } from "../json.js";
import type {
  BufferAssembly,
  BufferRequest,
  DialogueAssembly,
  DialogueRequest,
  LoomNode,
  Message,
  NodeContent,
} from "../types/loom.js";

/**
 * Turns a path through a tree into messages that stay under the token limit, with a report of what was kept, cut and
 * left out. The request is never changed.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleDialogue(request: DialogueRequest): DialogueAssembly {
  let isExact = false;
  const assembly = answerOf((wasm, crossing, tokenizer) => {
    ({ isExact } = crossing);
    const name = isExact ? "assembleDialogueByReference" : "assembleDialogue";
    return wasm.call(name, crossing.json, crossing.bytes, tokenizer);
  }, request) as ReferringAssembly;
  if (isExact) for (const message of assembly.messages) resolve(message, request.tree.nodes);
  return assembly as DialogueAssembly;
}

/** A message, or one whose content refers to nodes of the tree: texts one after the other, a number stands for a node's. */
type ReferringMessage = Omit<Message, "content"> & { content: Message["content"] | (string | number)[] };

type ReferringAssembly = Omit<DialogueAssembly, "messages"> & { messages: ReferringMessage[] };

/** Puts the texts of nodes in their places. They are the caller's own strings, so that no text crosses twice. */
function resolve(message: ReferringMessage, nodes: readonly LoomNode[]): void {
  const { content } = message;
  if (typeof content === "string" || typeof content[0] === "object") return;
  let text = "";
  for (const piece of content as (string | number)[]) {
    text += typeof piece === "string" ? piece : textOf((nodes[piece] as LoomNode).content);
  }
  message.content = text;
}

/** The text of a node that is nothing else. */
function textOf(content: NodeContent): string {
  if (typeof content === "string") return content;
  return content.type === "mixed" ? textOf(content.blocks[0] as NodeContent) : (content as { text: string }).text;
}

/**
 * Turns a path through a tree into one document that stays under the token limit, with a report of what was kept, cut
 * and left out. The request is never changed.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleBuffer(request: BufferRequest): BufferAssembly {
  return callJson("assembleBuffer", request) as BufferAssembly;
}
