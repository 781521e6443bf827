import type { LoomEdge, LoomNode, LoomTreeData } from "ctxweave/loom";
import type { TreeIndex } from "./tree-index.js";

/** A message being written: its future node, and the edge to it from the tip. */
export interface Pending {
  node: LoomNode;
  /** Absent in a tree without nodes. */
  edge: LoomEdge | undefined;
}

/** The position of a message written after a tip. */
interface PendingSlot {
  id: string;
  edge?: LoomEdge;
}

/** Stable while the user types, so that only the node changes. Undefined if the tip does not exist. */
export function slotAfter({ tree, node }: TreeIndex, tip: string | undefined): PendingSlot | undefined {
  // Six characters, so that it is also its local id for a loom-aware agent.
  let id = "unsent";
  while (node.has(id) || tree.edges.some((edge) => edge.id === id)) id += "-";
  if (tip === undefined) return { id };
  return node.has(tip) ? { id, edge: { id, sources: [{ nodeId: tip }], targetNodeId: id } } : undefined;
}

/** The message at its position; undefined if blank. */
export function messageAt({ id, edge }: PendingSlot, text: string): Pending | undefined {
  return text.trim() === "" ? undefined : { node: { id, content: text, authorType: "human" }, edge };
}

/** The tree as if the message had been sent. The input is unchanged. */
export function withPending(tree: LoomTreeData, { node, edge }: Pending): LoomTreeData {
  return { ...tree, nodes: [...tree.nodes, node], edges: edge ? [...tree.edges, edge] : tree.edges };
}
