/** Identification of files and values. */

import { callJson } from "../call.js";
import { asBytes } from "../source.js";
import type { ReadonlyData } from "../types/common.js";
import type { Identification, IdentifyOptions } from "../types/identify.js";
import { asTextIfDeep } from "./deep.js";
import { plainChat } from "./messages.js";

/**
 * Identifies a file or a value, with evidence. A file is passed as bytes or text; a value is parsed JSON, a chat of a
 * library, or a list of paths. Nothing is imported, and the input is never mutated.
 *
 * `fitMessages`, `importTranscript` and `importLoom` use the same detectors. See docs/identify.md.
 *
 * @throws {CtxweaveError} `limit_exceeded` for a file that is too large; `invalid_input` for a detached buffer
 */
export function identify(input: unknown, options?: ReadonlyData<IdentifyOptions>): Identification {
  const bytes = asBytes(input, "input");
  if (bytes) return callJson("identify", { input: bytes, options }) as Identification;
  const value = typeof input === "object" && input !== null ? plainChat(input as never) : input;
  const call = (file: unknown): Identification =>
    callJson("identify", { input: file, options }, { binary: "sizes" }) as Identification;
  return asTextIfDeep(value, call);
}
