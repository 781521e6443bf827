/** Calls of the wasm module: the one path from a function of the API into it and back. */

import { type Binary, writeRequest } from "./request.js";
import { call } from "./runtime.js";

/** What has a table of calls: the module, and each handle in it. */
interface Callable {
  call(name: string, json: Uint8Array, bytes: readonly Uint8Array[] | undefined, counter: unknown): unknown;
}

/** How to call. */
interface CallOptions {
  /** How binary data is written; by default it crosses next to the JSON. */
  binary?: Binary;
  /** Whose method it is; by default it is a function of the module. */
  handle?: Callable;
}

/** Calls a function or a method by its name and returns its result. */
export function callJson(name: string, args: unknown, { binary, handle }: CallOptions = {}): unknown {
  const { json, bytes, counter } = writeRequest(args, binary);
  return readResponse(call((wasm) => (handle ?? wasm).call(name, json, bytes, counter)));
}

/**
 * The result in a response: a small one as it is, JSON text, bytes, or a list of JSON text and the bytes that it refers to as
 * `{ "\0bytes": 0 }`. `null` is undefined.
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

/** A list of numbers in a result: its bytes, four a number. */
export function numbersOf(result: unknown): Uint32Array<ArrayBuffer> {
  return new Uint32Array((result as Uint8Array<ArrayBuffer>).buffer);
}
