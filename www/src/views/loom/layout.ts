import { hierarchy, tree as tidyTree } from "d3-hierarchy";
import { firstWhere } from "../../ui/binary-search.js";
import type { LinkKind, TreeIndex } from "./tree-index.js";

export interface Point {
  x: number;
  y: number;
}

/** A rectangle of the drawing. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A node with its position in the drawing. */
export interface Placed extends Point {
  id: string;
  depth: number;
  /** Its index in its level, from the left. */
  slot: number;
  /** The parent in the drawing. */
  parent: Placed | undefined;
  /** The kind of line from the parent. */
  kind: LinkKind;
  /** Width available for a label to its right, in pixels. */
  room: number;
}

/** A line outside the layout of the tree. */
export interface Bow {
  kind: LinkKind;
  from: Placed;
  to: Placed;
}

export interface TreeLayout {
  at: Map<string, Placed>;
  /** The nodes of each level, from left to right; visible ones are found by binary search. */
  levels: Placed[][];
  bows: Bow[];
  bounds: Box;
}

const COLUMN = 30;
export const ROW = 34;
/** Distance by which lines outside the layout bow to the side. */
export const SIDE = 60;
const WIDEST_LABEL = 230;
const NARROWEST_LABEL = 110;
const LABEL_GAP = 14;

/** A tidy drawing from the top down; several roots are placed side by side. */
export function layoutTree(index: TreeIndex): TreeLayout {
  const root = hierarchy<string | undefined>(undefined, (id) => index.children.get(id));
  const drawn = tidyTree<string | undefined>()
    .nodeSize([COLUMN, ROW])
    .separation((a, b) => (a.parent === b.parent ? 1 : 1.2))(root);

  const at = new Map<string, Placed>();
  const levels: Placed[][] = [];
  const bounds = { left: 0, top: 0, right: 0, bottom: 0 };
  // Level by level from the top, each from left to right: parents come before their children.
  drawn.each((node) => {
    if (node.data === undefined) return;
    const depth = node.depth - 1;
    const level = (levels[depth] ??= []);
    const id = node.data;
    const above = node.parent?.data;
    const placed: Placed = {
      id,
      x: node.x,
      y: node.y - ROW,
      depth,
      slot: level.length,
      parent: above === undefined ? undefined : at.get(above),
      kind: index.annotations.has(id) ? "annotation" : "continuation",
      room: WIDEST_LABEL,
    };
    at.set(id, placed);
    level.push(placed);
    bounds.left = Math.min(bounds.left, placed.x);
    bounds.right = Math.max(bounds.right, placed.x);
    bounds.bottom = Math.max(bounds.bottom, placed.y);
  });
  for (const level of levels) {
    for (const placed of level) {
      const next = level[placed.slot + 1]?.x ?? Number.POSITIVE_INFINITY;
      placed.room = Math.min(WIDEST_LABEL, next - placed.x - 2 * LABEL_GAP);
      // Space for at least the beginning of each label at the right edge.
      bounds.right = Math.max(bounds.right, placed.x + Math.min(NARROWEST_LABEL, next - placed.x));
    }
  }
  const bows = index.links.flatMap(({ kind, from, to }): Bow[] => {
    const [start, end] = [at.get(from), at.get(to)];
    return start && end ? [{ kind, from: start, to: end }] : [];
  });
  if (bows.length > 0) bounds.left -= SIDE / 2;
  return { at, levels, bows, bounds };
}

/** The range of levels in a rectangle, end exclusive. */
export function levelsIn({ levels }: TreeLayout, { top, bottom }: Pick<Box, "top" | "bottom">): [number, number] {
  const within = (row: number): number => Math.min(levels.length, Math.max(0, row));
  return [within(Math.ceil(top / ROW)), within(Math.floor(bottom / ROW) + 1)];
}

/** The node at a point, by its mark or its label. */
export function nodeAt(
  layout: TreeLayout,
  point: Point,
  reach: number,
  labelled: (placed: Placed) => number,
): string | undefined {
  const [first, after] = levelsIn(layout, { top: point.y - reach, bottom: point.y + reach });
  let nearest: { id: string; distance: number } | undefined;
  for (const level of layout.levels.slice(first, after)) {
    const next = firstWhere(level, ({ x }) => x >= point.x);
    for (const placed of [level[next - 1], level[next]]) {
      if (!placed) continue;
      const distance = Math.hypot(placed.x - point.x, placed.y - point.y);
      if (distance <= reach && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) {
        nearest = { id: placed.id, distance };
      }
    }
    const before = level[next - 1];
    if (!nearest && before && Math.abs(before.y - point.y) <= LABEL_GAP / 2 && point.x - before.x <= labelled(before)) {
      nearest = { id: before.id, distance: reach };
    }
  }
  return nearest?.id;
}
