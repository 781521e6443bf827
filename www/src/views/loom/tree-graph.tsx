import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Icon } from "../../ui/icons.js";
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
import { Labels } from "./labels.js";
import { layoutTree, type Layout } from "./layout.js";
import { Minimap } from "./minimap.js";
import { StaticTree, TreeOverlay } from "./tree-marks.js";
import { nodeName, type TreeIndex } from "./tree-index.js";
import { centreOn, firstSight, fit, reveal, zoomAt, type Size, type Transform } from "./viewport.js";

/** Below this zoom a node is a dot, and its label would not be read. */
const FAR = 0.55;

/**
 * The tree, drawn. The drawing itself is made once for a tree and never touched while one moves about in it: panning
 * and zooming set one transform, and a new assembly redraws only what lies on its path.
 */
export function TreeGraph() {
  const index = indexSignal.value as TreeIndex;
  const layout = useMemo(() => layoutTree(index), [index]);
  const svg = useRef<SVGSVGElement>(null);
  const world = useRef<SVGGElement>(null);
  const transform = useSignal<Transform>({ x: 0, y: 0, k: 1 });
  const size = useSignal<Size>({ width: 0, height: 0 });
  const frame = useRef<HTMLDivElement>(null);

  useSignalEffect(() => {
    const { x, y, k } = transform.value;
    world.current?.setAttribute("transform", `translate(${x},${y}) scale(${k})`);
    if (frame.current) frame.current.dataset["far"] = String(k < FAR);
  });

  // A new tree opens with its own first sight; one that only changed keeps what is seen.
  const seen = useRef<unknown>(undefined);
  useLayoutEffect(() => {
    const element = svg.current as SVGSVGElement;
    const measure = (): void => {
      size.value = { width: element.clientWidth, height: element.clientHeight };
      if (seen.current === open.value || size.value.width === 0) return;
      seen.current = open.value;
      transform.value = firstSight(layout, layout.at.get(tip.value ?? ""), size.value);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [layout]);

  useSignalEffect(() => {
    const point = layout.at.get(cursor.value ?? "");
    if (point && size.peek().width > 0) transform.value = reveal(transform.peek(), point, size.peek());
  });

  usePointer(svg, transform);

  // Which one is chosen changes with every pick; the drawing is not made again for it.
  useEffect(() => {
    const chosen = tip.value === undefined ? null : document.getElementById(domId(tip.value));
    chosen?.setAttribute("aria-selected", "true");
    return () => chosen?.setAttribute("aria-selected", "false");
  }, [tip.value, layout]);

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
    const to = at === undefined ? undefined : step(event.key, at, index, layout, pathSignal.value, tip.value);
    if (to !== undefined) cursor.value = to;
    else if ((event.key === "Enter" || event.key === " ") && at !== undefined) pickTip(at);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") transform.value = fit(layout, size.value);
    else return;
    event.preventDefault();
  };

  const drawing = useMemo(() => <StaticTree index={index} layout={layout} />, [index, layout]);
  const failed = outcome.value?.kind === "error";
  return (
    <div class="graph" ref={frame}>
      <svg
        ref={svg}
        role="tree"
        aria-label={`Tree: ${open.value?.tree.title ?? open.value?.name ?? ""}. Arrow keys move, Enter assembles from a node.`}
        aria-activedescendant={cursor.value === undefined ? undefined : domId(cursor.value)}
        tabindex={0}
        onKeyDown={onKeyDown}
      >
        <g ref={world} role="presentation">
          {drawing}
          <Labels index={index} layout={layout} transform={transform} size={size} farBelow={FAR} />
          <TreeOverlay
            index={index}
            layout={layout}
            path={pathSignal.value}
            rows={rows.value}
            tip={tip.value}
            cursor={cursor.value}
            hovered={hovered.value}
            failed={failed}
          />
        </g>
      </svg>
      <Minimap layout={layout} transform={transform} size={size} path={pathSignal.value} rows={rows.value} />
      <div class="graph-tools" role="group" aria-label="Drawing">
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => zoom(1.25)}>
          <Icon name="plus" />
        </button>
        <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => zoom(0.8)}>
          <Icon name="minus" />
        </button>
        <button
          type="button"
          aria-label="Show the whole tree"
          title="Show the whole tree (0)"
          onClick={() => (transform.value = fit(layout, size.value))}
        >
          <Icon name="fit" />
        </button>
        <button type="button" aria-label="Go to the tip" title="Go to the tip" onClick={toTip}>
          <Icon name="target" />
        </button>
      </div>
      <span class="visually-hidden" role="status">
        {tip.value === undefined ? "" : `Assembled from ${nodeName(index.node.get(tip.value), tip.value)}`}
      </span>
    </div>
  );
}

