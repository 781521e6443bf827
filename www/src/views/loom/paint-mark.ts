import type { NodeReport } from "ctxweave/loom";
import type { Author } from "./authors.js";
import type { Palette } from "./palette.js";
import type { LinkKind } from "./tree-index.js";

/** The look of a node: humans are round and models square, so that colour is not needed. */
export interface Look {
  author: Author;
  annotation?: boolean;
  edit?: boolean;
  excluded?: boolean;
  pruned?: boolean;
  bookmarked?: boolean;
}

type Context = CanvasRenderingContext2D;

const CROSS = new Path2D("M-4,-4L4,4M4,-4L-4,4");
const SLASH = new Path2D("M-4.5,4.5L4.5,-4.5");
const BAR = new Path2D("M-3.5,0H3.5");
const BOOKMARK = new Path2D("M5,-10H10V-2L7.5,-4L5,-2Z");

/** The context of a canvas, cleared and in pixels of this size on the screen. */
export function contextOf(canvas: HTMLCanvasElement, width: number, height: number): Context {
  const ratio = devicePixelRatio || 1;
  Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  const context = canvas.getContext("2d") as Context;
  context.scale(ratio, ratio);
  return context;
}

export function circle(r: number): Path2D {
  const path = new Path2D();
  path.arc(0, 0, r, 0, 2 * Math.PI);
  return path;
}

function shape({ author, annotation }: Look, grow = 0): Path2D {
  const r = (annotation ? 4.5 : 6) + grow;
  if (author === "human") return circle(r);
  const path = new Path2D();
  path.roundRect(-r, -r, 2 * r, 2 * r, r * 0.4);
  return path;
}

export function stroke(context: Context, path: Path2D, colour: string, width: number, dash: number[] = []): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.stroke(path);
}

export function fill(context: Context, path: Path2D, colour: string): void {
  context.fillStyle = colour;
  context.fill(path);
}

/** Paints a node at the origin that is not part of the assembly. */
export function paintMark(context: Context, colours: Palette, look: Look): void {
  const by = colours[look.author];
  if (look.edit) stroke(context, shape(look, 3.5), by, 1, [3, 2]);
  fill(context, shape(look), look.excluded || look.pruned ? colours.surface : colours[`${look.author}-soft`]);
  stroke(context, shape(look), by, 1.2, look.pruned ? [2, 2] : []);
  if (look.pruned) stroke(context, CROSS, colours.ink2, 1.6);
  else if (look.excluded) stroke(context, SLASH, colours.ink2, 1.6);
  if (look.bookmarked) fill(context, BOOKMARK, colours.accent);
}

/** Paints a node of the path at the origin, with its fate; none if the assembly failed. */
export function paintFate(context: Context, colours: Palette, look: Look, fate: NodeReport["fate"] | undefined): void {
  const by = colours[look.author];
  const frame = shape(look, 2.5);
  const reduced = fate === "cut" || fate === "changed";
  const isRemoved = fate !== undefined && fate !== "kept";
  if (look.edit) stroke(context, shape(look, 5.5), by, 1, [3, 2]);
  fill(context, frame, reduced ? colours["cut-soft"] : colours.surface);
  stroke(context, frame, fate === undefined ? colours.ink : colours[fate], 1.6, isRemoved ? [3.5, 2.5] : []);
  fill(context, shape(look), isRemoved ? colours.surface : by);
  stroke(context, shape(look), isRemoved ? by : colours.surface, 1.2);
  if (reduced) stroke(context, BAR, colours.cut, 2.2);
  else if (fate === "excluded") stroke(context, CROSS, colours.excluded, 2.2);
  else if (fate === "skipped") fill(context, circle(2.4), colours.skipped);
  if (look.bookmarked) fill(context, BOOKMARK, colours.accent);
}

const DASHES: Record<LinkKind, number[]> = {
  continuation: [],
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
  stroke(context, path, plain, strength * width, DASHES[kind]);
  context.globalAlpha = 1;
  context.lineCap = "butt";
}
