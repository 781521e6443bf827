/** Formats that the host registers. */

import { callJson } from "../../call.js";
import type { CustomFormat } from "../../types/commits.js";
import { guarded } from "../../source.js";
import { CtxweaveError } from "../../error.js";
import { checkedObject } from "../checked.js";

const registered = new Map<string, CustomFormat>();

/**
 * Registers a format, so that chains in it are joined and, with `like`, read. Applies to all later calls. Idempotent.
 *
 * @throws {CtxweaveError} `invalid_input` for a name that is built in, `markdown` or registered with another definition,
 *   and for a `like` that cannot read what `join` yields; `unknown_value`
 */
export function registerFormat(format: CustomFormat): void {
  checkedObject(format, "format");
  const given = guarded("format", () => ({ ...format }));
  callJson("registerFormat", { format: given });
  const known = registered.get(given.name);
  if (known && (known.join !== given.join || (known.like ?? undefined) !== (given.like ?? undefined))) {
    const message = `the format \`${given.name}\` is registered with another definition; choose another name`;
    throw new CtxweaveError("invalid_input", message, { path: "format.name" });
  }
  registered.set(given.name, given);
}

/** The registered formats, for a request. */
export function customFormats(): { formats?: CustomFormat[] } {
  return registered.size === 0 ? {} : { formats: [...registered.values()] };
}

/** A request with the registered formats. */
export function withFormats<Request>(request: Request, path: string): Request {
  if (registered.size === 0 || typeof request !== "object" || request === null) return request;
  return guarded(path, () => ({ ...customFormats(), ...request }));
}
