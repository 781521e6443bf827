/** Formats that the host registers. */

import { callJson } from "../../call.js";
import { CtxweaveError } from "../../error.js";
import { registeredFormats } from "../../registered-formats.js";
import { guarded } from "../../source.js";
import type { CustomFormat } from "../../types/commits.js";
import { checkedObject } from "../checked.js";

/**
 * Registers a format, so that chains in it are joined and, with `like`, read. Applies to all later calls of every entry
 * point. Idempotent.
 *
 * @throws {CtxweaveError} `invalid_input` for a name that is built in, `markdown` or registered with another definition,
 *   and for a `like` that cannot read what `join` yields; `unknown_value`
 */
export function registerFormat(format: CustomFormat): void {
  checkedObject(format, "format");
  const given = guarded("format", () => ({ ...format }));
  callJson("registerFormat", { format: given });
  const known = registeredFormats.get(given.name);
  if (known && (known.join !== given.join || (known.like ?? undefined) !== (given.like ?? undefined))) {
    const message = `\`format.name\` is \`${given.name}\`, which is registered with another definition; use another name`;
    throw new CtxweaveError("invalid_input", message, { path: "format.name" });
  }
  registeredFormats.set(given.name, given);
}

/** The registered formats, for a request. */
export function customFormats(): { formats?: CustomFormat[] } {
  return registeredFormats.size === 0 ? {} : { formats: [...registeredFormats.values()] };
}

/** A request with the registered formats. */
export function withFormats<Request>(request: Request, path: string): Request {
  if (registeredFormats.size === 0 || typeof request !== "object" || request === null) return request;
  return guarded(path, () => ({ ...customFormats(), ...request }));
}
