/** Assembly of Loom trees. */

import { callJson, fromAnswer, rawAnswerOf } from "../json.js";
import type { ReadonlyData } from "../types/common.js";
import type { BufferAssembly, BufferRequest, DialogueAssembly, DialogueRequest } from "../types/loom.js";
import { unpackAssembly } from "./packed.js";

/**
 * Turns a path through a tree into messages that stay under the token limit, with a report of what was kept, cut and
 * left out. The request is never changed.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleDialogue(request: ReadonlyData<DialogueRequest>): DialogueAssembly {
  let isPacked = false;
  const answer = rawAnswerOf((wasm, { json, bytes, isExact }, tokenizer) => {
    isPacked = isExact;
    return wasm.call(isExact ? "packDialogue" : "assembleDialogue", json, bytes, tokenizer);
  }, request);
  return isPacked ? unpackAssembly(answer, request.tree.nodes) : (fromAnswer(answer) as DialogueAssembly);
}

/**
 * Turns a path through a tree into one document that stays under the token limit, with a report of what was kept, cut
 * and left out. The request is never changed.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleBuffer(request: ReadonlyData<BufferRequest>): BufferAssembly {
  return callJson("assembleBuffer", request) as BufferAssembly;
}
