/** Calls into the wasm module: the only path from the API functions to it and back. */

import { type Binary, writeRequest } from "./request.js";
import { call, type Resident } from "./runtime.js";

/** Anything with a table of calls: the module, and each of its handles. */
interface Callable {
  call(name: string, json: Uint8Array, bytes: readonly Uint8Array[] | undefined, counter: unknown): unknown;
}

/** Options of a call. */
interface CallOptions {
  /** How to write binary data. Default: next to the JSON. */
  binary?: Binary;
  /** The handle whose method is called. Default: the module, whose functions are called. */
  handle?: Resident & { raw: Callable };
}

/** Calls a function or a method by its name and returns its result. */
export function callJson(name: string, args: unknown, { binary, handle }: CallOptions = {}): unknown {
  const { json, bytes, counter } = writeRequest(args, binary);
  return readResponse(call((wasm) => (handle?.raw ?? wasm).call(name, json, bytes, counter), handle));
}

/**
 * Reads the result from a response: a small value itself, JSON text, bytes, or a list of JSON text and the bytes that
 * it refers to as `{ "\0bytes": 0 }`. `null` becomes undefined.
 */
export function readResponse(response: unknown): unknown {
  if (typeof response === "string") return (JSON.parse(response) as unknown) ?? undefined;
  if (!Array.isArray(response)) return response ?? undefined;
  const [json, ...bytes] = response as [string, ...Uint8Array[]];
  return JSON.parse(json, (_, value: unknown) => {
    const at = typeof value === "object" && value !== null ? (value as { "\0bytes"?: number })["\0bytes"] : undefined;
    return at === undefined ? value : bytes[at];
  }) as unknown;
}

/** Reads a list of numbers from a result that holds four bytes per number. */
export function numbersOf(result: unknown): Uint32Array<ArrayBuffer> {
  return new Uint32Array((result as Uint8Array<ArrayBuffer>).buffer);
}
