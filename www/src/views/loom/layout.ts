import { hierarchy, tree as tidyTree } from "d3-hierarchy";
import type { TreeIndex } from "./tree-index.js";

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  at: Map<string, Point>;
  /** Node ids of each level, from left to right. */
  levels: string[][];
  /** Room for a label to the right of each node, in pixels. */
  room: Map<string, number>;
  bounds: { left: number; top: number; right: number; bottom: number };
}

const COLUMN = 30;
const ROW = 34;
const SIDE = 60;
const WIDEST_LABEL = 230;
const NARROWEST_LABEL = 110;
const LABEL_GAP = 14;

/** A tidy drawing from the top down; several roots stand side by side. */
export function layoutTree(index: TreeIndex): Layout {
  const root = hierarchy<string | undefined>(undefined, (id) =>
    id === undefined ? index.roots : index.children.get(id),
  );
  const placed = tidyTree<string | undefined>()
    .nodeSize([COLUMN, ROW])
    .separation((a, b) => (a.parent === b.parent ? 1 : 1.2))(root);

  const at = new Map<string, Point>();
  const levels: string[][] = [];
  const bounds = { left: 0, top: 0, right: 0, bottom: 0 };
  placed.each((node) => {
    if (node.data === undefined) return;
    const point = { x: node.x, y: node.y - ROW };
    at.set(node.data, point);
    (levels[node.depth - 1] ??= []).push(node.data);
    bounds.left = Math.min(bounds.left, point.x);
    bounds.right = Math.max(bounds.right, point.x);
    bounds.bottom = Math.max(bounds.bottom, point.y);
  });

  const room = new Map<string, number>();
  for (const level of levels) {
    level.sort((a, b) => (at.get(a)?.x ?? 0) - (at.get(b)?.x ?? 0));
    level.forEach((id, i) => {
      const here = at.get(id)?.x ?? 0;
      const next = at.get(level[i + 1] ?? "")?.x ?? Number.POSITIVE_INFINITY;
      room.set(id, Math.min(WIDEST_LABEL, next - here - 2 * LABEL_GAP));
      // Room for at least the beginning of each label at the right edge.
      bounds.right = Math.max(bounds.right, here + Math.min(NARROWEST_LABEL, next - here));
    });
  }
  // Lines that bow to the side need some room there.
  if (index.links.some(({ kind }) => kind !== "continuation")) bounds.left -= SIDE / 2;
  return { at, levels, room, bounds };
}

/** The curve from a node down to the next. */
export function curve(from: Point, to: Point): string {
  const middle = (from.y + to.y) / 2;
  return `M${from.x},${from.y}C${from.x},${middle} ${to.x},${middle} ${to.x},${to.y}`;
}

/** A bow to the side for a line that is not part of the tree's own shape, so that it is not taken for one. */
export function bow(from: Point, to: Point): string {
  const side = Math.min(SIDE, 14 + Math.hypot(to.x - from.x, to.y - from.y) / 6);
  const x = Math.min(from.x, to.x) - side;
  return `M${from.x},${from.y}C${x},${from.y + (to.y - from.y) / 4} ${x},${to.y - (to.y - from.y) / 4} ${to.x},${to.y}`;
}
