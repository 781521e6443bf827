/** Request bodies. */

import { callJsonOrBytes } from "../json.js";
import type { BodyRequest, RequestBodyWithReport } from "../types/bodies.js";
import type { ReadonlyData } from "../types/common.js";

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
  return callJsonOrBytes("requestBody", request) as Uint8Array<ArrayBuffer>;
}

/**
 * The same body, with the report of the assembly.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function requestBodyWithReport(
  request: ReadonlyData<BodyRequest> | ArrayBuffer | ArrayBufferView,
): RequestBodyWithReport {
  return callJsonOrBytes("requestBodyWithReport", request) as RequestBodyWithReport;
}
