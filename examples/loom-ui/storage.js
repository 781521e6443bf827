/** The tree in IndexedDB: a snapshot, later changes, and the view state. */

const NAME = "ctxweave-loom-ui";
/** Number of changes after which a new snapshot is written. */
const CHANGES = 100;

/** `read()` returns the stored data, `write(tree, view)` stores changes. */
export async function openStorage() {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => {
    for (const name of ["snapshot", "view"]) opening.result.createObjectStore(name);
    opening.result.createObjectStore("changes", { autoIncrement: true });
  };
  const db = await result(opening);
  // Id of the last writer. If that was another tab, its changes are not based on this tree, and the whole tree is
  // written.
  const writer = crypto.randomUUID();
  let revision;
  let queue = Promise.resolve();
  return { read, write };

  /** `{ snapshot, changes, view }`; without a snapshot on the first visit. */
  async function read() {
    const stores = db.transaction(["snapshot", "changes", "view"]);
    const [snapshot, changes, stored] = await Promise.all([
      result(stores.objectStore("snapshot").get(1)),
      result(stores.objectStore("changes").getAll()),
      result(stores.objectStore("view").get(1)),
    ]);
    return { snapshot, changes, view: stored?.view };
  }

  function write(tree, view) {
    queue = queue.catch(() => {}).then(() => writeNow(tree, view));
    return queue;
  }

  async function writeNow(tree, view) {
    const stores = db.transaction(["snapshot", "changes", "view"], "readwrite");
    const finished = new Promise((done, failed) => {
      stores.oncomplete = done;
      stores.onabort = () => failed(stores.error);
    });
    const [snapshots, changes, views] = ["snapshot", "changes", "view"].map((name) => stores.objectStore(name));
    const [last, count] = await Promise.all([result(views.get(1)), result(changes.count())]);
    const reached = tree.revision;
    if (last?.writer !== writer || count >= CHANGES) {
      snapshots.put(tree.snapshot(), 1);
      changes.clear();
    } else if (reached !== revision) {
      changes.add(tree.changesSince(revision));
    }
    views.put({ view: structuredClone(view), writer }, 1);
    await finished;
    revision = reached;
  }
}

function result(request) {
  return new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
}
