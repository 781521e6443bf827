import type { TreeIndex } from "./tree-index.js";

/** The first three agents have looks; further ones share the last. */
export const MODELS = ["model-0", "model-1", "model-2"] as const;

/** The look of a node's author. */
export type Author = "human" | (typeof MODELS)[number];

export function authorOf(index: TreeIndex, id: string): Author {
  const node = index.node.get(id);
  if (!node || node.authorType === "human") return "human";
  return MODELS[Math.max(0, index.agents.indexOf(node.authorAgentId ?? ""))] ?? "model-2";
}

/** The same as classes of the style sheet. */
export function authorClass(index: TreeIndex, id: string): string {
  const author = authorOf(index, id);
  return author === "human" ? "by-human" : `by-model by-${author}`;
}
