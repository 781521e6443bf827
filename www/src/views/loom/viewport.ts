import type { TreeLayout, Point } from "./layout.js";

/** The visible part of the drawing: screen = drawing × k + (x, y). */
export interface Transform {
  x: number;
  y: number;
  k: number;
}

export interface Size {
  width: number;
  height: number;
}

const SMALLEST = 0.02;
const LARGEST = 3;
const MARGIN = 28;

export function zoomAt(t: Transform, factor: number, center: Point): Transform {
  const k = Math.min(LARGEST, Math.max(SMALLEST, t.k * factor));
  const by = k / t.k;
  return { k, x: center.x - (center.x - t.x) * by, y: center.y - (center.y - t.y) * by };
}

/** Shows the whole drawing, at most in full size. */
export function fit({ bounds }: TreeLayout, size: Size): Transform {
  const width = bounds.right - bounds.left || 1;
  const height = bounds.bottom - bounds.top || 1;
  const k = Math.max(SMALLEST, Math.min(1, (size.width - 2 * MARGIN) / width, (size.height - 2 * MARGIN) / height));
  return {
    k,
    x: size.width / 2 - ((bounds.left + bounds.right) / 2) * k,
    y: size.height / 2 - ((bounds.top + bounds.bottom) / 2) * k,
  };
}

export function centreOn(point: Point, k: number, size: Size): Transform {
  return { k, x: size.width * 0.42 - point.x * k, y: size.height * 0.62 - point.y * k };
}

/** The smallest movement that makes a point visible. */
export function reveal(t: Transform, point: Point, size: Size): Transform {
  const x = point.x * t.k + t.x;
  const y = point.y * t.k + t.y;
  const into = (value: number, length: number): number =>
    value < MARGIN ? MARGIN - value : value > length - MARGIN ? length - MARGIN - value : 0;
  return { k: t.k, x: t.x + into(x, size.width), y: t.y + into(y, size.height) };
}

/** Keeps the middle after a resize, and a visible point visible. */
export function resized(t: Transform, before: Size, now: Size, point: Point | undefined): Transform {
  const [wider, higher] = [now.width - before.width, now.height - before.height];
  if (wider === 0 && higher === 0) return t;
  const moved = { k: t.k, x: t.x + wider / 2, y: t.y + higher / 2 };
  if (!point) return moved;
  const isIn = (value: number, length: number): boolean => value >= 0 && value <= length;
  const wasSeen = isIn(point.x * t.k + t.x, before.width) && isIn(point.y * t.k + t.y, before.height);
  return wasSeen ? reveal(moved, point, now) : moved;
}

/** The initial view of a tree: all of it if readable, otherwise the surroundings of the tip. */
export function firstSight(layout: TreeLayout, tip: Point | undefined, size: Size): Transform {
  const all = fit(layout, size);
  return all.k >= 0.6 || !tip ? all : centreOn(tip, 0.9, size);
}
