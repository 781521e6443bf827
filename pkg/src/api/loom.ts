/** Assembly of Loom trees. */

import { callJson } from "../json.js";
import type { BufferAssembly, BufferRequest, DialogueAssembly, DialogueRequest } from "../types/loom.js";

/**
 * Turns a path through a tree into messages that stay under the token limit, with a report of what was kept, cut and
 * left out. The request is never changed.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleDialogue(request: DialogueRequest): DialogueAssembly {
  return callJson("assembleDialogue", request) as DialogueAssembly;
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
