import type { NodeReport } from "ctxweave/loom";
import { authorOf } from "./authors.js";
import { firstWhere } from "../../ui/binary-search.js";
import { levelsIn, ROW, SIDE, type Box, type Point, type TreeLayout, type Placed } from "./layout.js";
import { circle, fill, paintFate, paintLink, paintMark, stroke, type Look } from "./paint-mark.js";
import type { Palette } from "./palette.js";
import { snippet, type TreeIndex } from "./tree-index.js";
import type { Size, Transform } from "./viewport.js";

/** Below this zoom nodes are dots without labels. */
export const FAR = 0.55;
/** Shorter labels are left out. */
const MIN_LABEL_LETTERS = 8;
const LETTER = 6;
/** Offset of a label from the middle of its node. */
const LABEL = 14;
/** Distance on the screen below which nodes share one dot. */
const APART = 1.5;

export interface Scene {
  index: TreeIndex;
  layout: TreeLayout;
  colours: Palette;
  /** The nodes of the path, in order. */
  path: ReadonlySet<string>;
  rows: ReadonlyMap<string, NodeReport>;
  failed: boolean;
  tip: string | undefined;
  cursor: string | undefined;
  hovered: string | undefined;
  focused: boolean;
}

/** Paints only the visible part: the time depends on that, not on the size of the tree. */
export function paintTree(
  context: CanvasRenderingContext2D,
  scene: Scene,
  { x, y, k }: Transform,
  { width, height }: Size,
  ratio: number,
): void {
  context.resetTransform();
  context.clearRect(0, 0, width * ratio, height * ratio);
  context.setTransform(k * ratio, 0, 0, k * ratio, x * ratio, y * ratio);
  const margin = k < FAR ? 8 / k : 16;
  const box = {
    left: -x / k - margin,
    top: -y / k - margin,
    right: (width - x) / k + margin,
    bottom: (height - y) / k + margin,
  };
  paintLines(context, scene, box, k);
  paintBows(context, scene, box);
  if (k < FAR) paintDots(context, scene, box, k);
  else paintMarks(context, scene, box);
  paintPath(context, scene, box, k);
  paintRings(context, scene);
}

/** Paints something whose origin is a point of the drawing. */
function paintAt(context: CanvasRenderingContext2D, { x, y }: Point, paint: () => void): void {
  context.save();
  context.translate(x, y);
  paint();
  context.restore();
}

/** Paints the lines of the layout. Those of a level begin and end in the order of its nodes. */
function paintLines(context: CanvasRenderingContext2D, { layout, colours }: Scene, box: Box, k: number): void {
  const [first, after] = levelsIn(layout, box);
  const apart = k < FAR ? APART / k : 0;
  const visible: Placed[] = [];
  for (const level of layout.levels.slice(Math.max(1, first), after + 1)) {
    const start = firstWhere(level, ({ x, parent }) => Math.max(x, parent?.x ?? x) >= box.left);
    const end = firstWhere(level, ({ x, parent }) => Math.min(x, parent?.x ?? x) > box.right, start);
    let last: Placed | undefined;
    for (let slot = start; slot < end; slot++) {
      const placed = level[slot] as Placed;
      const { parent } = placed;
      if (!parent) continue;
      if (last && last.parent === parent && placed.x - last.x < apart) continue;
      last = placed;
      visible.push(placed);
    }
  }
  paintLinesTo(context, colours, visible, false, k < FAR ? Math.min(2, FAR / k) : 1, k < FAR / 2);
}

/** Paints the lines from nodes to their parents, each kind in one stroke. */
function paintLinesTo(
  context: CanvasRenderingContext2D,
  colours: Palette,
  nodes: Placed[],
  used: boolean,
  width: number,
  straight: boolean,
): void {
  for (const [kind, group] of Map.groupBy(nodes, (placed) => placed.kind)) {
    const path = new Path2D();
    for (const { x, y, parent } of group) {
      if (!parent) continue;
      const middle = (parent.y + y) / 2;
      path.moveTo(parent.x, parent.y);
      if (straight || parent.x === x) path.lineTo(x, y);
      else path.bezierCurveTo(parent.x, middle, x, middle, x, y);
    }
    paintLink(context, colours, kind, used, width, path);
  }
}

/** Paints lines outside the layout as bows, to distinguish them. */
function paintBows(context: CanvasRenderingContext2D, { layout, colours }: Scene, box: Box): void {
  for (const { kind, from, to } of layout.bows) {
    if (Math.min(from.x, to.x) - SIDE > box.right || Math.max(from.x, to.x) < box.left) continue;
    if (Math.min(from.y, to.y) > box.bottom || Math.max(from.y, to.y) < box.top) continue;
    paintLink(context, colours, kind, false, 1, bow(from, to));
  }
}

function bow(from: Placed, to: Placed): Path2D {
  const path = new Path2D();
  const side = Math.min(SIDE, 14 + Math.hypot(to.x - from.x, to.y - from.y) / 6);
  const x = Math.min(from.x, to.x) - side;
  const quarter = (to.y - from.y) / 4;
  path.moveTo(from.x, from.y);
  path.bezierCurveTo(x, from.y + quarter, x, to.y - quarter, to.x, to.y);
  return path;
}

/** The range of a level's nodes within a rectangle. */
function within(level: readonly Placed[], { left, right }: Box): [number, number] {
  const start = firstWhere(level, ({ x }) => x >= left);
  return [start, firstWhere(level, ({ x }) => x > right, start)];
}

