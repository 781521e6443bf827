/** IndexedDB: one object store, with the store's keys. */

import { checkedText } from "../api/checked.js";
import { CtxweaveError } from "../error.js";
import { reasonOf } from "../source.js";
import type { DeletingStore } from "../types/stores.js";
import { page } from "./memory.js";

const STORE = "ctxweave";

const encoder = new TextEncoder();

/**
 * A store in a browser's IndexedDB, in a separate database.
 *
 * @throws {CtxweaveError} `store_failed` if the database cannot be opened
 */
export async function indexedDbStore(name = "ctxweave"): Promise<DeletingStore & { close(): void }> {
  checkedText(name, "name");
  const database = await open(name).catch((cause: unknown) => {
    const message = `the database \`${name}\` cannot be opened: ${reasonOf(cause)}; use a browser that has IndexedDB, and a page that may store data`;
    throw new CtxweaveError("store_failed", message, { operation: "open", key: name }, { cause });
  });
  // Another page wants to delete or upgrade it.
  database.onversionchange = () => database.close();
  const write = async (work: (store: IDBObjectStore) => void): Promise<void> => {
    const transaction = database.transaction(STORE, "readwrite");
    const ended = end(transaction);
    work(transaction.objectStore(STORE));
    await ended;
  };
  const read = <T>(work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> =>
    answer(work(database.transaction(STORE).objectStore(STORE)));
  return {
    async get(key) {
      const value: unknown = await read((store) => store.get(key) as IDBRequest<unknown>);
      return typeof value === "string" ? encoder.encode(value) : (value as Uint8Array | undefined);
    },
    put: (key, bytes) => write((store) => void store.put(bytes.slice(), key)),
    async compareAndSet(key, expected, next) {
      let done = false;
      await write((store) => {
        const there = store.get(key) as IDBRequest<unknown>;
        there.onsuccess = () => {
          done = there.result === expected;
          if (done) store.put(next, key);
        };
      });
      return done;
    },
    async list(prefix, cursor, limit = 1000) {
      const range = IDBKeyRange.bound(cursor ?? prefix, `${prefix}\u007f`, cursor !== undefined, true);
      return page((await read((store) => store.getAllKeys(range, limit))) as string[], limit);
    },
    delete: (key) => write((store) => void store.delete(key)),
    close: () => database.close(),
  };
}

async function open(name: string): Promise<IDBDatabase> {
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  return answer(opening);
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error as Error);
  });
}

function end(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject((transaction.error ?? new Error("the transaction was aborted")) as Error);
  });
}
