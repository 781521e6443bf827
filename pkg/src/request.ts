/** Requests to the wasm module: JSON text, and the values that JSON cannot carry next to it. */

import { utf8 } from "./coders.js";
import { type CustomCounter, observed } from "./counter.js";
import { MAX_LIST_ITEMS, tooLarge } from "./sizes.js";
import { asBytes, guarded } from "./source.js";

/** A request as it crosses into the module. */
export interface Request {
  /**
   * JSON in UTF-8, with long texts unescaped. May be a view of a reused buffer: valid until the next request is
   * written.
   */
  json: Uint8Array;
  /** The bytes that the JSON refers to by index. */
  bytes: Uint8Array[] | undefined;
  /** The caller's tokenizer; the JSON has an empty object in its place. */
  counter: CustomCounter | undefined;
  /** Whether the JSON represents the arguments exactly, so that a response may refer to them. */
  isExact: boolean;
}

/** How to write binary data that does not cross next to the JSON. */
export type Binary = "base64" | "sizes";

/** Above the depth limits of the module, which rejects such requests. */
const MAX_DEPTH = 300;

/** Texts of at least this length cross unescaped: escaping them and reading the escapes would dominate the call. */
const MIN_RAW_TEXT_UNITS = 64;

/**
 * Marks such a text. As the first byte it marks a request that may contain some; src/json/tape.rs defines the format.
 */
const TEXT = 1;

/** Maximum size of a request. */
const MAX_REQUEST_BYTES = 2 ** 29;

/** Most requests are smaller. */
const SHORT_REQUEST_BYTES = 2 ** 16;

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Buffer for short requests. The wasm copies a request before the next one is written. */
let short: Uint8Array | undefined;

/** Length of the last long request, at most 16 MiB: the next one usually has about the same. */
let lastLength = 0;

/** Writes a request; rejects values that are not JSON. */
class RequestWriter {
  #bytes: Uint8Array;
  #at = 1;

  constructor() {
    // A getter may make another request while this one is written.
    this.#bytes = short ?? new Uint8Array(SHORT_REQUEST_BYTES);
    short = undefined;
    this.#bytes[0] = TEXT;
  }

  /** The written bytes. */
  close(): Uint8Array {
    if (this.#bytes.length === SHORT_REQUEST_BYTES) short = this.#bytes;
    else lastLength = Math.min(this.#at, 2 ** 24);
    return this.#bytes.subarray(0, this.#at);
  }

  /** Writes a value; returns false if `JSON.stringify` would not keep all of it. */
  value(value: unknown, depth: number): boolean {
    switch (typeof value) {
      case "string":
        this.#text(value);
        return true;
      case "number":
        if (!Number.isFinite(value)) return false;
        this.#ascii(String(value));
        return true;
      case "boolean":
        this.#ascii(value ? "true" : "false");
        return true;
      case "undefined":
        this.#ascii("null");
        return true;
      case "object":
        break;
      default:
        return false;
    }
    if (value === null) {
      this.#ascii("null");
      return true;
    }
    if (depth > MAX_DEPTH) return false;
    return Array.isArray(value) ? this.#list(value, depth) : this.#object(value as Record<string, unknown>, depth);
  }

  #list(list: unknown[], depth: number): boolean {
    if (list.length > MAX_LIST_ITEMS) return false;
    this.#byte(OPEN_LIST);
    for (let at = 0; at < list.length; at += 1) {
      if (at > 0) this.#byte(COMMA);
      if (!this.value(list[at], depth + 1)) return false;
    }
    this.#byte(CLOSE_LIST);
    return true;
  }

  #object(object: Record<string, unknown>, depth: number): boolean {
    const prototype: unknown = Object.getPrototypeOf(object);
    if (prototype !== Object.prototype && prototype !== null) return false;
    if (typeof object["toJSON"] === "function") return false;
    let before = OPEN_OBJECT;
    // Twice as fast as a list of the keys. `writeRequest` handles properties that all objects inherit.
    for (const key in object) {
      const value = object[key];
      if (value === undefined) continue;
      this.#byte(before);
      this.#quoted(key);
      this.#byte(COLON);
      if (!this.value(value, depth + 1)) return false;
      before = COMMA;
    }
    if (before === OPEN_OBJECT) this.#byte(before);
    this.#byte(CLOSE_OBJECT);
    return true;
  }

