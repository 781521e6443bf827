import type { ErrorCode, ErrorDetails } from "./types/common.js";

/** Shared by all copies of this module: each flavor of the package has one, as an ES module and as CommonJS. */
const brand = Symbol.for("ctxweave.error");

/** A {@link CtxweaveError} with the code `Code`. */
export interface CtxweaveErrorOf<Code extends ErrorCode> extends Error {
  readonly name: "CtxweaveError";
  readonly code: Code;
  readonly details: ErrorDetails[Code] & Readonly<Record<string, unknown>>;
  /** The error as plain data, for `JSON.stringify`. */
  toJSON(): Pick<this, "name" | "code" | "message" | "details">;
}

/**
 * The only error that ctxweave throws.
 *
 * `code` is stable, so programs may compare it. `message` is for people. `details` holds the data of this code; see
 * {@link ErrorDetails}. docs/errors.md lists all codes.
 *
 * `instanceof CtxweaveError` holds for errors of every entry point of the package.
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

  /** For a subclass, `instanceof` keeps its usual meaning. */
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

  /** `JSON.stringify` would leave out `message`, which errors do not list among their properties. */
  toJSON(): object {
    const { name, code, message, details } = this;
    return { name, code, message, details };
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!Object.is(this, CtxweaveError)) return Function.prototype[Symbol.hasInstance].call(this, value);
    try {
      return typeof value === "object" && value !== null && brand in value;
    } catch {
      // A revoked proxy, for example as what a caller's function threw.
      return false;
    }
  }
} as unknown as CtxweaveErrorConstructor;

// Not in a static block: the Babel preset of React Native rejects these.
Object.defineProperty(CtxweaveError.prototype, brand, { value: true });
