/** Validation of bytes and counts. */

import { utf8 } from "../../coders.js";
import { asBytes } from "../../source.js";
import type { Bytes } from "../../types/commits.js";
import { invalid, jsonOf } from "../checked.js";

/** Returns bytes; encodes text as UTF-8. */
export function textBytes(text: string | Bytes, path: string): Uint8Array {
  return typeof text === "string" ? utf8().encode(text) : checkedBytes(text, path);
}

/** Returns a message of a session as one line of JSON, or its bytes. */
export function messageBytes(message: string | object | Bytes, path: string): Uint8Array {
  const bytes = asBytes(message, path);
  if (bytes) return bytes;
  if (typeof message !== "string" && (typeof message !== "object" || message === null)) {
    throw invalid(path, "an object, a line of JSON or bytes");
  }
  const text = typeof message === "string" ? message : jsonOf(message, path);
  // JSON can carry a lone surrogate as an escape, which UTF-8 would lose.
  const escaped = text.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
  return utf8().encode(escaped);
}

export function checkedBytes(value: unknown, path: string): Uint8Array<ArrayBuffer> {
  const bytes = asBytes(value, path);
  if (!bytes) throw invalid(path, "bytes");
  return bytes;
}

/** JSON would turn NaN into null, which means absent. */
export function checkWhole(value: unknown, path: string, least: number): void {
  if (value === undefined || value === null) return;
  if (!Number.isInteger(value) || (value as number) < least) throw invalid(path, `a whole number, ${least} or more`);
}
