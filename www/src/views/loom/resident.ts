import { LoomTree } from "ctxweave/loom";
import type { BufferRequest, CtxweaveError, DialogueRequest, LoomTreeData, Media } from "ctxweave/loom";
import type { Pending } from "./pending.js";

type Request = DialogueRequest | BufferRequest;

/** The open tree in the wasm, and the data that it was last updated from. */
let held:
  | { tree: LoomTree; data: LoomTreeData; media: Record<string, Media> | undefined; pending: Pending | undefined }
  | undefined;

/** Reads a tree to be opened next, from its JSON if that is known, after `question` has validated it. */
export function hold(data: LoomTreeData, json: string | undefined, question: (tree: LoomTree) => void): void {
  const tree = new LoomTree(json === undefined ? data : new TextEncoder().encode(json));
  try {
    question(tree);
  } catch (error) {
    tree.free();
    throw error;
  }
  held?.tree.free();
  held = { tree, data, media: undefined, pending: undefined };
}

/** The file's objects are never changed, so an identical edges array means identical edges. */
function heldFor(data: LoomTreeData): NonNullable<typeof held> {
  if (held?.data.edges !== data.edges) {
    held?.tree.free();
    held = undefined;
  }
  held ??= { tree: new LoomTree(data), data, media: undefined, pending: undefined };
  return held;
}

/**
 * The resident tree for the request and the message being written. Only differences in settings, exclusions or text are
 * applied, so that a keystroke costs only what is in the window.
 */
function treeOf({ tree: data, media }: Request, pending: Pending | undefined): LoomTree {
  const before = heldFor(data);
  const { tree } = before;
  if (before.data.nodes !== data.nodes) {
    tree.upsert({ nodes: data.nodes.filter((node, at) => node !== before.data.nodes[at]) });
  }
  if (before.data.bufferModeSystemContext !== data.bufferModeSystemContext) {
    tree.configure({ bufferModeSystemContext: data.bufferModeSystemContext ?? null });
  }
  if (before.media !== media) tree.configure({ media: media ?? null });
  if (before.pending !== pending) write(tree, before.pending, pending);
  held = { tree, data, media, pending };
  return tree;
}

/** Replaces the message being written; it is a node only while it is being written. */
function write(tree: LoomTree, before: Pending | undefined, now: Pending | undefined): void {
  const stays = now !== undefined && before?.edge === now.edge;
  // Removing the node removes its edge.
  if (before && !stays) tree.remove({ nodes: [before.node.id] });
  if (now) tree.upsert({ nodes: [now.node], edges: !stays && now.edge ? [now.edge] : [] });
}

/** Runs a query on the resident tree; if the tree was lost with its instance, on a new one. */
function retried<T>(question: () => T): T {
  try {
    return question();
  } catch (error) {
    if ((error as CtxweaveError).code !== "handle_lost") throw error;
    held = undefined;
    return question();
  }
}

/** Asks the resident tree about its structure, which exclusions do not change. */
export function queryTree<T>(data: LoomTreeData, question: (tree: LoomTree) => T): T {
  return retried(() => question(heldFor(data).tree));
}

/** Passes the request, and the message at its tip, to a method of the resident tree. */
export function askTree<R extends Request, T>(
  request: R,
  pending: Pending | undefined,
  question: (tree: LoomTree, options: Omit<R, "tree" | "media">) => T,
): T {
  const { tree: _, media: __, ...options } = request;
  return retried(() => question(treeOf(request, pending), options));
}
