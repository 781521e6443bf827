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

/** The tree that is open, in the wasm, and what it was given last. */
let held:
  | { tree: LoomTree; data: LoomTreeData; media: Record<string, Media> | undefined; pending: Pending | undefined }
  | undefined;

/**
 * The open tree, as the request has it, and the message that is being written. What a setting, an exclusion or a letter
 * changes is put right, and no more: so that a keystroke costs what is in the window.
 */
function treeOf({ tree: data, media }: DialogueRequest | BufferRequest, pending: Pending | undefined): LoomTree {
  // The file's own objects stay as they are, so that what is the same object is the same edge.
  if (held?.data.edges !== data.edges) {
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

/** Puts the message as it is now in the place of the one that was there; it is a node for as long as it is written. */
function write(tree: LoomTree, before: Pending | undefined, now: Pending | undefined): void {
  const stays = now !== undefined && before?.edge === now.edge;
  // Its edge goes with the node.
  if (before && !stays) tree.remove({ nodes: [before.node.id] });
  if (now) tree.upsert({ nodes: [now.node], edges: !stays && now.edge ? [now.edge] : [] });
}

/** Does something with the open tree; where that was lost with its instance, with a new one. */
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

/** What `assembleDialogue` gives for the request and the message at its tip, from the tree that stays. */
export function liveDialogue(request: DialogueRequest, pending: Pending | undefined): DialogueAssembly {
  const { tree: _, media: __, ...options } = request;
  return asked(request, pending, (tree) => tree.assembleDialogue(options));
}

/** What `assembleBuffer` gives for the request, from the tree that stays. */
export function liveBuffer(request: BufferRequest): BufferAssembly {
  const { tree: _, media: __, ...options } = request;
  return asked(request, undefined, (tree) => tree.assembleBuffer(options));
}

/** What a message costs that is being written, and what the whole path with it would. */
export function measurePending(request: DialogueRequest, pending: Pending): { tokens: number; path: PathMeasure } {
  const { tree: _, media: __, ...options } = request;
  return asked(request, pending, (tree) => ({
    tokens: tree.tokensOf([pending.node.id], options)[0] ?? 0,
    path: tree.measurePath(options),
  }));
}