/** At low zoom nodes are dots; of overlapping ones only one is painted. */
function paintDots(context: CanvasRenderingContext2D, { index, layout, colours }: Scene, box: Box, k: number): void {
  const apart = APART / k;
  const r = Math.max(8, 0.9 / k);
  const visible: Placed[] = [];
  const [first, after] = levelsIn(layout, box);
  const every = Math.max(1, Math.floor(apart / ROW));
  for (let row = first; row < after; row += every) {
    const level = layout.levels[row] ?? [];
    const [start, end] = within(level, box);
    let last = Number.NEGATIVE_INFINITY;
    for (let slot = start; slot < end; slot++) {
      const placed = level[slot] as Placed;
      if (placed.x - last < apart) continue;
      last = placed.x;
      visible.push(placed);
    }
  }
  for (const [author, group] of Map.groupBy(visible, ({ id }) => authorOf(index, id))) {
    const dots = new Path2D();
    for (const { x, y } of group) dots.rect(x - r, y - r, 2 * r, 2 * r);
    fill(context, dots, colours[`${author}-soft`]);
    if (r * k >= 2) stroke(context, dots, colours[author], 1.2);
  }
}

/** The look of a node. */
function lookOf(index: TreeIndex, id: string): Look {
  const { editedFrom, metadata } = index.node.get(id) ?? {};
  return {
    author: authorOf(index, id),
    annotation: index.annotations.has(id),
    edit: editedFrom !== undefined,
    excluded: metadata?.excluded === true,
    pruned: metadata?.pruned === true,
    bookmarked: metadata?.bookmarked === true,
  };
}

const labels = new WeakMap<Placed, string>();

/** The beginning of a node's text that fits next to it. */
function labelOf(index: TreeIndex, placed: Placed): string {
  let label = labels.get(placed);
  if (label === undefined) {
    const room = Math.floor(placed.room / LETTER);
    label = room < MIN_LABEL_LETTERS ? "" : snippet(index.node.get(placed.id), room);
    labels.set(placed, label);
  }
  return label;
}

/** The width of a node's label. */
export function labelReach(index: TreeIndex, placed: Placed): number {
  const { length } = labelOf(index, placed);
  return length === 0 ? 0 : LABEL + Math.min(placed.room, length * LETTER);
}

function paintMarks(context: CanvasRenderingContext2D, scene: Scene, box: Box): void {
  const { index, layout, colours } = scene;
  const [first, after] = levelsIn(layout, box);
  context.font = `11px ${colours.font}`;
  context.textBaseline = "middle";
  for (const level of layout.levels.slice(first, after)) {
    const [start, end] = within(level, box);
    for (let slot = start; slot < end; slot++) {
      const placed = level[slot] as Placed;
      if (scene.rows.has(placed.id)) continue;
      paintAt(context, placed, () => paintMark(context, colours, lookOf(index, placed.id)));
    }
    // A label can be visible while its node is to the left of the visible part.
    context.fillStyle = colours.ink2;
    for (let slot = Math.max(0, start - 1); slot < end; slot++) {
      const placed = level[slot] as Placed;
      const label = labelOf(index, placed);
      if (label) context.fillText(label, placed.x + LABEL, placed.y + 0.5);
    }
  }
}

/** Paints the result of the assembly: the path and the fate of each node. */
function paintPath(context: CanvasRenderingContext2D, scene: Scene, box: Box, k: number): void {
  const { index, layout, colours, path, rows } = scene;
  const far = k < FAR;
  const shown = [...(scene.failed ? path : rows.keys())].flatMap((id) => {
    const placed = layout.at.get(id);
    return placed && placed.y >= box.top - ROW && placed.y <= box.bottom + ROW ? [placed] : [];
  });
  const used = (from: string, to: string): boolean => path.has(to) && (path.has(from) || rows.has(from));
  const lines = shown.filter(({ id, parent }) => parent && used(parent.id, id));
  paintLinesTo(context, colours, lines, true, far ? Math.max(1.5, 0.7 / k) : 1, false);
  for (const { kind, from, to } of layout.bows) {
    if (used(from.id, to.id)) paintLink(context, colours, kind, true, 1, bow(from, to));
  }
  let last: Placed | undefined;
  const r = Math.max(10, 2.2 / k);
  for (const placed of shown) {
    if (placed.x < box.left || placed.x > box.right) continue;
    const fate = rows.get(placed.id)?.fate;
    if (!far) {
      paintAt(context, placed, () => paintFate(context, colours, lookOf(index, placed.id), fate));
      continue;
    }
    if (last && Math.hypot(last.x - placed.x, last.y - placed.y) * k < APART) continue;
    last = placed;
    paintAt(context, placed, () => fill(context, circle(r), fate === undefined ? colours.ink : colours[fate]));
  }
}

/** Paints the rings around the current nodes. */
function paintRings(context: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, colours, tip, cursor, hovered, focused } = scene;
  const ring = (id: string | undefined, r: number, colour: string, width: number, dash?: number[]): void => {
    const placed = layout.at.get(id ?? "");
    if (placed) paintAt(context, placed, () => stroke(context, circle(r), colour, width, dash));
  };
  context.globalAlpha = 0.6;
  ring(hovered, 13, colours.ink, 1);
  context.globalAlpha = 1;
  ring(tip, 12, colours.ink, 2.4);
  if (focused) ring(cursor, 15.5, colours.accent, 3);
  else if (cursor !== tip) ring(cursor, 15.5, colours.accent, 2, [4, 3]);
}
