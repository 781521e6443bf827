/** Reading files, for Node, Bun and Deno. */

import type * as FileSystem from "node:fs";

/**
 * The bytes of a file: those that were read, and no copy of them. They are read at once, as the code itself is: handing a
 * file of a megabyte to a thread takes longer than reading it.
 */
export async function readFile(address: URL): Promise<Uint8Array<ArrayBuffer>> {
  const { buffer, byteOffset, length } = (await fileSystem()).readFileSync(address);
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, length);
}

/**
 * Importing it makes Node load all that it refers to, which takes milliseconds, so it is asked for what is there already.
 * Versions before 20.16 cannot be asked.
 */
async function fileSystem(): Promise<typeof FileSystem> {
  return globalThis.process?.getBuiltinModule?.("node:fs") ?? (await import("node:fs"));
}
