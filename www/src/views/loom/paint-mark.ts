import type { NodeReport } from "ctxweave/loom";
import type { Author } from "./authors.js";
import type { TreeLink } from "./tree-index.js";
import type { Palette } from "./palette.js";

export type Fate = NodeReport["fate"];

/** The look of a node: humans are round and models square, so that colour is not needed. */
export interface Look {
  author: Author;
  annotation: boolean;
  edit: boolean;
  excluded: boolean;
  pruned: boolean;
  bookmarked: boolean;
}

export const PLAIN: Omit<Look, "author"> = {
  annotation: false,
  edit: false,
  excluded: false,
  pruned: false,
  bookmarked: false,
};

type Context = CanvasRenderingContext2D;

const WHOLE: number[] = [];

function shape(context: Context, { author, annotation }: Look, x: number, y: number, grow = 0): void {
  const r = (annotation ? 4.5 : 6) + grow;
  context.beginPath();
  if (author === "human") context.arc(x, y, r, 0, 2 * Math.PI);
  else context.roundRect(x - r, y - r, 2 * r, 2 * r, r * 0.4);
}

function stroke(context: Context, colour: string, width: number, dash: number[] = WHOLE, path?: Path2D): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  if (dash !== WHOLE) context.setLineDash(dash);
  if (path) context.stroke(path);
  else context.stroke();
  if (dash !== WHOLE) context.setLineDash(WHOLE);
}

function fill(context: Context, colour: string): void {
  context.fillStyle = colour;
  context.fill();
}

function lines(context: Context, x: number, y: number, ...segments: [number, number, number, number][]): void {
  context.beginPath();
  for (const [fromX, fromY, toX, toY] of segments) {
    context.moveTo(x + fromX, y + fromY);
    context.lineTo(x + toX, y + toY);
  }
}

/** Paints a node that is not part of the assembly. */
export function paintMark(context: Context, colours: Palette, look: Look, x: number, y: number): void {
  const by = colours[look.author];
  if (look.edit) {
    shape(context, look, x, y, 3.5);
    stroke(context, by, 1, [3, 2]);
  }
  shape(context, look, x, y);
  fill(context, look.excluded || look.pruned ? colours.surface : colours[`${look.author}-soft`]);
  stroke(context, by, 1.2, look.pruned ? [2, 2] : WHOLE);
  paintNotes(context, colours, look, x, y);
}

function paintNotes(context: Context, colours: Palette, look: Look, x: number, y: number): void {
  if (look.pruned) {
    lines(context, x, y, [-4, -4, 4, 4], [4, -4, -4, 4]);
    stroke(context, colours.ink2, 1.6);
  } else if (look.excluded) {
    lines(context, x, y, [-4.5, 4.5, 4.5, -4.5]);
    stroke(context, colours.ink2, 1.6);
  }
  if (look.bookmarked) {
    context.beginPath();
    context.moveTo(x + 5, y - 10);
    context.lineTo(x + 10, y - 10);
    context.lineTo(x + 10, y - 2);
    context.lineTo(x + 7.5, y - 4);
    context.lineTo(x + 5, y - 2);
    context.closePath();
    fill(context, colours.accent);
  }
}

/** Paints a node on the path with its fate; none if the assembly failed. */
export function paintFate(
  context: Context,
  colours: Palette,
  look: Look,
  fate: Fate | undefined,
  x: number,
  y: number,
): void {
  if (look.edit) {
    shape(context, look, x, y, 5.5);
    stroke(context, colours[look.author], 1, [3, 2]);
  }
  shape(context, look, x, y, 2.5);
  const reduced = fate === "cut" || fate === "changed";
  fill(context, reduced ? colours["cut-soft"] : colours.surface);
  const gone = fate !== undefined && fate !== "kept";
  stroke(context, fate === undefined ? colours.ink : colours[fate], 1.6, gone ? [3.5, 2.5] : WHOLE);
  shape(context, look, x, y);
  fill(context, gone ? colours.surface : colours[look.author]);
  stroke(context, gone ? colours[look.author] : colours.surface, 1.2);
  if (reduced) {
    lines(context, x, y, [-3.5, 0, 3.5, 0]);
    stroke(context, colours.cut, 2.2);
  } else if (fate === "excluded") {
    lines(context, x, y, [-3, -3, 3, 3], [3, -3, -3, 3]);
    stroke(context, colours.excluded, 2.2);
  } else if (fate === "skipped") {
    context.beginPath();
    context.arc(x, y, 2.4, 0, 2 * Math.PI);
    fill(context, colours.skipped);
  }
  if (look.bookmarked) paintNotes(context, colours, { ...look, excluded: false, pruned: false }, x, y);
}

type LinkKind = TreeLink["kind"];

const DASHES: Record<LinkKind, number[]> = {
  continuation: WHOLE,
  annotation: [1.5, 4],
  context: [6, 3],
  instruction: [2, 3],
  version: [8, 3, 2, 3],
};

/** Paints lines of one kind. Those on the path are stronger. */
export function paintLink(
  context: Context,
  colours: Palette,
  kind: LinkKind,
  used: boolean,
  width: number,
  path: Path2D,
): void {
  const plain = kind === "continuation" ? (used ? colours.ink : colours.line) : colours[kind];
  const strength = used ? (kind === "continuation" ? 2.4 : 2) : kind === "annotation" ? 1.8 : 1.2;
  context.globalAlpha = used || kind === "continuation" ? 1 : 0.65;
  context.lineCap = kind === "annotation" ? "round" : "butt";
  stroke(context, plain, strength * width, DASHES[kind], path);
  context.globalAlpha = 1;
  context.lineCap = "butt";
}
