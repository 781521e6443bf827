/** Bytes inside the JavaScript. */

/** The bytes that base64 of a gzipped file stands for. */
export async function unpack(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = bytesOf(base64);
  // Where it is there, zlib takes half the time, and streams would make Node.js load all of `fetch`.
  const zlib = globalThis.process?.getBuiltinModule?.("node:zlib");
  if (zlib) return new Uint8Array(zlib.gunzipSync(packed));
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
