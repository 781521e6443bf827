/**
 * Types of the platform, as the program that uses the package has them: from the library `DOM`, from `@types/node` or from
 * another one. Where it has none, its code cannot have such a value either.
 */

type Global<Name extends string> = typeof globalThis extends { [name in Name]: { prototype: infer Type } }
  ? Type
  : never;

export type PlatformUrl = Global<"URL">;
export type PlatformRequest = Global<"Request">;
export type PlatformResponse = Global<"Response">;

export type PlatformAbortSignal = Global<"AbortSignal">;

/** A stream of bytes, of the type that the body of a response has: the platform says there what its chunks are. */
export type PlatformReadableStream = PlatformResponse extends { body: infer Body } ? NonNullable<Body> : never;

/** A module that is compiled. */
export type WasmModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Type } } }
  ? Type
  : never;
