import type { LoomEdge, LoomNode, LoomTreeData } from "ctxweave/loom";
import type { TreeIndex } from "./tree-index.js";

/** A message that is being written: the node that it will be, and the edge that leads to it from the tip. */
export interface Pending {
  node: LoomNode;
  /** In a tree without nodes there is nothing that it could go on from. */
  edge?: LoomEdge;
}

/** Six characters, so that it is its own short name where an agent is told the names of the nodes. */
const ID = "unsent";

/** An id that no node and no edge of the tree has. */
function freeId({ tree, node }: TreeIndex): string {
  let id = ID;
  while (node.has(id) || tree.edges.some((edge) => edge.id === id)) id += "-";
  return id;
}

/** Where a message would stand that is written after this tip. */
export interface PendingSlot {
  id: string;
  edge?: LoomEdge;
}

/** The same place for every letter, so that only the node changes as one types. No place is after a node that is not there. */
export function slotAfter(index: TreeIndex, tip: string | undefined): PendingSlot | undefined {
  const id = freeId(index);
  if (tip === undefined) return { id };
  return index.node.has(tip) ? { id, edge: { id, sources: [{ nodeId: tip }], targetNodeId: id } } : undefined;
}

/** The message at its place; a blank one is none. */
export function messageAt({ id, edge }: PendingSlot, text: string): Pending | undefined {
  if (text.trim() === "") return undefined;
  return { node: { id, content: text, authorType: "human" }, ...(edge ? { edge } : {}) };
}

/** The tree as if the message had been sent. The tree itself stays as it is. */
export function withPending(tree: LoomTreeData, { node, edge }: Pending): LoomTreeData {
  return { ...tree, nodes: [...tree.nodes, node], edges: edge ? [...tree.edges, edge] : tree.edges };
}
