/**
 * Types of the platform as declared in the program that uses the package: by the library `DOM`, by `@types/node` or
 * another one. If a type is undeclared, the program cannot have such a value.
 */

type Global<Name extends string> = typeof globalThis extends { [name in Name]: { prototype: infer Type } }
  ? Type
  : never;

export type PlatformUrl = Global<"URL">;
export type PlatformRequest = Global<"Request">;
export type PlatformResponse = Global<"Response">;

export type PlatformAbortSignal = Global<"AbortSignal">;

/** A stream of bytes, of the same type as the body of a response. */
export type PlatformReadableStream = PlatformResponse extends { body: infer Body } ? NonNullable<Body> : never;

/** A compiled WebAssembly module. */
export type WasmModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Type } } }
  ? Type
  : never;
