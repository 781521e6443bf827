/** The browser's database. Nothing in it leaves the browser. */

const STORES: readonly string[] = ["views", "recent"];
type StoreName = "views" | "recent";

let opened: Promise<IDBDatabase> | undefined;

const lost = new Set<() => void>();

/** Calls back when the database is deleted or replaced by another tab. */
export function onDatabaseLost(listener: () => void): void {
  lost.add(listener);
}

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("ctxweave", 3);
    request.onupgradeneeded = () => {
      const found = request.result;
      // Stores of an earlier version of the page.
      for (const store of [...found.objectStoreNames]) if (!STORES.includes(store)) found.deleteObjectStore(store);
      for (const store of STORES) if (!found.objectStoreNames.contains(store)) found.createObjectStore(store);
    };
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      resolve(request.result);
      // A newer page in another tab must not wait for this one.
      request.result.onversionchange = () => {
        request.result.close();
        opened = undefined;
        for (const listener of lost) listener();
      };
    };
  });
  opened.catch(() => (opened = undefined));
  return opened;
}

/** Makes requests to a store; resolves once they are committed. */
async function run<T>(name: StoreName, mode: IDBTransactionMode, action: (store: IDBObjectStore) => T): Promise<T> {
  const transaction = (await database()).transaction(name, mode);
  const result = action(transaction.objectStore(name));
  transaction.commit();
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(transaction.error ?? new Error("the browser's database failed"));
  });
}

/** Reads from a store. */
export async function read<T>(name: StoreName, question: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return (await run(name, "readonly", question)).result;
}

/** Changes a store. */
export function write(name: StoreName, change: (store: IDBObjectStore) => void): Promise<void> {
  return run(name, "readwrite", change);
}
