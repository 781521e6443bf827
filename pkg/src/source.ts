/** What bytes can be had from, for the wasm and for the vocabularies. */

/** Gives the bytes of a file at a `file:` address, at once where it can; only where there are files. */
export type ReadFile = (address: URL) => Bytes | Promise<Bytes>;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Whether it is one. Node.js loads all of `fetch` when `Request` or `Response` is only looked at, which takes longer than
 * anything else here: whoever asks rules out first what can be told without them.
 */
export function isAddress(source: unknown): source is string | URL | Request {
  return (
    typeof source === "string" || source instanceof URL || (typeof Request === "function" && source instanceof Request)
  );
}

/** The address, when it is that of a file. */
export function asFile(source: string | URL | Request): URL | undefined {
  const text = source instanceof URL ? source.href : typeof source === "string" ? source : source.url;
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

/** The commonest mistake of all: a web server that answers every request it does not know with its page. */
export function looksLikeHtml(bytes: Uint8Array): boolean {
  const start = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().toLowerCase();
  return start.startsWith("<!do") || start.startsWith("<html") || start.startsWith("<!--");
}

/** What went wrong, in words. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
