import type { ErrorCode, ErrorDetails } from "./types/common.js";

/** The same in every copy of this module: each flavour of the package has one, as an ES module and as CommonJS. */
const brand = Symbol.for("ctxweave.error");

/** What every error has, and what a class derived from {@link CtxweaveError} is. */
interface ErrorOf<C extends ErrorCode> extends Error {
  readonly name: "CtxweaveError";
  readonly code: C;
  readonly details: Readonly<ErrorDetails[C]>;
}

/**
 * The one error that ctxweave throws.
 *
 * `code` is stable, so programs may compare it, and says what `details` hold; `message` is for the person who caused it.
 *
 * `instanceof CtxweaveError` holds whichever entry point of the package the error comes from.
 */
export type CtxweaveError = { [C in ErrorCode]: ErrorOf<C> }[ErrorCode];

/** The class of {@link CtxweaveError}. */
interface ErrorClass {
  readonly prototype: CtxweaveError;
  new <C extends ErrorCode = ErrorCode>(
    code: C,
    message: string,
    details?: ErrorDetails[C],
    options?: ErrorOptions,
  ): ErrorOf<C>;
}

const errorClass = class CtxweaveError extends Error {
  override readonly name = "CtxweaveError";
  readonly code: ErrorCode;
  readonly details: object;

  constructor(code: ErrorCode, message: string, details: object = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // A class derived from this one means its own.
    if (this !== errorClass) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === "object" && value !== null && brand in value;
  }

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }
};

export const CtxweaveError = errorClass as unknown as ErrorClass;
