/** Files in a folder. */

import type { DeletingStore } from "../types/stores.js";
import { PermanentFailure } from "./calls.js";
import { fileName, keyPart, MAX_NAME_CHARACTERS } from "./file-names.js";
import { BLOBS, isLarge } from "./keys.js";
import { page } from "./memory.js";

/** The used part of `node:fs/promises`. */
export interface FileSystemLike {
  readFile(path: string): Promise<Uint8Array>;
  writeFile(path: string, bytes: Uint8Array): Promise<void>;
  mkdir(path: string, options: { recursive: true }): Promise<unknown>;
  readdir(path: string): Promise<string[]>;
  rename(from: string, to: string): Promise<void>;
  link(existing: string, path: string): Promise<void>;
  rm(path: string, options: { recursive?: boolean; force: true }): Promise<void>;
}

/** Number of earlier values that a key keeps, so that a slow writer detects that others have set it. */
const KEPT = 16;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A store in a folder, for any number of processes of one machine; `fs` is `node:fs/promises`. Files appear atomically:
 * they are written to a temporary name first. A value that is compared is a folder of numbered files, of which the last
 * one is valid; setting it creates the next number, which only one writer can.
 */
export function fileSystemStore(fs: FileSystemLike, folder: string): DeletingStore {
  const path = (key: string): string => {
    const names = key.split("/").map(fileName);
    const long = names.find((name) => name.length > MAX_NAME_CHARACTERS);
    if (long !== undefined) {
      throw new PermanentFailure(
        `a part of the key needs ${long.length} characters, over the limit of ${MAX_NAME_CHARACTERS} of a file name`,
      );
    }
    // A folder with all blobs would be too large for some tools.
    if (key.startsWith(BLOBS)) names.splice(1, 0, fileName(key.slice(BLOBS.length, BLOBS.length + 2)));
    return [folder, ...names].join("/");
  };
  let made: Promise<unknown> | undefined;
  const aside = async (bytes: Uint8Array): Promise<string> => {
    await (made ??= fs.mkdir(`${folder}/.aside`, { recursive: true }));
    const file = `${folder}/.aside/${Date.now()}-${Math.random().toString(36).slice(2)}`;
    await fs.writeFile(file, bytes);
    return file;
  };
  const versions = async (key: string): Promise<number[]> => {
    const names = await orElse(fs.readdir(path(key)), []);
    return names
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .sort((one, other) => one - other);
  };
  const last = async (key: string): Promise<{ number: number; bytes: Uint8Array | undefined }> => {
    for (;;) {
      const number = (await versions(key)).at(-1) ?? 0;
      if (number === 0) return { number, bytes: undefined };
      const bytes = await orElse(fs.readFile(`${path(key)}/${number}`), undefined);
      // It may have been deleted since.
      if (bytes) return { number, bytes };
    }
  };
  const set = async (key: string, number: number, bytes: Uint8Array): Promise<boolean> => {
    const file = await aside(bytes);
    try {
      await fs.mkdir(path(key), { recursive: true });
      await fs.link(file, `${path(key)}/${number + 1}`);
    } catch (error) {
      if (codeOf(error) === "EEXIST" || codeOf(error) === "ENOENT") return false;
      throw error;
    } finally {
      await fs.rm(file, { force: true });
    }
    // Files are deleted from the first on. While the previous one exists, no other writer was here.
    const there = await versions(key);
    const isOurs = number === 0 ? (there.at(-1) ?? 0) <= KEPT : there.includes(number);
    if (!isOurs) await fs.rm(`${path(key)}/${number + 1}`, { force: true });
    for (const old of there.filter((version) => version <= number - KEPT)) {
      await fs.rm(`${path(key)}/${old}`, { force: true });
    }
    return isOurs;
  };
  return {
    async get(key) {
      const bytes = isLarge(key) ? await orElse(fs.readFile(path(key)), undefined) : (await last(key)).bytes;
      return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    },
    async put(key, bytes) {
      if (!isLarge(key)) {
        while (!(await set(key, (await last(key)).number, bytes))) continue;
        return;
      }
      const file = await aside(bytes);
      const to = path(key);
      await fs.mkdir(to.slice(0, to.lastIndexOf("/")), { recursive: true });
      await fs.rename(file, to);
    },
    async compareAndSet(key, expected, next) {
      const { number, bytes } = await last(key);
      if ((bytes && decoder.decode(bytes)) !== expected) return false;
      return set(key, number, encoder.encode(next));
    },
    async list(prefix, cursor, limit = 1000) {
      const keys = await keysUnder(fs, folder, prefix);
      const found = keys.filter((key) => key.startsWith(prefix) && (cursor === undefined || key > cursor));
      return page(found.sort().slice(0, limit), limit);
    },
    async delete(key) {
      await fs.rm(path(key), { recursive: true, force: true });
    },
  };
}

/** The keys in the folder of a prefix: `records/`, or `principals/somebody/`. */
async function keysUnder(fs: FileSystemLike, folder: string, prefix: string): Promise<string[]> {
  const names = prefix.split("/").slice(0, -1);
  const there = (path: string): Promise<string[]> => orElse(fs.readdir(path), []);
  const base = [folder, ...names.map(fileName)].join("/");
  const below = (await there(base)).map(keyPart);
  const under = (parts: string[]): string => [...names, ...parts].join("/");
  if (names[0] === "blobs") {
    const start = prefix.slice(BLOBS.length, BLOBS.length + 2);
    const pairs = below.filter((pair) => pair.startsWith(start)).map(fileName);
    const blobs = await Promise.all(pairs.map((pair) => there(`${base}/${pair}`)));
    return blobs.flat().map((name) => under([keyPart(name)]));
  }
  // The list of all principals' commits is two levels deeper, that of one principal one level. Indexes have a level more.
  const levels = { principals: 3, indexes: 4 }[names[0] ?? ""];
  const depth = levels === undefined ? 0 : levels - names.length;
  let found = below.map((name) => [name]);
  for (let level = 0; level < depth; level += 1) {
    const deeper = found.map(async (parts) => {
      const inside = await there([base, ...parts.map(fileName)].join("/"));
      return inside.map((name) => [...parts, keyPart(name)]);
    });
    found = (await Promise.all(deeper)).flat();
  }
  return found.map(under);
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code;
}

/** The result of a read, or a fallback if the file is missing. */
async function orElse<T, Else>(reading: Promise<T>, otherwise: Else): Promise<T | Else> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return otherwise;
    throw error;
  }
}
