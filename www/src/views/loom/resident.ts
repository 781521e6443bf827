import { LoomTree } from "ctxweave/loom";
import type {
  BufferAssembly,
  BufferRequest,
  DialogueAssembly,
  DialogueRequest,
  LoomTreeData,
  Media,
  PathMeasure,
} from "ctxweave/loom";
import type { Pending } from "./pending.js";

/** The open tree in the wasm, and the data that it was last updated from. */
let held:
  | { tree: LoomTree; data: LoomTreeData; media: Record<string, Media> | undefined; pending: Pending | undefined }
  | undefined;

/** Whether the tree is in the wasm. */
export const isHeld = (data: LoomTreeData): boolean => held?.data.edges === data.edges;

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

/**
 * The resident tree for the request and the message being written. Only differences in settings, exclusions or text are
 * applied, so that a keystroke costs only what is in the window.
 */
function treeOf({ tree: data, media }: DialogueRequest | BufferRequest, pending: Pending | undefined): LoomTree {
  // The file's objects are never changed, so an identical edges array means identical edges.
  if (!isHeld(data)) {
    held?.tree.free();
    held = undefined;
  }
  held ??= { tree: new LoomTree(data), data, media: undefined, pending: undefined };
  const { tree, data: before } = held;
  if (before.nodes !== data.nodes) {
    tree.upsert({ nodes: data.nodes.filter((node, at) => node !== before.nodes[at]) });
  }
  if (before.bufferModeSystemContext !== data.bufferModeSystemContext) {
    tree.configure({ bufferModeSystemContext: data.bufferModeSystemContext ?? null });
  }
  if (held.media !== media) tree.configure({ media: media ?? null });
  if (held.pending !== pending) write(tree, held.pending, pending);
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
function asked<T>(
  request: DialogueRequest | BufferRequest,
  pending: Pending | undefined,
  question: (tree: LoomTree) => T,
): T {
  try {
    return question(treeOf(request, pending));
  } catch (error) {
    if ((error as { code?: string }).code !== "handle_lost") throw error;
    held = undefined;
    return question(treeOf(request, pending));
  }
}

/** `assembleDialogue` for the request and the message at its tip, on the resident tree. */
export function liveDialogue(request: DialogueRequest, pending: Pending | undefined): DialogueAssembly {
  const { tree: _, media: __, ...options } = request;
  return asked(request, pending, (tree) => tree.assembleDialogue(options));
}

/** `assembleBuffer` for the request, on the resident tree. */
export function liveBuffer(request: BufferRequest): BufferAssembly {
  const { tree: _, media: __, ...options } = request;
  return asked(request, undefined, (tree) => tree.assembleBuffer(options));
}

/** The cost of the message being written, and of the whole path with it. */
export function measurePending(request: DialogueRequest, pending: Pending): { tokens: number; path: PathMeasure } {
  const { tree: _, media: __, ...options } = request;
  return asked(request, pending, (tree) => ({
    tokens: tree.tokensOf([pending.node.id], options)[0] ?? 0,
    path: tree.measurePath(options),
  }));
}