  #text(text: string): void {
    // Only JSON can carry lone surrogates. Runtimes from before 2023 cannot detect them.
    const { isWellFormed } = text as { isWellFormed?: () => boolean };
    if (text.length < MIN_RAW_TEXT_UNITS || isWellFormed?.call(text) !== true) {
      this.#quoted(text);
      return;
    }
    this.#reserve(text.length + 6);
    const begin = this.#at;
    this.#at += 6;
    const length = this.#encoded(text);
    this.#bytes[begin] = TEXT;
    for (let digit = 0; digit < 5; digit += 1) this.#bytes[begin + 1 + digit] = (length >>> (7 * digit)) & 127;
  }

  /** Writes a string in quotes. Most strings are short and need no escapes. */
  #quoted(text: string): void {
    const length = text.length;
    this.#reserve(length + 2);
    const bytes = this.#bytes;
    let to = this.#at;
    bytes[to++] = QUOTE;
    for (let at = 0; at < length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit < 32 || unit > 126 || unit === QUOTE || unit === BACKSLASH) {
        this.#encoded(JSON.stringify(text));
        return;
      }
      bytes[to++] = unit;
    }
    bytes[to++] = QUOTE;
    this.#at = to;
  }

  #ascii(json: string): void {
    for (let at = 0; at < json.length; at += 1) this.#byte(json.charCodeAt(at));
  }

  #byte(byte: number): void {
    if (this.#at === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.#at++] = byte;
  }

  /** Writes a text as UTF-8; returns its length. Writing into existing bytes takes a third of the time of `encode`. */
  #encoded(text: string): number {
    const encoder = utf8();
    const begin = this.#at;
    const { read, written } = encoder.encodeInto(text, this.#bytes.subarray(begin));
    this.#at += written;
    if (read < text.length) {
      this.#reserve(3 * (text.length - read));
      this.#at += encoder.encodeInto(text.slice(read), this.#bytes.subarray(this.#at)).written;
    }
    return this.#at - begin;
  }

  #reserve(length: number): void {
    const needed = this.#at + length;
    if (needed <= this.#bytes.length) return;
    if (needed > MAX_REQUEST_BYTES) throw tooLarge("the request", needed, MAX_REQUEST_BYTES);
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length, lastLength + (lastLength >> 6)));
    larger.set(this.#bytes.subarray(0, this.#at));
    if (this.#bytes.length === SHORT_REQUEST_BYTES) short = this.#bytes;
    this.#bytes = larger;
  }
}

/**
 * Writes a request. Bytes and a custom tokenizer go next to the JSON. Values that JSON would drop or change (NaN,
 * functions, a `Map`) are marked, so that the module can name the field if it needs a value there. With `sizes` only
 * the size of binary data crosses; with `base64` it crosses as text.
 *
 * @throws {CtxweaveError} `invalid_input` if reading a value runs the caller's code and that throws
 */
export function writeRequest(args: unknown, binary?: Binary): Request {
  const [counter, plain] = splitCounter(args);
  const bytes: ByteFields = [];
  let writer = new RequestWriter();
  let isExact = false;
  try {
    isExact = !allInherit() && writer.value(plain, 0);
  } catch {
    // The slow path below reports whose getter threw.
  }
  if (!isExact) {
    writer.close();
    const copy = marked(plain, "", [], binary ?? bytes);
    writer = new RequestWriter();
    writer.value(copy, 0);
  }
  // Values read later may have run code that transferred these buffers.
  const views = bytes.map(({ view, path }) => asBytes(view, path) as Uint8Array);
  return { json: writer.close(), bytes: views.length > 0 ? views : undefined, counter, isExact };
}

/** Returns the custom tokenizer of a request or of its options, and the request with an empty object in its place. */
function splitCounter(args: unknown): [CustomCounter | undefined, unknown] {
  const isCustom = (tokenizer: unknown): tokenizer is CustomCounter =>
    typeof tokenizer === "object" && typeof (tokenizer as CustomCounter | null)?.count === "function";
  try {
    const { tokenizer, options } = args as { tokenizer?: unknown; options?: { tokenizer?: unknown } };
    if (isCustom(tokenizer)) return [observed(tokenizer), { ...(args as object), tokenizer: {} }];
    if (!isCustom(options?.tokenizer)) return [undefined, args];
    return [observed(options.tokenizer), { ...(args as object), options: { ...options, tokenizer: {} } }];
  } catch {
    // `writeRequest` reports whose getter threw.
    return [undefined, args];
  }
}

