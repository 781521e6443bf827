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

/** Keeps entries; resolves once they are really there. */
async function put(store: Store, entries: Iterable<readonly [string, unknown]>): Promise<void> {
  const transaction = (await database()).transaction(store, "readwrite");
  for (const [key, value] of entries) transaction.objectStore(store).put(value, key);
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the browser's database failed"));
  });
}

/** Keeps blobs by their refs. */
export function keepBlobs(blobs: Iterable<readonly [string, Uint8Array]>): Promise<void> {
  return put("blobs", blobs);
}

/** Brings a blob. */
export async function blobOf(ref: string): Promise<Uint8Array> {
  const blob: unknown = await done((await database()).transaction("blobs").objectStore("blobs").get(ref));
  if (!(blob instanceof Uint8Array)) throw new Error(`this browser does not have the blob ${ref}`);
  return blob;
}

/** Keeps the records of a session, as JSONL, under its name. */
export function keepRecords(name: string, records: Uint8Array): Promise<void> {
  return put("records", [[name, records]]);
}

/** The session that was open last, if there was one. */
export async function lastRecords(): Promise<{ name: string; records: Uint8Array } | undefined> {
  const store = (await database()).transaction("records").objectStore("records");
  const [names, all] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
  const at = names.length - 1;
  return at < 0 ? undefined : { name: String(names[at]), records: all[at] as Uint8Array };
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
