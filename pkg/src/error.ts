import type { ErrorCode } from "./types/common.js";

/** The same in every copy of this module: each flavour of the package has one, as an ES module and as CommonJS. */
const brand = Symbol.for("ctxweave.error");

/**
 * The one error that ctxweave throws.
 *
 * `code` is stable, so programs may compare it; `message` is for the person who caused it; what a program may want to
 * know beyond the code is in `details`, which is {@link ErrorDetails} of the code.
 *
 * `instanceof CtxweaveError` holds whichever entry point of the package the error comes from.
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

  static override [Symbol.hasInstance](value: unknown): boolean {
    // A class derived from this one means its own.
    if (this !== CtxweaveError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === "object" && value !== null && brand in value;
  }

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }
}
