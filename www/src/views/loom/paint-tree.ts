import type { NodeReport } from "ctxweave/loom";
import { authorOf, type Author } from "./authors.js";
import { firstWhere } from "../../ui/binary-search.js";
import { levelsIn, ROW, SIDE, type Box, type TreeLayout, type Placed } from "./layout.js";
import { paintFate, paintLink, paintMark, type Look } from "./paint-mark.js";
import type { Palette } from "./palette.js";
import { snippet, type TreeLink, type TreeIndex } from "./tree-index.js";
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

/** The visible rectangle of the drawing. */
function boxOf({ x, y, k }: Transform, { width, height }: Size, margin: number): Box {
  return {
    left: -x / k - margin,
    top: -y / k - margin,
    right: (width - x) / k + margin,
    bottom: (height - y) / k + margin,
  };
}

/** Paints only the visible part: the time depends on that, not on the size of the tree. */
export function paintTree(
  context: CanvasRenderingContext2D,
  scene: Scene,
  at: Transform,
  size: Size,
  ratio: number,
): void {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, size.width * ratio, size.height * ratio);
  context.setTransform(at.k * ratio, 0, 0, at.k * ratio, at.x * ratio, at.y * ratio);
  const far = at.k < FAR;
  const box = boxOf(at, size, far ? 8 / at.k : 16);
  paintLines(context, scene, box, at.k);
  paintBows(context, scene, box);
  if (far) paintDots(context, scene, box, at.k);
  else paintMarks(context, scene, box);
  paintPath(context, scene, box, at.k);
  paintRings(context, scene);
}

/** Paints the lines of the layout. Those of a level begin and end in the order of its nodes. */
function paintLines(context: CanvasRenderingContext2D, { layout, colours }: Scene, box: Box, k: number): void {
  const [first, after] = levelsIn(layout, box);
  const apart = k < FAR ? APART / k : 0;
  const straight = k < FAR / 2;
  const lines = new Lines();
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
      lines.add(parent, placed, straight);
    }
  }
  lines.paint(context, colours, false, k < FAR ? Math.min(2, FAR / k) : 1);
}

/** Collects lines from nodes to their children by kind, so that each kind is painted in one stroke. */
class Lines {
  readonly #paths = new Map<TreeLink["kind"], Path2D>();

  add(from: Placed, to: Placed, straight: boolean): void {
    let path = this.#paths.get(to.kind);
    if (!path) this.#paths.set(to.kind, (path = new Path2D()));
    path.moveTo(from.x, from.y);
    const middle = (from.y + to.y) / 2;
    if (straight || from.x === to.x) path.lineTo(to.x, to.y);
    else path.bezierCurveTo(from.x, middle, to.x, middle, to.x, to.y);
  }

  paint(context: CanvasRenderingContext2D, colours: Palette, used: boolean, width: number): void {
    for (const [kind, path] of this.#paths) paintLink(context, colours, kind, used, width, path);
  }
}

/** Paints lines outside the layout as bows, to distinguish them. */
function paintBows(context: CanvasRenderingContext2D, { layout, colours }: Scene, box: Box): void {
  for (const { link, from, to } of layout.bows) {
    if (Math.min(from.x, to.x) - SIDE > box.right || Math.max(from.x, to.x) < box.left) continue;
    if (Math.min(from.y, to.y) > box.bottom || Math.max(from.y, to.y) < box.top) continue;
    paintLink(context, colours, link.kind, false, 1, bow(from, to));
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
  const paths: Record<Author, Path2D> = {
    human: new Path2D(),
    "model-0": new Path2D(),
    "model-1": new Path2D(),
    "model-2": new Path2D(),
  };
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
      paths[authorOf(index, placed.id)].rect(placed.x - r, placed.y - r, 2 * r, 2 * r);
    }
  }
  for (const author of Object.keys(paths) as Author[]) {
    context.fillStyle = colours[`${author}-soft`];
    context.fill(paths[author]);
    if (r * k < 2) continue;
    context.strokeStyle = colours[author];
    context.lineWidth = 1.2;
    context.stroke(paths[author]);
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
      if (!scene.rows.has(placed.id)) paintMark(context, colours, lookOf(index, placed.id), placed.x, placed.y);
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
  const lines = new Lines();
  for (const placed of shown) {
    if (placed.parent && used(placed.parent.id, placed.id)) lines.add(placed.parent, placed, false);
  }
  lines.paint(context, colours, true, far ? Math.max(1.5, 0.7 / k) : 1);
  for (const { link, from, to } of layout.bows) {
    if (used(link.from, link.to)) paintLink(context, colours, link.kind, true, 1, bow(from, to));
  }
  let last: Placed | undefined;
  const r = Math.max(10, 2.2 / k);
  for (const placed of shown) {
    if (placed.x < box.left || placed.x > box.right) continue;
    const fate = rows.get(placed.id)?.fate;
    if (!far) {
      paintFate(context, colours, lookOf(index, placed.id), fate, placed.x, placed.y);
      continue;
    }
    if (last && Math.hypot(last.x - placed.x, last.y - placed.y) * k < APART) continue;
    last = placed;
    context.beginPath();
    context.arc(placed.x, placed.y, r, 0, 2 * Math.PI);
    context.fillStyle = fate === undefined ? colours.ink : colours[fate];
    context.fill();
  }
}

/** Paints the rings around the current nodes. */
function paintRings(context: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, colours, tip, cursor, hovered, focused } = scene;
  const ring = (id: string | undefined, r: number, colour: string, width: number, dash: number[]): void => {
    const placed = id === undefined ? undefined : layout.at.get(id);
    if (!placed) return;
    context.beginPath();
    context.arc(placed.x, placed.y, r, 0, 2 * Math.PI);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
  };
  context.globalAlpha = 0.6;
  ring(hovered, 13, colours.ink, 1, []);
  context.globalAlpha = 1;
  ring(tip, 12, colours.ink, 2.4, []);
  if (focused) ring(cursor, 15.5, colours.accent, 3, []);
  else if (cursor !== tip) ring(cursor, 15.5, colours.accent, 2, [4, 3]);
}
