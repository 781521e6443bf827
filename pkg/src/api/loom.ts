/** Loom trees: assembly, request bodies and answers of providers. */

import { callJson, readResponse } from "../call.js";
import { writeRequest } from "../request.js";
import { call } from "../runtime.js";
import { asBytes, guarded } from "../source.js";
import type { BodyRequest, RequestBodyWithReport } from "../types/bodies.js";
import type { ReadonlyData } from "../types/common.js";
import type { Continuation, ContinuationOptions, ProviderReply } from "../types/continuation.js";
import type { BufferAssembly, BufferRequest, DialogueAssembly, DialogueRequest } from "../types/loom.js";
import { unpackAssembly } from "./packed.js";

/**
 * Assembles a path of a tree into messages within the token limit, with a report of what was kept, cut and left out.
 * The request is never mutated. See docs/loom.md.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleDialogue(request: ReadonlyData<DialogueRequest>): DialogueAssembly {
  const { json, bytes, counter, isExact } = writeRequest(request);
  const name = isExact ? "packDialogue" : "packDialogueWithTexts";
  const response = call((wasm) => wasm.call(name, json, bytes, counter));
  // The tree is the caller's: a getter may return another one than it did for the request.
  return guarded("tree", () => unpackAssembly(response, isExact ? request.tree.nodes : []));
}

/**
 * Assembles a path of a tree into one document within the token limit, with a report of what was kept, cut and left
 * out. The request is never mutated. See docs/loom.md.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleBuffer(request: ReadonlyData<BufferRequest>): BufferAssembly {
  return callJson("assembleBuffer", request) as BufferAssembly;
}

/**
 * Assembles a path and writes the target's request body: JSON in UTF-8, ready for `fetch`. The request is an object, or
 * the bytes of its JSON, which saves parsing it in JavaScript. It is never mutated. See docs/bodies.md.
 *
 * {@link requestBodyWithReport} also returns what was cut and what the provider cannot express.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function requestBody(
  request: ReadonlyData<BodyRequest> | ArrayBuffer | ArrayBufferView,
): Uint8Array<ArrayBuffer> {
  return callBody("requestBody", request) as Uint8Array<ArrayBuffer>;
}

/**
 * Writes the same body, with the report of the assembly.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function requestBodyWithReport(
  request: ReadonlyData<BodyRequest> | ArrayBuffer | ArrayBufferView,
): RequestBodyWithReport {
  return callBody("requestBodyWithReport", request) as RequestBodyWithReport;
}

/** Calls a function whose request may be the bytes of its JSON. */
function callBody(name: string, request: object): unknown {
  const json = asBytes(request, "");
  return json ? readResponse(call((wasm) => wasm.call(name, json, undefined, undefined))) : callJson(name, request);
}

/**
 * Converts a provider's answer into nodes and edges, ready for `LoomTree.upsert`, with reasoning and tool calls. Takes
 * a whole answer or the events of its stream; a truncated or unfinished stream gives the nodes so far. Several answers
 * become siblings.
 *
 * `requestBody` writes such nodes as the provider's own turn, with call ids and signatures of reasoning.
 *
 * @throws {CtxweaveError} `provider_error` if the answer or an event is an error; `invalid_input` for something other
 *   than an answer of this provider, and for too few ids
 */
export function continuation(
  response: ReadonlyData<ProviderReply>,
  options: ReadonlyData<ContinuationOptions>,
): Continuation {
  return callJson("continuation", { response, options }) as Continuation;
}
