import type { ErrorCode, ErrorDetails } from "./types/common.js";

/** The same in every copy of this module: each flavor of the package has one, as an ES module and as CommonJS. */
const brand = Symbol.for("ctxweave.error");

/** A {@link CtxweaveError} with this code. */
export interface CtxweaveErrorOf<Code extends ErrorCode> extends Error {
  readonly name: "CtxweaveError";
  readonly code: Code;
  readonly details: ErrorDetails[Code] & Readonly<Record<string, unknown>>;
}

/**
 * The one error that ctxweave throws.
 *
 * `code` is stable, so programs may compare it; `message` is for the person who caused it; what a program may want to
 * know beyond the code is in `details`, which is {@link ErrorDetails} of the code.
 *
 * `instanceof CtxweaveError` holds whichever entry point of the package the error comes from.
 */
export type CtxweaveError = { [Code in ErrorCode]: CtxweaveErrorOf<Code> }[ErrorCode];

/** The class of {@link CtxweaveError}. */
export interface CtxweaveErrorConstructor {
  new <Code extends ErrorCode = ErrorCode>(
    code: Code,
    message: string,
    details?: ErrorDetails[Code],
    options?: ErrorOptions,
  ): CtxweaveErrorOf<Code>;

  /** A class derived from this one means its own. */
  [Symbol.hasInstance]<Class extends abstract new (...args: never) => unknown>(
    this: Class,
    value: unknown,
  ): value is CtxweaveErrorConstructor extends Class ? CtxweaveError : InstanceType<Class>;
}

export const CtxweaveError: CtxweaveErrorConstructor = class extends Error {
  override readonly name = "CtxweaveError";
  readonly code: ErrorCode;
  readonly details: object;

  constructor(code: ErrorCode, message: string, details: object = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!Object.is(this, CtxweaveError)) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === "object" && value !== null && brand in value;
  }

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }
} as unknown as CtxweaveErrorConstructor;
