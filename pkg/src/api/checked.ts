/** Checks of arguments that cross into the wasm as they are. */

import { CtxweaveError } from "../error.js";

/** The value, which must be a string; `path` is its name in the error. */
export function checkedText(value: unknown, path: string): string {
  if (typeof value !== "string") throw invalid(path, "a string");
  return value;
}

/** The error for an argument that is not what it must be. */
export function invalid(path: string, expected: string): CtxweaveError {
  return new CtxweaveError("invalid_input", `\`${path}\` must be ${expected}`, { path });
}
