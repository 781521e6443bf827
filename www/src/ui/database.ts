/** The browser's database. Nothing in it leaves the browser. */

const NAME = "ctxweave";
const STORES = ["views", "recent"] as const;
export type StoreName = (typeof STORES)[number];

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser's database failed"));
  });
}

let opened: Promise<IDBDatabase> | undefined;

const lost = new Set<() => void>();

/** Calls back when the database is deleted or replaced by another tab. */
export function onDatabaseLost(listener: () => void): void {
  lost.add(listener);
}

function database(): Promise<IDBDatabase> {
  opened ??= (async () => {
    const request = indexedDB.open(NAME, 3);
    request.onupgradeneeded = () => {
      const { objectStoreNames: before } = request.result;
      // Stores of an earlier version of the page.
      for (const store of [...before])
        if (!STORES.includes(store as StoreName)) request.result.deleteObjectStore(store);
      for (const store of STORES) if (!before.contains(store)) request.result.createObjectStore(store);
    };
    const found = await done(request);
    // A newer page in another tab must not wait for this one.
    found.onversionchange = () => {
      found.close();
      opened = undefined;
      for (const listener of lost) listener();
    };
    return found;
  })();
  opened.catch(() => (opened = undefined));
  return opened;
}

/** Reads from a store. */
export async function read<T>(name: StoreName, question: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return done(question((await database()).transaction(name).objectStore(name)));
}

/** Changes stores; resolves once the change is committed. */
export async function write(
  names: readonly StoreName[],
  change: (store: IDBObjectStore, name: StoreName) => void,
): Promise<void> {
  const transaction = (await database()).transaction([...names], "readwrite");
  for (const name of names) change(transaction.objectStore(name), name);
  transaction.commit();
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the browser's database failed"));
  });
}
