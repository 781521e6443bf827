/** Where blobs and records live: this browser's IndexedDB. Nothing leaves it. */

const NAME = "ctxweave-commits";
const STORES = ["records", "blobs"] as const;
type Store = (typeof STORES)[number];

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser's database failed"));
  });
}

let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= (() => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      for (const store of STORES) request.result.createObjectStore(store);
    };
    return done(request);
  })();
  return opened;
}

/** Changes a store; resolves once the change is really there. */
async function write(store: Store, change: (store: IDBObjectStore) => void): Promise<void> {
  const transaction = (await database()).transaction(store, "readwrite");
  change(transaction.objectStore(store));
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the browser's database failed"));
  });
}

/** Keeps blobs by their refs. */
export function keepBlobs(blobs: Iterable<readonly [string, Uint8Array]>): Promise<void> {
  return write("blobs", (store) => {
    for (const [ref, bytes] of blobs) store.put(bytes, ref);
  });
}

/** Brings a blob. */
export async function blobOf(ref: string): Promise<Uint8Array> {
  const blob: unknown = await done((await database()).transaction("blobs").objectStore("blobs").get(ref));
  if (!(blob instanceof Uint8Array)) throw new Error(`this browser does not have the blob ${ref}`);
  return blob;
}

/** Keeps the records of the session that is open, as JSONL, in place of those of the one before. */
export function keepRecords(name: string, records: Uint8Array): Promise<void> {
  return write("records", (store) => {
    store.clear();
    store.put(records, name);
  });
}

/** The session that was open last, if there was one. */
export async function lastRecords(): Promise<{ name: string; records: Uint8Array } | undefined> {
  const store = (await database()).transaction("records").objectStore("records");
  const [names, all] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
  return names.length === 0 ? undefined : { name: String(names[0]), records: all[0] as Uint8Array };
}

/** Forgets everything. */
export async function forget(): Promise<void> {
  const transaction = (await database()).transaction([...STORES], "readwrite");
  for (const store of STORES) transaction.objectStore(store).clear();
  await new Promise<void>((resolve) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => resolve();
  });
}
