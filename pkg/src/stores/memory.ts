/** A store in memory, for tests and small data. */

import type { DeletingStore } from "../types/stores.js";
import { recordKey } from "./keys.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A store in the memory of the process. `entries` holds its keys and values, and can be passed to another store. */
export function memoryStore(entries: Map<string, Uint8Array> = new Map()): DeletingStore {
  let sorted: string[] | undefined;
  const set = (key: string, bytes: Uint8Array): void => {
    if (!entries.has(key)) sorted = undefined;
    entries.set(key, bytes);
  };
  return {
    async get(key) {
      return entries.get(key)?.slice();
    },
    async put(key, bytes) {
      set(key, bytes.slice());
    },
    async compareAndSet(key, expected, next) {
      const bytes = entries.get(key);
      if ((bytes && decoder.decode(bytes)) !== expected) return false;
      set(key, encoder.encode(next));
      return true;
    },
    async list(prefix, cursor, limit = 1000) {
      sorted ??= [...entries.keys()].sort();
      const from = cursor === undefined ? firstAtLeast(sorted, prefix) : firstAtLeast(sorted, `${cursor}\0`);
      const keys = sorted.slice(from, from + limit);
      const beyond = keys.findIndex((key) => !key.startsWith(prefix));
      return page(beyond < 0 ? keys : keys.slice(0, beyond), limit);
    },
    async ancestors(id, limit) {
      const records: string[] = [];
      for (let wanted: string | undefined = id; wanted !== undefined && records.length < limit;) {
        const bytes = entries.get(recordKey(wanted));
        if (!bytes) break;
        const text = decoder.decode(bytes);
        records.push(text);
        wanted = parentOf(text);
      }
      return records.join("\n");
    },
    async delete(key) {
      if (entries.delete(key)) sorted = undefined;
    },
  };
}

/** A page of at most `limit` keys; if it is full there may be more. */
export function page(keys: string[], limit: number): { keys: string[]; cursor?: string } {
  const last = keys.length >= limit ? keys.at(-1) : undefined;
  return { keys, ...(last !== undefined && { cursor: last }) };
}

/** The parent named in a record; a damaged record is detected when it is read. */
export function parentOf(text: string): string | undefined {
  try {
    const { parent } = JSON.parse(text) as { parent?: unknown };
    return typeof parent === "string" ? parent : undefined;
  } catch {
    return undefined;
  }
}

function firstAtLeast(sorted: readonly string[], key: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
