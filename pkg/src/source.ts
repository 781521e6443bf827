/** What bytes can be had from, for the wasm and for the vocabularies. */

import { decoderOf } from "./coders.js";
import { CtxweaveError } from "./error.js";
import type { PlatformRequest, PlatformUrl, WasmModule } from "./types/platform.js";
import { unpack } from "./unpack.js";

/** Gives the bytes of a file at a `file:` address, at once where it can; only where there are files. */
export type ReadFile = (address: PlatformUrl) => Bytes | Promise<Bytes>;

type Bytes = Uint8Array<ArrayBuffer>;

/** A file of the package inside JavaScript. */
export type Packed = () => Promise<{ packed: string }>;

/** Where a file of the package is when the caller does not say. */
export interface Standard<Source> {
  /** The file itself. Throws where the code cannot tell where it is. */
  file: () => Source;
  /** The same inside JavaScript, for where the file does not come. */
  packed?: Packed | undefined;
  /** Reads files; only where there are files. */
  readFile?: ReadFile | undefined;
}

/**
 * The address of a file beside the code at `base`. Not `new URL("./name", import.meta.url)`, which bundlers for servers make a
 * public address of, and not before somebody asks: in CommonJS that a bundler wrote, `base` is undefined.
 */
export function beside(base: string, name: string): PlatformUrl {
  return new URL(base.slice(0, base.lastIndexOf("/") + 1) + name);
}

/** What went wrong when there simply was no such file: nobody brought it along, or the code no longer stands beside it. */
const MISSING = ["html", "http_status", "no_address", "not_fetched", "not_readable", "not_wasm"];

/** What `bring` gives; where the file does not come, what `take` makes of the packed bytes. */
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
    // Where that cannot be had either, what is wrong with the file says more.
    const bytes = await packed().then(
      (module) => unpack(module.packed),
      () => undefined,
    );
    if (!bytes) throw failure;
    return take(bytes);
  }
}

/**
 * Whether it is one. Node.js loads all of `fetch` when `Request` or `Response` is only looked at, which takes longer than
 * anything else here: whoever asks rules out first what can be told without them.
 */
export function isAddress(source: unknown): source is string | PlatformUrl | PlatformRequest {
  return typeof source === "string" || isUrl(source) || (typeof Request === "function" && source instanceof Request);
}

/** Not `instanceof`: in Jest's jsdom a URL of Node's is one of another realm. */
function isUrl(source: unknown): source is PlatformUrl {
  return Object.prototype.toString.call(source) === "[object URL]";
}

/** The address, when it is that of a file. */
export function asFile(source: string | PlatformUrl | PlatformRequest): PlatformUrl | undefined {
  const text = typeof source === "string" ? source : isUrl(source) ? source.href : source.url;
  return text.startsWith("file:") ? new URL(text) : undefined;
}

/** The bytes that a buffer or a view holds. */
export function asBytes(source: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (source instanceof Uint8Array) return source as Uint8Array<ArrayBuffer>;
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
  }
  // Not `instanceof`: the buffer may come from another realm (an iframe, a test runner's sandbox).
  if (Object.prototype.toString.call(source) === "[object ArrayBuffer]") return new Uint8Array(source as ArrayBuffer);
  return undefined;
}

/**
 * The compiled module that it is. Next's edge runtime compiles modules in another realm; such a one becomes one of ours, which
 * the glue asks for.
 */
export function asModule(source: unknown): WasmModule | undefined {
  if (source instanceof WebAssembly.Module) return source;
  if (Object.prototype.toString.call(source) !== "[object WebAssembly.Module]") return undefined;
  return Object.setPrototypeOf(source, WebAssembly.Module.prototype) as WasmModule;
}

/** The commonest mistake of all: a web server that answers every request it does not know with its page. */
export function looksLikeHtml(bytes: Uint8Array): boolean {
  const start = decoderOf("utf-8").decode(bytes.subarray(0, 64)).trimStart().toLowerCase();
  return start.startsWith("<!do") || start.startsWith("<html") || start.startsWith("<!--");
}

/** What went wrong, in words. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
