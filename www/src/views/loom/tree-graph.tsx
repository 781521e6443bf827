import { batch, effect, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { ReadonlySignal, Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { IconButton } from "../../ui/button.js";
import { nodeAt, type TreeLayout } from "./layout.js";
import { Minimap } from "./minimap.js";
import { FAR, labelReach, paintTree, type Scene } from "./paint-tree.js";
import { keepPalette, palette } from "./palette.js";
import { followPointer } from "./pointer.js";
import {
  cursor,
  hovered,
  index as indexSignal,
  layout as layoutSignal,
  open,
  outcome,
  path,
  pickTip,
  rows,
  tip,
} from "./state.js";
import { domId, TreeItems } from "./tree-items.js";
import { nodeName, type TreeIndex } from "./tree-index.js";
import { centreOn, firstSight, fit, resized, reveal, zoomAt, type Size, type Transform } from "./viewport.js";

/** Hit radius of a node, in the drawing and, at low zoom, on the screen. */
const REACH = 14;
const REACH_ON_SCREEN = 8;

/**
 * The tree on a canvas. Only the visible part is painted, so that a wheel tick or a key costs the same in large and
 * small trees. For screen readers there are items above it (tree-items.tsx).
 */
export function TreeGraph() {
  const index = indexSignal.value as TreeIndex;
  const layout = layoutSignal.value as TreeLayout;
  const surface = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const items = useRef<HTMLDivElement>(null);
  const transform = useSignal<Transform>({ x: 0, y: 0, k: 1 });
  const size = useSignal<Size>({ width: 0, height: 0 });
  const focused = useSignal(false);
  const onPath = useComputed(() => new Set(path.value));

  const scene = useComputed<Scene | undefined>(
    () =>
      palette.value && {
        index: indexSignal.value as TreeIndex,
        layout: layoutSignal.value as TreeLayout,
        colours: palette.value,
        path: onPath.value,
        rows: rows.value,
        failed: outcome.value?.kind === "error",
        tip: tip.value,
        cursor: cursor.value,
        hovered: hovered.value,
        focused: focused.value,
      },
  );
  usePainting(canvas, items, scene, transform, size);
  useEffect(keepPalette, []);

  // A new tree is fitted into view; a changed tree or another size keeps the middle.
  const seen = useRef<unknown>(undefined);
  useLayoutEffect(() => {
    const element = surface.current as HTMLDivElement;
    const measure = (): void => {
      const before = size.peek();
      const now = { width: element.clientWidth, height: element.clientHeight };
      if (now.width === 0) return;
      size.value = now;
      const point = layout.at.get(cursor.peek() ?? tip.peek() ?? "");
      if (seen.current === layout) transform.value = resized(transform.peek(), before, now, point);
      else transform.value = firstSight(layout, layout.at.get(tip.peek() ?? ""), now);
      seen.current = layout;
    };
    measure();
    const observer = new ResizeObserver(() => batch(measure));
    observer.observe(element);
    return () => observer.disconnect();
  }, [layout]);

  useSignalEffect(() => {
    const point = layoutSignal.value?.at.get(cursor.value ?? "");
    if (point && size.peek().width > 0) transform.value = reveal(transform.peek(), point, size.peek());
  });

  useEffect(
    () =>
      followPointer(surface.current as HTMLDivElement, {
        transform,
        nodeAt: (point) => {
          const { x, y, k } = transform.peek();
          const at = { x: (point.x - x) / k, y: (point.y - y) / k };
          const reach = Math.max(REACH, REACH_ON_SCREEN / k);
          return nodeAt(layoutSignal.peek() as TreeLayout, at, reach, (placed) =>
            k < FAR ? 0 : labelReach(indexSignal.peek() as TreeIndex, placed),
          );
        },
        onHover: (id) => (hovered.value = id),
        onPick: (id, look) => (look ? (cursor.value = id) : pickTip(id)),
      }),
    [],
  );

  const zoom = (factor: number): void => {
    transform.value = zoomAt(transform.value, factor, { x: size.value.width / 2, y: size.value.height / 2 });
  };
  const showAll = (): void => {
    transform.value = fit(layout, size.value);
  };
  const toTip = (): void => {
    const point = layout.at.get(tip.value ?? "");
    if (point) transform.value = centreOn(point, Math.max(transform.value.k, 0.9), size.value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const at = cursor.value ?? tip.value;
    const to = at === undefined ? undefined : step(key, at, index, layout, onPath.value);
    if (to !== undefined) cursor.value = to;
    else if ((key === "Enter" || key === " ") && at !== undefined) pickTip(at);
    else if (key === "+" || key === "=") zoom(1.25);
    else if (key === "-") zoom(0.8);
    else if (key === "0") showAll();
    else return;
    event.preventDefault();
  };

  const tools = [
    { icon: "plus", label: "Zoom in", title: "Zoom in (+)", onClick: () => zoom(1.25) },
    { icon: "minus", label: "Zoom out", title: "Zoom out (−)", onClick: () => zoom(0.8) },
    { icon: "fit", label: "Show the whole tree", title: "Show the whole tree (0)", onClick: showAll },
    { icon: "target", label: "Go to the tip", title: "Go to the tip", onClick: toTip },
  ] as const;
  return (
    <div class="relative grid min-h-0 min-w-0 flex-1 grid-cols-[minmax(0,1fr)_auto]">
      <div
        ref={surface}
        class="surface relative min-h-0 min-w-0 overflow-hidden select-none -outline-offset-2"
        role="tree"
        aria-label={`Tree: ${open.value?.tree.title ?? open.value?.name ?? ""}. Arrow keys move, Enter assembles from a node.`}
        aria-activedescendant={layout.at.has(cursor.value ?? "") ? domId(cursor.value ?? "") : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={() => (focused.value = surface.current?.matches(":focus-visible") ?? false)}
        onBlur={() => (focused.value = false)}
      >
        <canvas ref={canvas} class="absolute size-full" role="presentation" />
        <div ref={items} class="items" role="presentation">
          <TreeItems />
        </div>
      </div>
      <Minimap transform={transform} size={size} />
      <div
        class="absolute bottom-2.5 left-2.5 flex overflow-hidden rounded-m border border-line bg-surface"
        role="group"
        aria-label="Drawing"
      >
        {tools.map((tool) => (
          <IconButton
            key={tool.icon}
            class="p-2 text-ink-2 -outline-offset-2 not-first:border-s not-first:border-line hover:bg-sunken"
            {...tool}
          />
        ))}
      </div>
      <span class="sr-only" role="status">
        {tip.value === undefined ? "" : `Assembled from ${nodeName(index.node.get(tip.value), tip.value)}`}
      </span>
    </div>
  );
}

/**
 * Paints at most once per frame, only after changes, and immediately on resize, so that the image is never stretched.
 */
function usePainting(
  canvas: RefObject<HTMLCanvasElement | null>,
  items: RefObject<HTMLDivElement | null>,
  scene: ReadonlySignal<Scene | undefined>,
  transform: Signal<Transform>,
  size: Signal<Size>,
): void {
  useEffect(() => {
    let frame = 0;
    // `useSignalEffect` would run a frame later.
    const stop = effect(() => {
      const now = scene.value;
      const at = transform.value;
      const { width, height } = size.value;
      cancelAnimationFrame(frame);
      const element = canvas.current;
      if (!element || !now || width === 0 || height === 0) return;
      const ratio = devicePixelRatio || 1;
      const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
      const isResized = element.width !== across || element.height !== down;
      const paint = (): void => {
        // Setting the size clears the canvas, even if it is the same.
        if (isResized) Object.assign(element, { width: across, height: down });
        const context = element.getContext("2d");
        if (context) paintTree(context, now, at, { width, height }, ratio);
        if (items.current) items.current.style.transform = `translate(${at.x}px, ${at.y}px) scale(${at.k})`;
      };
      if (isResized) paint();
      else frame = requestAnimationFrame(paint);
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, []);
}

/** The target of an arrow key. */
function step(
  key: string,
  at: string,
  index: TreeIndex,
  layout: TreeLayout,
  path: ReadonlySet<string>,
): string | undefined {
  const placed = layout.at.get(at);
  const neighbor = (by: number): string | undefined => placed && layout.levels[placed.depth]?.[placed.slot + by]?.id;
  const children = index.children.get(at) ?? [];
  const targets: Record<string, string | undefined> = {
    ArrowUp: index.parent.get(at),
    ArrowDown: children.find((id) => path.has(id)) ?? children[0],
    ArrowLeft: neighbor(-1),
    ArrowRight: neighbor(1),
    Home: index.children.get(undefined)?.[0],
    End: tip.value,
  };
  return targets[key];
}
