/** Values nested deeper than requests may be. */

import { CtxweaveError } from "../error.js";

/** Calls with a value; if it is nested too deep for a request, with its JSON text, whose limit is `fileDepth`. */
export function asTextIfDeep<Result>(value: unknown, call: (value: unknown) => Result): Result {
  try {
    return call(value);
  } catch (error) {
    const isDeep = error instanceof CtxweaveError && error.code === "limit_exceeded" && typeof value === "object";
    if (!isDeep || (error.details as { limit?: string }).limit !== "jsonDepth") throw error;
    let text: string;
    try {
      text = JSON.stringify(value);
    } catch {
      // Too deep for JavaScript as well.
      throw error;
    }
    return call(text);
  }
}
