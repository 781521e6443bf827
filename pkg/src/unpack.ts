/** Bytes inside the JavaScript. */

/** The bytes that base64 of a gzipped file stands for. */
export async function unpack(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
