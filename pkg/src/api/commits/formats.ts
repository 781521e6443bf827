/** Formats that the host registers. */

import { callJson } from "../../call.js";
import type { CustomFormat } from "../../types/commits.js";
import { checkedObject, invalid } from "../checked.js";

const registered = new Map<string, CustomFormat>();

/**
 * Registers a format, so that chains in it are joined and, with `like`, read. Applies to all later calls. Idempotent.
 *
 * @throws {CtxweaveError} `invalid_input` for a name that is built in or registered with another definition, and for a
 *   `like` that cannot read what `join` yields; `unknown_value`
 */
export function registerFormat(format: CustomFormat): void {
  const { name, join, like } = checkedObject(format, "format");
  const checked: CustomFormat = { name, join, ...(like !== undefined && { like }) };
  callJson("registerFormat", { format: { ...format } });
  const known = registered.get(name);
  if (known && (known.join !== join || known.like !== like)) {
    throw invalid("name", "a name that is not registered with another definition");
  }
  registered.set(name, checked);
}

/** The registered formats, for a request. */
export function customFormats(): { formats?: CustomFormat[] } {
  return registered.size === 0 ? {} : { formats: [...registered.values()] };
}
