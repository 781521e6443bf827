/** Requests on their way into the wasm: JSON text, and beside it what JSON cannot carry. */

import { CtxweaveError } from "./error.js";
import { call, reasonOf } from "./runtime.js";
import { asBytes } from "./source.js";

/** A request as it crosses: JSON in UTF-8, and the bytes that it refers to by their place in the list. */
export interface Request {
  json: Uint8Array;
  bytes: Uint8Array[];
}

/** Deeper than any request may be: the wasm refuses what is nested so deep. */
const TOO_DEEP = 300;

let encoder: TextEncoder | undefined;

/** The text as UTF-8. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  encoder ??= new TextEncoder();
  return encoder.encode(text);
}

/**
 * Makes JSON of a request. Bytes go beside it; what JSON would lose or turn into something else (NaN, functions, a `Map`) is
 * marked, so that the wasm can name the field where it needs a value there.
 *
 * @throws {CtxweaveError} `invalid_input` where the caller's own code throws while it is asked for a value
 */
export function toRequest(value: unknown): Request {
  const bytes: Uint8Array[] = [];
  let text: string | undefined;
  try {
    if (isJson(value, 0)) text = JSON.stringify(value);
  } catch {
    // Whose getter threw, the careful way says.
  }
  text ??= JSON.stringify(marked(value, "", [], bytes));
  return { json: utf8(text ?? "null"), bytes };
}

/** A tokenizer that the caller brings. */
interface OwnTokenizer {
  count(text: string): number;
}

/**
 * Calls a function of the wasm by its name and gives its result. A tokenizer in the request that is an object with a function
 * `count` goes beside it.
 */
export function callJson(name: string, request: unknown): unknown {
  return answerOf((wasm, { json, bytes }, tokenizer) => wasm.call(name, json, bytes, tokenizer), request);
}

type Raw = Parameters<Parameters<typeof call>[0]>[0];

/**
 * The same with a call of one's own, a method of a handle say. `field` is the field of the request that a tokenizer is looked
 * for in, where it is not the request itself.
 */
export function answerOf(
  run: (wasm: Raw, request: Request, tokenizer: OwnTokenizer | undefined) => unknown,
  request: unknown,
  field?: string,
): unknown {
  return fromAnswer(rawAnswerOf(run, request, field));
}

/** The same with what the call gives as it is. */
export function rawAnswerOf<T>(
  run: (wasm: Raw, request: Request, tokenizer: OwnTokenizer | undefined) => T,
  request: unknown,
  field?: string,
): T {
  const options = field === undefined ? request : (request as Record<string, unknown>)[field];
  const tokenizer = ownTokenizer(options);
  if (tokenizer) {
    const plain = { ...(options as object), tokenizer: {} };
    request = field === undefined ? plain : { ...(request as object), [field]: plain };
  }
  const crossing = toRequest(request);
  return call((wasm) => run(wasm, crossing, tokenizer));
}

/** Calls a function whose request may be the bytes of its JSON; these cross as they are. */
export function callJsonOrBytes(name: string, request: unknown): unknown {
  const json = asBytes(request);
  return json ? fromAnswer(call((wasm) => wasm.call(name, json, [], undefined))) : callJson(name, request);
}

/**
 * A result as the wasm gives it: JSON text, or a list of JSON text and bytes, which are fields of the result or, without any
 * text, the result itself. `null` stands for nothing.
 */
export function fromAnswer(answer: unknown): unknown {
  if (!Array.isArray(answer)) return (JSON.parse(answer as string) as unknown) ?? undefined;
  const [text, ...bytes] = answer as [string, ...Uint8Array[]];
  if (text === "") return bytes[0];
  const result = JSON.parse(text) as Record<string, unknown>;
  for (const [key, value] of Object.entries(result)) {
    const at = (value as { "\0bytes"?: number } | null)?.["\0bytes"];
    if (at !== undefined) result[key] = bytes[at];
  }
  return result;
}

function ownTokenizer(request: unknown): OwnTokenizer | undefined {
  try {
    const tokenizer = (request as { tokenizer?: unknown } | null | undefined)?.tokenizer;
    const own = typeof tokenizer === "object" && typeof (tokenizer as OwnTokenizer | null)?.count === "function";
    return own ? (tokenizer as OwnTokenizer) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `JSON.stringify` keeps all of it. */
function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > TOO_DEEP) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isJson(item, depth + 1)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  for (const key in value) if (!isJson((value as Record<string, unknown>)[key], depth + 1)) return false;
  return true;
}

/** A copy that `JSON.stringify` keeps all of. */
function marked(value: unknown, path: string, within: object[], bytes: Uint8Array[]): unknown {
  const mark = (what: string): object => ({ "\0": what });
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? value : mark(String(value));
    case "bigint":
      return mark("a BigInt");
    case "function":
      return mark("a function");
    case "symbol":
      return mark("a symbol");
    case "object":
      break;
    default:
      return value;
  }
  if (value === null) return null;
  if (within.includes(value)) return mark("a cycle");
  if (within.length > TOO_DEEP) return null;
  const view = asBytes(value);
  if (view) return { "\0bytes": bytes.push(view) - 1 };
  if (value instanceof Map) return mark("a Map");
  if (value instanceof Set) return mark("a Set");
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? mark("an invalid Date") : value.toISOString();
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  const inner = [...within, value];
  const asked = <T>(at: string, get: () => T): T => {
    try {
      return get();
    } catch (cause) {
      const place = at === "" ? "the request" : `\`${at}\``;
      throw new CtxweaveError(
        "invalid_input",
        `${place} cannot be read: asking for it threw: ${reasonOf(cause)}`,
        at === "" ? {} : { path: at },
        { cause },
      );
    }
  };
  const toJson = asked(path, () => (value as { toJSON?: unknown }).toJSON);
  if (typeof toJson === "function") {
    const plain: unknown = asked(path, () => toJson.call(value, "") as unknown);
    return plain === value ? mark("an object whose `toJSON` gives itself") : marked(plain, path, inner, bytes);
  }
  if (asked(path, () => Array.isArray(value))) {
    const list = value as unknown[];
    return Array.from({ length: asked(path, () => list.length) }, (_, index) => {
      const at = `${path}[${index}]`;
      return marked(
        asked(at, () => list[index]),
        at,
        inner,
        bytes,
      );
    });
  }
  // Without a prototype, so that a key `__proto__` is one as any other.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of asked(path, () => Object.keys(value))) {
    const at = path === "" ? key : `${path}.${key}`;
    copy[key] = marked(
      asked(at, () => (value as Record<string, unknown>)[key]),
      at,
      inner,
      bytes,
    );
  }
  return copy;
}
