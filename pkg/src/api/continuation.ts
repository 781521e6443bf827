/** What a provider answers. */

import { callJson } from "../json.js";
import type { ReadonlyData } from "../types/common.js";
import type { Continuation, ContinuationOptions, ProviderReply } from "../types/continuation.js";

/**
 * Makes nodes and edges of a provider's answer, ready for `LoomTree.upsert`: of a whole one, or of the events of its stream, with
 * reasoning and tool calls. Of a stream that was cut off, or that goes on, it makes what there is so far. Where several answers were
 * asked for, they are siblings.
 *
 * What `requestBody` then sends of them is what the provider takes as its own turn, with ids of calls and signatures of reasoning.
 *
 * @throws {CtxweaveError} `provider_error` where the answer is an error, or an event of it; `invalid_input` for what is no answer of
 * this provider, and for too few ids
 */
export function continuation(
  response: ReadonlyData<ProviderReply>,
  options: ReadonlyData<ContinuationOptions>,
): Continuation {
  return callJson("continuation", { response, options }) as Continuation;
}
