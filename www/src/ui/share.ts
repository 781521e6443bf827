/** Documents in links: JSON, compressed, encoded for an address. */

/** Many programs reject longer links. */
export const LONGEST_LINK = 30_000;

/** Writes bytes that are text as text, which is equivalent to read; others as a marked list. */
export function plain(_: string, value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    return { $bytes: [...value] };
  }
}

function revived(_: string, value: unknown): unknown {
  const bytes = (value as { $bytes?: number[] } | null)?.$bytes;
  return Array.isArray(bytes) ? Uint8Array.from(bytes) : value;
}

async function through(bytes: BlobPart, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function pack(content: unknown): Promise<string> {
  const bytes = await through(JSON.stringify(content, plain), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Restores the value given to `pack`. Throws if the text is incomplete. */
export async function unpack(text: string): Promise<unknown> {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))), revived);
}
