/** Sources of bytes, for the wasm and for the vocabularies. */

import { decoderOf } from "./coders.js";
import { CtxweaveError } from "./error.js";
import type { PlatformRequest, PlatformUrl, WasmModule } from "./types/platform.js";

/** Reads the bytes of a file at a `file:` address, synchronously if possible. Only in runtimes with a file system. */
export type ReadFile = (address: PlatformUrl) => Bytes | Promise<Bytes>;

type Bytes = Uint8Array<ArrayBuffer>;

/** A file of the package inside JavaScript. */
export type Packed = () => Promise<{ packed: string }>;

/** Location of a file of the package if the caller gives none. */
export interface Standard<Source> {
  /** Returns the file. Throws if its location is unknown. */
  file: () => Source;
  /** The same file inside JavaScript, as the fallback. */
  packed?: Packed | undefined;
  /** Reads files; only in runtimes with a file system. */
  readFile?: ReadFile | undefined;
}

/**
 * The address of a file next to the code at `base`. Not `new URL("./name", import.meta.url)`, which bundlers for
 * servers turn into a public address. Evaluated lazily, because `base` is undefined in CommonJS that a bundler wrote.
 */
export function beside(base: string, name: string): PlatformUrl {
  return new URL(base.slice(0, base.lastIndexOf("/") + 1) + name);
}

/** Reasons that mean the file is missing: it was not deployed, or the code was moved away from it. */
const MISSING = ["html", "http_status", "no_address", "not_fetched", "not_readable", "not_wasm"];

/** Returns the result of `bring`; if the file is missing, the result of `take` with the packed bytes. */
export async function fromFileOrPacked<T>(
  bring: () => Promise<T>,
  packed: Packed | undefined,
  take: (bytes: Bytes) => T | Promise<T>,
): Promise<T> {
  try {
    return await bring();
  } catch (failure) {
    const isMissing =
      failure instanceof CtxweaveError && MISSING.includes((failure.details as { reason?: string }).reason ?? "");
    if (!packed || !isMissing) throw failure;
    // If the packed form is missing as well, the reason for the file is more useful.
    const bytes = await packed().then(
      (module) => unpack(module.packed),
      () => undefined,
    );
    if (!bytes) throw failure;
    return take(bytes);
  }
}

/** Unpacks the bytes from base64 of a gzipped file. */
export async function unpack(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = bytesOf(base64);
  // If available, zlib takes half the time, and streams would make Node.js load all of `fetch`.
  const zlib = globalThis.process?.getBuiltinModule?.("node:zlib");
  if (zlib) return new Uint8Array(zlib.gunzipSync(packed));
  if (typeof DecompressionStream !== "function") {
    throw new CtxweaveError(
      "wasm_unavailable",
      "this runtime has no `DecompressionStream` to unpack the module with; pass the bytes of `ctxweave.wasm` to `init`",
      { missing: "DecompressionStream" },
    );
  }
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as { fromBase64?(text: string): Uint8Array<ArrayBuffer> };
  if (fromBase64) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/**
 * Whether `source` is an address. Node.js loads all of `fetch` as soon as `Request` or `Response` is accessed, which
 * dominates the load time: callers rule out other kinds first.
 */
export function isAddress(source: unknown): source is string | PlatformUrl | PlatformRequest {
  return typeof source === "string" || isUrl(source) || isA(source, () => Request);
}

/** Not `instanceof`: in Jest's jsdom a Node URL belongs to another realm. */
function isUrl(source: unknown): source is PlatformUrl {
  return tagOf(source) === "[object URL]";
}

/** Whether `source` is an instance of a class that this runtime may lack; false if reading it throws. */
export function isA<T>(source: unknown, classOf: () => abstract new (...args: never) => T): source is T {
  try {
    return source instanceof classOf();
  } catch {
    // The class is missing, or the caller's `Proxy` threw.
    return false;
  }
}

/** The tag of a value; empty if reading it throws. */
function tagOf(value: unknown): string {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return "";
  }
}

/** The URL, if it has the `file:` scheme. */
export function asFile(source: string | PlatformUrl | PlatformRequest): PlatformUrl | undefined {
  const text = typeof source === "string" ? source : isUrl(source) ? source.href : source.url;
  return text.startsWith("file:") ? new URL(text) : undefined;
}

// A subclass, a property or a `Proxy` can make a value claim anything; only the platform's getters are reliable.
const ofViews = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;
const nameOfView = getterOf<string | undefined>(ofViews, Symbol.toStringTag);
const [ofTypedArray, ofDataView] = [ofViews, DataView.prototype].map((prototype) => ({
  buffer: getterOf<ArrayBuffer>(prototype, "buffer"),
  byteOffset: getterOf<number>(prototype, "byteOffset"),
  byteLength: getterOf<number>(prototype, "byteLength"),
})) as [ViewGetters, ViewGetters];
const [sizeOfBuffer, isResizable] = ["byteLength", "resizable"].map((name) =>
  getterOf<unknown>(ArrayBuffer.prototype, name),
) as [Getter<unknown>, Getter<unknown>];

type Getter<T> = (value: unknown) => T | undefined;

interface ViewGetters {
  buffer: Getter<ArrayBuffer>;
  byteOffset: Getter<number>;
  byteLength: Getter<number>;
}

