import { effect, type Signal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Point, TreeLayout } from "./layout.js";
import { contextOf } from "./paint-mark.js";
import { palette } from "./palette.js";
import { layout as layoutSignal, path, rows } from "./state.js";
import { centreOn, type Size, type Transform } from "./viewport.js";

const WIDTH = 48;
const PAD = 6;

/** Shows the whole drawing in the strip. */
function fitted({ left, top, right, bottom }: TreeLayout["bounds"], height: number): Transform {
  const k = Math.min((WIDTH - 2 * PAD) / Math.max(1, right - left), (height - 2 * PAD) / Math.max(1, bottom - top));
  return { k, x: WIDTH / 2 - ((left + right) / 2) * k, y: PAD - top * k };
}

/** Draws dots; of overlapping ones only the first. */
function dots(
  context: CanvasRenderingContext2D,
  { at }: TreeLayout,
  ids: Iterable<string>,
  colourOf: (id: string) => string,
  side: number,
  { k, x, y }: Transform,
): void {
  const taken = new Set<number>();
  for (const id of ids) {
    const placed = at.get(id);
    if (!placed) continue;
    const [left, top] = [Math.round(placed.x * k + x - side / 2), Math.round(placed.y * k + y - side / 2)];
    const cell = top * WIDTH + left;
    if (taken.has(cell)) continue;
    taken.add(cell);
    context.fillStyle = colourOf(id);
    context.fillRect(left, top, side, side);
  }
}

/**
 * The whole tree in a strip, with a frame around the visible part. For the pointer only; keyboard users have other
 * navigation. The dots are painted when the tree or its fates change; panning only moves the frame.
 */
export function Minimap({ transform, size }: { transform: Signal<Transform>; size: Signal<Size> }) {
  const layout = layoutSignal.value as TreeLayout;
  const colours = palette.value;
  const height = Math.max(40, size.value.height);
  const strip = fitted(layout.bounds, height);
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  // The dots of unaffected nodes are many, and the same for every assembly.
  const others = useMemo(() => {
    const kept = document.createElement("canvas");
    const context = contextOf(kept, WIDTH, height);
    if (colours) dots(context, layout, layout.at.keys(), () => colours.other, 2, strip);
    return kept;
  }, [layout, colours, height]);

  useLayoutEffect(() => {
    if (!canvas.current || !colours) return;
    const context = contextOf(canvas.current, WIDTH, height);
    context.drawImage(others, 0, 0, WIDTH, height);
    const fates = rows.value;
    const shown = fates.size > 0 ? fates.keys() : path.value;
    dots(context, layout, shown, (id) => colours[fates.get(id)?.fate ?? "accent"], 3, strip);
  }, [others, path.value, rows.value]);

  useLayoutEffect(
    () =>
      effect(() => {
        const { k, x, y } = transform.value;
        const [left, top] = [strip.x - (x / k) * strip.k, strip.y - (y / k) * strip.k];
        const right = WIDTH - left - (size.value.width / k) * strip.k;
        const bottom = height - top - (size.value.height / k) * strip.k;
        const inset = [top, right, bottom, left].map((side) => `max(0px, ${side}px)`);
        if (frame.current) frame.current.style.inset = inset.join(" ");
      }),
    [layout, height],
  );

  const jump = (event: PointerEvent & { currentTarget: HTMLCanvasElement }): void => {
    if (event.buttons === 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const point: Point = { x: (event.offsetX - strip.x) / strip.k, y: (event.offsetY - strip.y) / strip.k };
    transform.value = centreOn(point, transform.value.k, size.value);
  };
  return (
    <div class="relative w-12 overflow-hidden border-s border-line bg-sunken max-two:hidden" aria-hidden="true">
      <canvas
        ref={canvas}
        class="cursor-pointer touch-none"
        style={{ inlineSize: WIDTH, blockSize: height }}
        onPointerDown={jump}
        onPointerMove={jump}
      />
      <div ref={frame} class="pointer-events-none absolute min-h-1 min-w-1 rounded-[3px] border-[1.5px] border-ink-2" />
    </div>
  );
}
