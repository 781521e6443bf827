/** Content in a link: JSON, compressed, in the letters that an address takes. */

/** A longer link is refused by too many programs that it would go through. */
export const LONGEST_LINK = 30_000;

/** Bytes that are text are written as text, which is read as the same; others in a list of their own. */
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

/** What `pack` was given. Throws where it is not whole. */
export async function unpack(text: string): Promise<unknown> {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))), revived);
}
