import type { ErrorCode } from "./types/common.js";

/**
 * The one error that ctxweave throws.
 *
 * `code` is stable, so programs may compare it; `message` is for the person who caused it; what a program may want to
 * know beyond the code is in `details`, whose keys docs/errors.md lists for each code.
 */
export class CtxweaveError extends Error {
  override readonly name = "CtxweaveError";
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}
