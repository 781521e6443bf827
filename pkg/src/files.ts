/** Reading files, for Node, Bun and Deno. */

import type * as FileSystem from "node:fs";

/**
 * Reads the bytes of a file. Reads synchronously, like the loader of the code itself: passing a file of a megabyte to a
 * thread takes longer than reading it.
 *
 * Importing `node:fs` makes Node load its dependencies, which takes milliseconds; `getBuiltinModule` returns the loaded
 * module instead. Versions before 20.16 do not have it.
 */
export function readFile(address: URL): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  const present = globalThis.process?.getBuiltinModule?.("node:fs");
  return present ? readNow(present, address) : import("node:fs").then((fileSystem) => readNow(fileSystem, address));
}

/** Returns the bytes without copying them. */
function readNow(fileSystem: typeof FileSystem, address: URL | string): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = fileSystem.readFileSync(address);
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, length);
}

/**
 * Reads a file next to CommonJS code, where Node's modules are available without an import: bundlers for browsers must
 * not try to resolve them.
 */
export function readPresent(folder: () => string, name: string): Uint8Array<ArrayBuffer> {
  const present = globalThis.process?.getBuiltinModule?.("node:fs");
  if (!present) throw new TypeError("this runtime has no file system");
  return readNow(present, `${folder()}/${name}`);
}