/** A getter of a class, applied safely: undefined if the class does not have it or the value is not an instance. */
function getterOf<T>(prototype: object, name: PropertyKey): Getter<T> {
  const getter = Object.getOwnPropertyDescriptor(prototype, name)?.get as ((this: unknown) => T) | undefined;
  return (value) => {
    try {
      return getter?.call(value);
    } catch {
      return undefined;
    }
  };
}

/**
 * The bytes of a buffer or a view, as a plain `Uint8Array` over them; undefined for anything else. Shared or resizable
 * memory is copied, because it may change while it is read. Errors refer to the value as `path`.
 *
 * @throws {CtxweaveError} `invalid_input` for a detached buffer, or for a view that exceeds its buffer
 */
export function asBytes(source: unknown, path: string): Uint8Array<ArrayBuffer> | undefined {
  if (typeof source !== "object" || source === null) return undefined;
  if (!ArrayBuffer.isView(source)) return isBuffer(source) ? bytesIn(source, 0, undefined, path) : undefined;
  const getters = nameOfView(source) === undefined ? ofDataView : ofTypedArray;
  // A view has a buffer even if that is detached.
  const buffer = getters.buffer(source) as ArrayBuffer;
  const length = getters.byteLength(source);
  if (length === undefined || (length === 0 && getters === ofTypedArray && !canBeRead(source))) {
    // A detached buffer has no views.
    bytesIn(buffer, 0, 0, path);
    throw unreadable(path, "is out of bounds: its buffer was made smaller; pass a view of the remaining bytes");
  }
  return bytesIn(buffer, getters.byteOffset(source) ?? 0, length, path);
}

/** The numbers of a `Uint32Array`, as a plain one; undefined for anything else. */
export function asUint32(source: unknown, path: string): Uint32Array<ArrayBuffer> | undefined {
  if (nameOfView(source) !== "Uint32Array") return undefined;
  const bytes = asBytes(source, path);
  return bytes && new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / Uint32Array.BYTES_PER_ELEMENT);
}

function isBuffer(source: object): source is ArrayBuffer {
  try {
    // Not `instanceof` alone: the buffer may come from another realm (an iframe, a test runner's sandbox).
    const tag = source instanceof ArrayBuffer ? "[object ArrayBuffer]" : tagOf(source);
    if (tag === "[object ArrayBuffer]") return sizeOfBuffer(source) !== undefined;
    return tag === "[object SharedArrayBuffer]" && isShared(source);
  } catch {
    // The caller's code threw, and will throw again when the value is read.
    return false;
  }
}

function isShared(buffer: unknown): boolean {
  if (typeof SharedArrayBuffer !== "function") return false;
  return getterOf(SharedArrayBuffer.prototype, "byteLength")(buffer) !== undefined;
}

/** Whether an empty view is in bounds: the methods of a view out of bounds throw. */
function canBeRead(view: unknown): boolean {
  try {
    ofViews.indexOf.call(view as Uint8Array, 0);
    return true;
  } catch {
    return false;
  }
}

function bytesIn(buffer: ArrayBuffer, at: number, length: number | undefined, path: string): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = length === undefined ? new Uint8Array(buffer) : new Uint8Array(buffer, at, length);
  } catch {
    throw unreadable(path, "is detached: its buffer was transferred; pass a copy, or transfer a copy");
  }
  if (sizeOfBuffer(buffer) !== undefined && isResizable(buffer) !== true) return bytes;
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy;
}

function unreadable(path: string, what: string): CtxweaveError {
  const place = path === "" ? "the request" : `\`${path}\``;
  return new CtxweaveError("invalid_input", `${place} ${what}`, path === "" ? {} : { path });
}

/**
 * The compiled module, if `source` is one. Next's edge runtime compiles modules in another realm; the glue requires one
 * of this realm.
 */
export function asModule(source: unknown): WasmModule | undefined {
  if (isA(source, () => WebAssembly.Module)) return source;
  if (tagOf(source) !== "[object WebAssembly.Module]") return undefined;
  return guarded("source", () => Object.setPrototypeOf(source, WebAssembly.Module.prototype) as WasmModule);
}

/** The most common mistake: a web server that answers every unknown request with its page. */
export function looksLikeHtml(bytes: Uint8Array): boolean {
  const start = decoderOf("utf-8").decode(bytes.subarray(0, 64)).trimStart().toLowerCase();
  return start.startsWith("<!do") || start.startsWith("<html") || start.startsWith("<!--");
}

/**
 * Reads the caller's data, which may run their code (getters, proxies).
 *
 * @throws {CtxweaveError} `invalid_input` with the path, and the thrown value as `cause`
 */
export function guarded<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof CtxweaveError) throw cause;
    const place = path === "" ? "the request" : `\`${path}\``;
    const message = `${place} cannot be read: reading it threw: ${reasonOf(cause)}`;
    throw new CtxweaveError("invalid_input", message, path === "" ? {} : { path }, { cause });
  }
}

/** Whether a value is an instance of a class. A revoked proxy is none. */
export function isInstance<T>(value: unknown, of: abstract new (...args: never) => T): value is T {
  try {
    return value instanceof of;
  } catch {
    return false;
  }
}

/** The reason in an error message. */
export function reasonOf(cause: unknown): string {
  try {
    return cause instanceof Error ? String(cause.message) : String(cause);
  } catch {
    // The caller's code threw something that has no text.
    return "a value without a text";
  }
}
