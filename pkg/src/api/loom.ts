/** Assembly of Loom trees. */

import { callJson, rawAnswerOf } from "../json.js";
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
  let hasNodes = false;
  const answer = rawAnswerOf((wasm, { json, bytes, isExact }, tokenizer) => {
    hasNodes = isExact;
    return wasm.call(isExact ? "packDialogue" : "packDialogueWithTexts", json, bytes, tokenizer);
  }, request);
  return unpackAssembly(answer, hasNodes ? request.tree.nodes : []);
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