/** An id that is fit for the document whatever the tree's own ids hold. */
export function domId(nodeId: string): string {
  return `node-${encodeURIComponent(nodeId)}`;
}

/** Where an arrow key leads. */
function step(
  key: string,
  at: string,
  index: TreeIndex,
  layout: Layout,
  path: string[],
  tipId: string | undefined,
): string | undefined {
  switch (key) {
    case "ArrowUp":
      return index.parent.get(at);
    case "ArrowDown": {
      const children = index.children.get(at) ?? [];
      return children.find((id) => path.includes(id)) ?? children[0];
    }
    case "ArrowLeft":
    case "ArrowRight": {
      const level = layout.levels[index.depth.get(at) ?? 0] ?? [];
      return level[level.indexOf(at) + (key === "ArrowLeft" ? -1 : 1)];
    }
    case "Home":
      return index.roots[0];
    case "End":
      return tipId;
    default:
      return undefined;
  }
}

/** Drag to pan, wheel to pan, pinch or Ctrl and wheel to zoom, click to pick. Shift and click only looks. */
function usePointer(
  svg: { current: SVGSVGElement | null },
  transform: { value: Transform; peek: () => Transform },
): void {
  useEffect(() => {
    const element = svg.current as SVGSVGElement;
    const pointers = new Map<number, { x: number; y: number }>();
    let moved = 0;
    const nodeAt = (event: Event): string | undefined =>
      (event.target as Element).closest?.("[data-node]")?.getAttribute("data-node") ?? undefined;
    const local = (event: { clientX: number; clientY: number }): { x: number; y: number } => {
      const box = element.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };

    const down = (event: PointerEvent): void => {
      if (event.button !== 0) return;
      pointers.set(event.pointerId, local(event));
      if (pointers.size === 1) moved = 0;
    };
    const move = (event: PointerEvent): void => {
      const before = pointers.get(event.pointerId);
      if (!before) {
        if (event.pointerType === "mouse") hovered.value = nodeAt(event);
        return;
      }
      const now = local(event);
      const t = transform.peek();
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const was = Math.hypot(before.x - other.x, before.y - other.y) || 1;
        transform.value = zoomAt(t, Math.hypot(now.x - other.x, now.y - other.y) / was, {
          x: (now.x + other.x) / 2,
          y: (now.y + other.y) / 2,
        });
        moved = Number.POSITIVE_INFINITY;
      } else {
        moved += Math.hypot(now.x - before.x, now.y - before.y);
        if (moved > 4) {
          if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
          element.dataset["dragging"] = "";
          transform.value = { ...t, x: t.x + now.x - before.x, y: t.y + now.y - before.y };
        }
      }
      pointers.set(event.pointerId, now);
    };
    const up = (event: PointerEvent): void => {
      pointers.delete(event.pointerId);
      delete element.dataset["dragging"];
    };
    const click = (event: MouseEvent): void => {
      const id = nodeAt(event);
      if (id === undefined || moved > 4) return;
      if (event.shiftKey) cursor.value = id;
      else pickTip(id);
    };
    const leave = (): void => {
      hovered.value = undefined;
    };
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const t = transform.peek();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      if (event.ctrlKey || event.metaKey)
        transform.value = zoomAt(t, Math.exp(-event.deltaY * unit * 0.006), local(event));
      else transform.value = { ...t, x: t.x - event.deltaX * unit, y: t.y - event.deltaY * unit };
    };

    const off = new AbortController();
    const listen = { signal: off.signal };
    element.addEventListener("pointerdown", down, listen);
    element.addEventListener("pointermove", move, listen);
    element.addEventListener("pointerup", up, listen);
    element.addEventListener("pointercancel", up, listen);
    element.addEventListener("pointerleave", leave, listen);
    element.addEventListener("click", click, listen);
    element.addEventListener("wheel", wheel, { ...listen, passive: false });
    return () => off.abort();
  }, []);
}
