/** Bytes inside the JavaScript. */

/** The bytes that base64 of a gzipped file stands for. */
export async function unpack(base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) packed[at] = text.charCodeAt(at);
  // Where it is there, zlib takes half the time, and streams would make Node.js load all of `fetch`.
  const zlib = globalThis.process?.getBuiltinModule?.("node:zlib");
  if (zlib) return new Uint8Array(zlib.gunzipSync(packed));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