/** The bytes that go next to a request, with their paths in it. */
type ByteFields = { view: Uint8Array; path: string }[];

/** Whether all objects inherit an enumerable property. */
function allInherit(): boolean {
  for (const _ in Object.prototype) return true;
  return false;
}

/** Returns a copy that `JSON.stringify` keeps completely. */
function marked(value: unknown, path: string, within: object[], bytes: ByteFields | Binary): unknown {
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
  if (within.length > MAX_DEPTH) return null;
  const view = asBytes(value, path);
  if (typeof bytes === "string") {
    if (view && bytes === "base64") return base64(view);
    const size = view?.length ?? sizeOfBlob(value);
    const head = view && headOf(view);
    if (size !== undefined) return { "\0size": size, ...(head && { "\0head": base64(head) }) };
  } else if (view) return { "\0bytes": bytes.push({ view, path }) - 1 };
  // A `Proxy`, or an object that has only the prototype of bytes. Read as a plain object it may have millions of keys.
  if (!view && guarded(path, () => value instanceof Uint8Array)) return mark("an object that only looks like bytes");
  if (value instanceof Map) return mark("a Map");
  if (value instanceof Set) return mark("a Set");
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? mark("an invalid Date") : value.toISOString();
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  const inner = [...within, value];
  const toJson = guarded(path, () => (value as { toJSON?: unknown }).toJSON);
  if (typeof toJson === "function") {
    const plain: unknown = guarded(path, () => toJson.call(value, "") as unknown);
    return plain === value ? mark("an object whose `toJSON` returns itself") : marked(plain, path, inner, bytes);
  }
  if (guarded(path, () => Array.isArray(value))) {
    const list = value as unknown[];
    const length = guarded(path, () => list.length);
    if (length > MAX_LIST_ITEMS) throw tooLarge(path === "" ? "the request" : `\`${path}\``, length, MAX_LIST_ITEMS);
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
  // Without a prototype, so that `__proto__` is an ordinary key.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of guarded(path, () => fieldsOf(value))) {
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

/**
 * The fields of an object: its own, and the accessors of its class, with which some database libraries define their
 * columns. Accessors whose name begins with `_` or `$` are the library's.
 */
export function fieldsOf(value: object): Iterable<string> {
  const names = new Set(Object.keys(value));
  const next = (object: object): object | null => Object.getPrototypeOf(object) as object | null;
  for (let from = next(value); from !== null && next(from) !== null; from = next(from)) {
    // A class of the platform, such as `Blob`: its accessors describe no data of the caller.
    if (Object.hasOwn(from, Symbol.toStringTag)) break;
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
      if (get && !/^[_$]/.test(name)) names.add(name);
    }
  }
  return names;
}

/** The true size of a `Blob`, whatever its properties claim; undefined for anything else. */
function sizeOfBlob(value: object): number | undefined {
  if (typeof Blob !== "function" || ArrayBuffer.isView(value)) return undefined;
  try {
    return value instanceof Blob ? (sizeGetter(Blob.prototype)?.call(value) as number) : undefined;
  } catch {
    // A `Proxy`, or an object that has only the prototype of a `Blob`.
    return undefined;
  }
}

function sizeGetter(prototype: object): ((this: unknown) => unknown) | undefined {
  return Object.getOwnPropertyDescriptor(prototype, "size")?.get;
}

/** The part of an image that contains its dimensions: a JPEG has them after its metadata. */
function headOf(bytes: Uint8Array): Uint8Array | undefined {
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8;
  const isOther = ["\x89PNG", "GIF8", "RIFF"].some((magic) =>
    Array.from(magic, (char) => char.charCodeAt(0)).every((byte, at) => bytes[at] === byte),
  );
  return isJpeg || isOther ? bytes.subarray(0, isJpeg ? 2 ** 17 : 2 ** 6) : undefined;
}

function base64(bytes: Uint8Array): string {
  let text = "";
  // The number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 2 ** 13) text += String.fromCharCode(...bytes.subarray(at, at + 2 ** 13));
  return btoa(text);
}
