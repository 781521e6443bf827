/** Requests on their way into the wasm: JSON text, and beside it what JSON cannot carry. */

import { CtxweaveError } from "./error.js";
import { call, reasonOf } from "./runtime.js";
import { asBytes } from "./source.js";

/** A request as it crosses: JSON in UTF-8, and the bytes that it refers to by their place in the list. */
export interface Request {
  /** Good until the next request is made: it may be a view of a buffer that is used again. */
  json: Uint8Array;
  bytes: Uint8Array[];
  /** Whether the JSON says just what the object holds, so that a result may refer to that. */
  isExact: boolean;
}

/** Deeper than any request may be: the wasm refuses what is nested so deep. */
const TOO_DEEP = 300;

/** More than any list may have. A `length` costs nothing to claim, and to look at each item of it may take minutes. */
const MOST_ITEMS = 2 ** 24;

let encoder: TextEncoder | undefined;

/** Where short texts are encoded; they are copied into the wasm before there is a next one. */
const short = new Uint8Array(2 ** 16);

/** The text as UTF-8. It is written into bytes that are there already, which takes a third of the time of `encode`. */
function utf8(text: string): Uint8Array {
  encoder ??= new TextEncoder();
  const length = text.length + (text.length >> 3);
  let bytes = length <= short.length ? short : new Uint8Array(length);
  let { read, written } = encoder.encodeInto(text, bytes);
  if (read < text.length) {
    const all = new Uint8Array(written + 3 * (text.length - read));
    all.set(bytes.subarray(0, written));
    written += encoder.encodeInto(text.slice(read), all.subarray(written)).written;
    bytes = all;
  }
  return bytes.subarray(0, written);
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
  const isExact = text !== undefined;
  if (text === undefined) {
    const copy = marked(value, "", [], bytes);
    try {
      text = JSON.stringify(copy) as string | undefined;
    } catch (cause) {
      // No string is that long.
      throw tooLarge("the request", Infinity, 2 ** 29, { cause });
    }
  }
  return { json: utf8(text ?? "null"), bytes, isExact };
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

/** The same with a call of one's own, a method of a handle say; the options may also be the field `options` of the request. */
export function answerOf(
  run: (wasm: Raw, request: Request, tokenizer: OwnTokenizer | undefined) => unknown,
  request: unknown,
): unknown {
  return fromAnswer(rawAnswerOf(run, request));
}

/** The same with what the call gives as it is. */
export function rawAnswerOf(
  run: (wasm: Raw, request: Request, tokenizer: OwnTokenizer | undefined) => unknown,
  request: unknown,
): unknown {
  const tokenizer = ownTokenizer(request);
  const crossing = toRequest(tokenizer ? { ...(request as object), tokenizer: {} } : request);
  return call((wasm) => run(wasm, crossing, tokenizer));
}

/** Calls a function whose request may be the bytes of its JSON; these cross as they are. */
export function callJsonOrBytes(name: string, request: unknown): unknown {
  const json = asBytes(request);
  return json ? fromAnswer(call((wasm) => wasm.call(name, json, [], undefined))) : callJson(name, request);
}

/**
 * A result as the wasm gives it: JSON text, or a list of JSON text and the bytes that it refers to as `{ "\0bytes": 0 }`,
 * or that are the result where there is no text. `null` stands for nothing.
 */
export function fromAnswer(answer: unknown): unknown {
  if (!Array.isArray(answer)) return (JSON.parse(answer as string) as unknown) ?? undefined;
  const [json, ...bytes] = answer as [string, ...Uint8Array[]];
  if (json === "") return bytes[0];
  return JSON.parse(json, (_, value: unknown) => {
    const at = typeof value === "object" && value !== null ? (value as { "\0bytes"?: number })["\0bytes"] : undefined;
    return at === undefined ? value : bytes[at];
  }) as unknown;
}

function tooLarge(place: string, value: number, max: number, options?: ErrorOptions): CtxweaveError {
  const message = `${place} is too large; make it smaller`;
  return new CtxweaveError("limit_exceeded", message, { limit: "inputBytes", value, max }, options);
}

function ownTokenizer(request: unknown): OwnTokenizer | undefined {
  try {
    const { tokenizer, options } = request as { tokenizer?: unknown; options?: { tokenizer?: unknown } };
    const given = (tokenizer ?? options?.tokenizer) as OwnTokenizer | null | undefined;
    return typeof given === "object" && typeof given?.count === "function" ? given : undefined;
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
    if (value.length > MOST_ITEMS) return false;
    for (let at = 0; at < value.length; at += 1) if (!isJson(value[at], depth + 1)) return false;
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
  const guarded = <T>(at: string, get: () => T): T => {
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
  const view = guarded(path, () => asBytes(value));
  if (view) return { "\0bytes": bytes.push(view) - 1 };
  if (value instanceof Map) return mark("a Map");
  if (value instanceof Set) return mark("a Set");
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? mark("an invalid Date") : value.toISOString();
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  const inner = [...within, value];
  const toJson = guarded(path, () => (value as { toJSON?: unknown }).toJSON);
  if (typeof toJson === "function") {
    const plain: unknown = guarded(path, () => toJson.call(value, "") as unknown);
    return plain === value ? mark("an object whose `toJSON` gives itself") : marked(plain, path, inner, bytes);
  }
  if (guarded(path, () => Array.isArray(value))) {
    const list = value as unknown[];
    const length = guarded(path, () => list.length);
    if (length > MOST_ITEMS) throw tooLarge(path === "" ? "the request" : `\`${path}\``, length, MOST_ITEMS);
    return Array.from({ length }, (_, index) => {
      const at = `${path}[${index}]`;
      return marked(
        guarded(at, () => list[index]),
        at,
        inner,
        bytes,
      );
    });
  }
  // Without a prototype, so that a key `__proto__` is one as any other.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of guarded(path, () => Object.keys(value))) {
    const at = path === "" ? key : `${path}.${key}`;
    copy[key] = marked(
      guarded(at, () => (value as Record<string, unknown>)[key]),
      at,
      inner,
      bytes,
    );
  }
  return copy;
}
