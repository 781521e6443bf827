/** The `LoomTree`, the view state, and the changes that undo and redo apply. The page is drawn from these. */

/** The view state: not part of the tree. */
export const firstView = {
  tip: undefined,
  hoist: undefined,
  hidden: [],
  versions: {},
  showPruned: false,
  showHidden: false,
  heat: "pathTokens",
  contextWindow: 2000,
};

/** `changed` is called after every edit and every change of the view state. */
export function openLoom(tree, view, changed) {
  const done = [];
  const undone = [];
  // The last known revision; undefined at first.
  let seen;
  const loom = { tree, view, mode: undefined, title: undefined, edit, look, undo, redo, news };
  Object.defineProperty(loom, "canUndo", { get: () => done.length > 0 });
  Object.defineProperty(loom, "canRedo", { get: () => undone.length > 0 });
  settle();
  return loom;

  /** Applies a change, which undo reverts, together with a change of the view state. */
  function edit(change, looks = {}) {
    const { inverse } = tree.apply(change);
    done.push({ change: inverse, ...place() });
    undone.length = 0;
    look(looks);
  }

  function look(looks) {
    Object.assign(loom.view, looks);
    settle();
    changed();
  }

  function undo() {
    turn(done, undone);
  }

  function redo() {
    turn(undone, done);
  }

  function turn(from, to) {
    const step = from.pop();
    if (!step) return;
    const { change, ...looks } = step;
    const here = place();
    to.push({ change: tree.apply(change).inverse, ...here });
    look(looks);
  }

  /** The current position, which undo restores. */
  function place() {
    const { tip, hoist, versions } = loom.view;
    return { tip, hoist, versions };
  }

  /** The settings for all queries of the tree. */
  function settle() {
    const { contextWindow, versions } = loom.view;
    tree.configure({ contextWindow, versionSelections: versions, appPreferences: { tokenBuffer: 256 } });
  }

  /** The changes since the last call, everything on the first; follows the tree's settings. */
  function news() {
    const changes = tree.changesSince(seen);
    seen = changes.revision;
    for (const name of ["mode", "title"]) loom[name] = (changes.settings ?? loom)[name] ?? undefined;
    return changes;
  }
}

/** A node with the edge that leads to it. */
export function following(parent, node) {
  const edges =
    parent === undefined ? [] : [{ id: `${parent}-${node.id}`, sources: [{ nodeId: parent }], targetNodeId: node.id }];
  return { nodes: [node], edges };
}

export function newNode(authorType, content, more = {}) {
  return { id: crypto.randomUUID(), authorType, content, createdAt: new Date().toISOString(), ...more };
}
