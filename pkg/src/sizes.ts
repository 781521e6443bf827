/** Sizes that no valid input has. */

import { CtxweaveError } from "./error.js";

/** Above the size of any valid list. A `length` costs nothing to claim, and visiting each item may take minutes. */
export const MAX_LIST_ITEMS = 2 ** 24;

export function tooLarge(place: string, value: number, max: number, options?: ErrorOptions): CtxweaveError {
  const message = `${place} is too large; make it smaller`;
  return new CtxweaveError("limit_exceeded", message, { limit: "inputBytes", value, max }, options);
}
