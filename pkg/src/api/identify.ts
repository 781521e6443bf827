/** What a file or a value is. */

import { callJson } from "../call.js";
import { asBytes } from "../source.js";
import type { ReadonlyData } from "../types/common.js";
import type { Identification, IdentifyOptions } from "../types/identify.js";
import { asTextIfDeep } from "./deep.js";
import { plainChat } from "./messages.js";

/**
 * Returns what a file or a value is, with evidence. A file is its bytes or its text; a value is what `JSON.parse` gives, a chat as a
 * library has it, or a list of paths. Nothing is imported, and the input is never changed.
 *
 * The detectors are those by which `fitMessages`, `importTranscript` and `importLoom` read.
 *
 * @throws {CtxweaveError} `limit_exceeded` for a file that is too large; `invalid_input` for a buffer that was transferred
 */
export function identify(input: unknown, options?: ReadonlyData<IdentifyOptions>): Identification {
  const bytes = asBytes(input, "input");
  if (bytes) return callJson("identify", { input: bytes, options }) as Identification;
  const value = typeof input === "object" && input !== null ? plainChat(input as never) : input;
  const call = (file: unknown): Identification =>
    callJson("identify", { input: file, options }, { binary: "sizes" }) as Identification;
  return asTextIfDeep(value, call);
}
