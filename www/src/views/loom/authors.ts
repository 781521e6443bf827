import type { TreeIndex } from "./tree-index.js";

/** The look of a node's author: a human, or one of the first three agents; further agents share the last. */
export type Author = "human" | "model-0" | "model-1" | "model-2";

const MODELS = ["model-0", "model-1", "model-2"] as const;

export function authorOf(index: TreeIndex, id: string): Author {
  const node = index.node.get(id);
  if (!node || node.authorType === "human") return "human";
  const place = node.authorAgentId === undefined ? 0 : index.agents.indexOf(node.authorAgentId);
  return MODELS[Math.min(2, Math.max(0, place))] ?? "model-2";
}

/** The same as classes of the style sheet. */
export function authorClass(index: TreeIndex, id: string): string {
  const author = authorOf(index, id);
  return author === "human" ? "by-human" : `by-model by-${author}`;
}
