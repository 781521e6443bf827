/** Values that are nested deeper than requests may be. */

import { CtxweaveError } from "../error.js";

/** Calls with a value; if its nesting is too deep for a request, with its JSON text, which may be as deep as `fileDepth` allows. */
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
      // Its nesting is too much for JavaScript, too.
      throw error;
    }
    return call(text);
  }
}
