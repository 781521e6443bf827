/** Reading files, for Node, Bun and Deno. */

import { readFile as readBuffer } from "node:fs/promises";

/** The bytes of a file: those that were read, and no copy of them. */
export async function readFile(address: URL): Promise<Uint8Array<ArrayBuffer>> {
  const { buffer, byteOffset, length } = await readBuffer(address);
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, length);
}
