import { batch, effect, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { IconButton } from "../../ui/button.js";
import { layoutTree, nodeAt, type TreeLayout } from "./layout.js";
import { Minimap } from "./minimap.js";
import { FAR, labelReach, paintTree, type Scene } from "./paint-tree.js";
import { keepPalette, palette } from "./palette.js";
import { followPointer } from "./pointer.js";
import {
  cursor,
  hovered,
  index as indexSignal,
  open,
  outcome,
  path as pathSignal,
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
  // Exclusion changes the look of a node, not its position.
  const layout = useMemo(() => layoutTree(index), [index.links]);
  const surface = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const items = useRef<HTMLDivElement>(null);
  const transform = useSignal<Transform>({ x: 0, y: 0, k: 1 });
  const size = useSignal<Size>({ width: 0, height: 0 });
  const focused = useSignal(false);
  const drawn = useSignal({ index, layout });
  drawn.value = { index, layout };
  const onPath = useComputed(() => new Set(pathSignal.value));

  const scene = useComputed<Scene | undefined>(
    () =>
      palette.value && {
        ...drawn.value,
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
  const room = useRef<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = surface.current as HTMLDivElement;
    const measure = (): void => {
      size.value = { width: element.clientWidth, height: element.clientHeight };
      if (size.value.width === 0) return;
      const before = room.current;
      room.current = size.value;
      if (seen.current === open.value) {
        const point = layout.at.get(cursor.peek() ?? tip.peek() ?? "");
        transform.value = resized(transform.peek(), before, size.value, point);
        return;
      }
      seen.current = open.value;
      transform.value = firstSight(layout, layout.at.get(tip.value ?? ""), size.value);
    };
    measure();
    const observer = new ResizeObserver(() => batch(measure));
    observer.observe(element);
    return () => observer.disconnect();
  }, [layout]);

  useSignalEffect(() => {
    const point = drawn.value.layout.at.get(cursor.value ?? "");
    if (point && size.peek().width > 0) transform.value = reveal(transform.peek(), point, size.peek());
  });

  useEffect(
    () =>
      followPointer(surface.current as HTMLDivElement, {
        transform,
        nodeAt: (point) => {
          const { index, layout } = drawn.peek();
          const { x, y, k } = transform.peek();
          const at = { x: (point.x - x) / k, y: (point.y - y) / k };
          const reach = Math.max(REACH, REACH_ON_SCREEN / k);
          return nodeAt(layout, at, reach, (placed) => (k < FAR ? 0 : labelReach(index, placed)));
        },
        onHover: (id) => {
          hovered.value = id;
          if (surface.current) surface.current.dataset["over"] = String(id !== undefined);
        },
        onPick: (id, look) => {
          if (look) cursor.value = id;
          else pickTip(id);
        },
      }),
    [],
  );

  const zoom = (factor: number): void => {
    transform.value = zoomAt(transform.value, factor, { x: size.value.width / 2, y: size.value.height / 2 });
  };
  const toTip = (): void => {
    const point = layout.at.get(tip.value ?? "");
    if (point) transform.value = centreOn(point, Math.max(transform.value.k, 0.9), size.value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = cursor.value ?? tip.value;
    const to = at === undefined ? undefined : step(event.key, at, index, layout, onPath.value, tip.value);
    if (to !== undefined) cursor.value = to;
    else if ((event.key === "Enter" || event.key === " ") && at !== undefined) pickTip(at);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") transform.value = fit(layout, size.value);
    else return;
    event.preventDefault();
  };

  const active = cursor.value !== undefined && layout.at.has(cursor.value) ? domId(cursor.value) : undefined;
  return (
    <div class="graph">
      <div
        ref={surface}
        class="surface"
        role="tree"
        aria-label={`Tree: ${open.value?.tree.title ?? open.value?.name ?? ""}. Arrow keys move, Enter assembles from a node.`}
        aria-activedescendant={active}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={() => (focused.value = surface.current?.matches(":focus-visible") ?? false)}
        onBlur={() => (focused.value = false)}
      >
        <canvas ref={canvas} role="presentation" />
        <div ref={items} class="items" role="presentation">
          <TreeItems index={index} layout={layout} rows={rows.value} tip={tip.value} cursor={cursor.value} />
        </div>
      </div>
      <Minimap layout={layout} transform={transform} size={size} path={pathSignal.value} rows={rows.value} />
      <div class="graph-tools" role="group" aria-label="Drawing">
        <IconButton icon="plus" label="Zoom in" title="Zoom in (+)" onClick={() => zoom(1.25)} />
        <IconButton icon="minus" label="Zoom out" title="Zoom out (−)" onClick={() => zoom(0.8)} />
        <IconButton
          icon="fit"
          label="Show the whole tree"

          title="Show the whole tree (0)"
          onClick={() => (transform.value = fit(layout, size.value))}
        />
        <IconButton icon="target" label="Go to the tip" title="Go to the tip" onClick={toTip} />
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
  canvas: { current: HTMLCanvasElement | null },
  items: { current: HTMLDivElement | null },
  scene: { value: Scene | undefined },
  transform: { value: Transform },
  size: { value: Size },
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
  tipId: string | undefined,
): string | undefined {
  switch (key) {
    case "ArrowUp":
      return index.parent.get(at);
    case "ArrowDown": {
      const children = index.children.get(at) ?? [];
      return children.find((id) => path.has(id)) ?? children[0];
    }
    case "ArrowLeft":
    case "ArrowRight": {
      const level = layout.levels[index.depth.get(at) ?? 0] ?? [];
      const slot = layout.at.get(at)?.slot;
      return slot === undefined ? undefined : level[slot + (key === "ArrowLeft" ? -1 : 1)]?.id;
    }
    case "Home":
      return index.roots[0];
    case "End":
      return tipId;
    default:
      return undefined;
  }
}
