/** Reading files, for Node, Bun and Deno. */

import type * as FileSystem from "node:fs";

/**
 * The bytes of a file. They are read at once, as the code itself is: handing a file of a megabyte to a thread takes longer
 * than reading it.
 *
 * Importing `node:fs` makes Node load all that it refers to, which takes milliseconds, so it is asked for what is there
 * already. Versions before 20.16 cannot be asked.
 */
export function readFile(address: URL): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  const present = globalThis.process?.getBuiltinModule?.("node:fs");
  return present ? readNow(present, address) : import("node:fs").then((fileSystem) => readNow(fileSystem, address));
}

/** Those that were read, and no copy of them. */
function readNow(fileSystem: typeof FileSystem, address: URL | string): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = fileSystem.readFileSync(address);
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, length);
}

/**
 * The bytes of a file next to CommonJS code, where Node's modules are there without being named: what bundles the code for a browser
 * must not look for them.
 */
export function readPresent(folder: () => string, name: string): Uint8Array<ArrayBuffer> {
  const present = globalThis.process?.getBuiltinModule?.("node:fs");
  if (!present) throw new TypeError("there are no files here");
  return readNow(present, `${folder()}/${name}`);
}
