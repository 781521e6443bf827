import { LoomTree } from "ctxweave";
import type { BufferAssembly, BufferRequest, DialogueAssembly, DialogueRequest, LoomTreeData, Media } from "ctxweave";

/** The tree that is open, in the wasm, and what it was given last. */
let held: { tree: LoomTree; data: LoomTreeData; media: Record<string, Media> | undefined } | undefined;

/**
 * The open tree, as the request has it. What a setting or an exclusion changes is put right, and no more: so that a
 * keystroke costs what is in the window.
 */
function treeOf({ tree: data, media }: DialogueRequest | BufferRequest): LoomTree {
  // The file's own objects stay as they are, so that what is the same object is the same edge.
  if (held?.data.edges !== data.edges) {
    held?.tree.free();
    held = undefined;
  }
  held ??= { tree: new LoomTree(data), data, media: undefined };
  const { tree, data: before } = held;
  if (before.nodes !== data.nodes) {
    tree.upsert({ nodes: data.nodes.filter((node, at) => node !== before.nodes[at]) });
  }
  if (before.bufferModeSystemContext !== data.bufferModeSystemContext) {
    tree.configure({ bufferModeSystemContext: data.bufferModeSystemContext ?? null });
  }
  if (held.media !== media) tree.configure({ media: media ?? null });
  held = { tree, data, media };
  return tree;
}

/** Does something with the open tree; where that was lost with its instance, with a new one. */
function asked<T>(request: DialogueRequest | BufferRequest, question: (tree: LoomTree) => T): T {
  try {
    return question(treeOf(request));
  } catch (error) {
    if ((error as { code?: string }).code !== "handle_lost") throw error;
    held = undefined;
    return question(treeOf(request));
  }
}

/** What `assembleDialogue` gives for the request, from the tree that stays. */
export function liveDialogue(request: DialogueRequest): DialogueAssembly {
  const { tree: _, media: __, ...options } = request;
  return asked(request, (tree) => plain(tree.assembleDialogue(options)));
}

/** What `assembleBuffer` gives for the request, from the tree that stays. */
export function liveBuffer(request: BufferRequest): BufferAssembly {
  const { tree: _, media: __, ...options } = request;
  return asked(request, (tree) => tree.assembleBuffer(options));
}

/** Without the comparison with the assembly before, which was of some other setting. */
function plain(assembly: DialogueAssembly): DialogueAssembly {
  const { cache: _, ...report } = assembly.report;
  return { ...assembly, report };
}
