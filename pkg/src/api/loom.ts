/** Loom trees: assembly, request bodies and providers' replies. */

import { callJson, readResponse } from "../call.js";
import { writeRequest } from "../request.js";
import { call } from "../runtime.js";
import { asBytes } from "../source.js";
import type { BodyRequest, RequestBodyWithReport } from "../types/bodies.js";
import type { ReadonlyData } from "../types/common.js";
import type { Continuation, ContinuationOptions, ProviderReply } from "../types/continuation.js";
import type { BufferAssembly, BufferRequest, DialogueAssembly, DialogueRequest } from "../types/loom.js";
import { unpackAssembly } from "./packed.js";

/**
 * Turns a path through a tree into messages that stay under the token limit, with a report of what was kept, cut and
 * left out. The request is never changed.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleDialogue(request: ReadonlyData<DialogueRequest>): DialogueAssembly {
  const { json, bytes, counter, isExact } = writeRequest(request);
  const name = isExact ? "packDialogue" : "packDialogueWithTexts";
  const response = call((wasm) => wasm.call(name, json, bytes, counter));
  return unpackAssembly(response, isExact ? request.tree.nodes : []);
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

/**
 * Assembles the path and writes the body that the target's provider is sent: JSON in UTF-8, ready for `fetch`. The request
 * is an object, or the bytes of its JSON; then no JavaScript object is made in between. The request is never changed.
 *
 * What was cut, and what the provider cannot express, is in the report of {@link requestBodyWithReport}.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function requestBody(
  request: ReadonlyData<BodyRequest> | ArrayBuffer | ArrayBufferView,
): Uint8Array<ArrayBuffer> {
  return callBody("requestBody", request) as Uint8Array<ArrayBuffer>;
}

/**
 * The same body, with the report of the assembly.
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
 * Makes nodes and edges of a provider's answer, ready for `LoomTree.upsert`: of a whole one, or of the events of its stream, with
 * reasoning and tool calls. A truncated or unfinished stream gives the nodes so far. Where several answers were
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
