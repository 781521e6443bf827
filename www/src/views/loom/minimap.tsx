import { useSignalEffect, type Signal } from "@preact/signals";
import type { NodeReport } from "ctxweave/loom";
import { useEffect, useRef } from "preact/hooks";
import type { TreeLayout } from "./layout.js";
import { palette, type Palette } from "./palette.js";
import type { Size, Transform } from "./viewport.js";

const WIDTH = 48;
const PAD = 6;

/** Draws dots; of overlapping ones only the first. */
function dots(
  context: CanvasRenderingContext2D,
  layout: TreeLayout,
  ids: Iterable<string>,
  colourOf: (id: string) => string,
  side: number,
  { k, x, y }: Transform,
): void {
  const taken = new Set<number>();
  for (const id of ids) {
    const at = layout.at.get(id);
    if (!at) continue;
    const [left, top] = [Math.round(at.x * k + x - side / 2), Math.round(at.y * k + y - side / 2)];
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
export function Minimap(props: {
  layout: TreeLayout;
  transform: Signal<Transform>;
  size: Signal<Size>;
  path: string[];
  rows: Map<string, NodeReport>;
}) {
  const { layout, transform, size, path, rows } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const others = useRef<{ layout: TreeLayout; colours: Palette; height: number; kept: HTMLCanvasElement }>(undefined);
  const scale = (): { k: number; x: number; y: number; height: number } => {
    const { bounds } = layout;
    const height = Math.max(40, size.value.height);
    const k = Math.min(
      (WIDTH - 2 * PAD) / Math.max(1, bounds.right - bounds.left),
      (height - 2 * PAD) / Math.max(1, bounds.bottom - bounds.top),
    );
    return { k, x: WIDTH / 2 - ((bounds.left + bounds.right) / 2) * k, y: PAD - bounds.top * k, height };
  };

  const draw = (): void => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    const colours = palette.value;
    if (!element || !context || !colours || size.value.height === 0) return;
    const { k, x, y, height } = scale();
    const ratio = devicePixelRatio || 1;
    element.width = WIDTH * ratio;
    element.height = height * ratio;
    element.style.height = `${height}px`;
    context.scale(ratio, ratio);
    const at = { k, x, y };
    // The dots of unaffected nodes are many, and the same for every assembly.
    if (others.current?.layout !== layout || others.current.colours !== colours || others.current.height !== height) {
      const kept = document.createElement("canvas");
      kept.width = element.width;
      kept.height = element.height;
      const onto = kept.getContext("2d");
      onto?.scale(ratio, ratio);
      if (onto) dots(onto, layout, layout.at.keys(), () => colours.other, 2, at);
      others.current = { layout, colours, height, kept };
    }
    context.drawImage(others.current.kept, 0, 0, WIDTH, height);
    const shown = rows.size > 0 ? rows.keys() : path;
    dots(context, layout, shown, (id) => colours[rows.get(id)?.fate ?? "accent"], 3, at);
  };

  const place = (): void => {
    const element = frame.current;
    if (!element || size.value.height === 0) return;
    const { k, x, y, height } = scale();
    const t = transform.value;
    const within = (value: number, most: number): number => Math.min(most, Math.max(0, value));
    const left = within((-t.x / t.k) * k + x, WIDTH);
    const top = within((-t.y / t.k) * k + y, height);
    const right = within(((size.value.width - t.x) / t.k) * k + x, WIDTH);
    const bottom = within(((size.value.height - t.y) / t.k) * k + y, height);
    element.style.inset = `${top}px auto auto ${left}px`;
    element.style.width = `${Math.max(4, right - left)}px`;
    element.style.height = `${Math.max(4, bottom - top)}px`;
  };

  // Effects run once and draw the current state.
  const drawing = useRef(draw);
  drawing.current = draw;
  useSignalEffect(place);
  useSignalEffect(() => {
    void palette.value;
    void size.value;
    drawing.current();
  });
  useEffect(() => {
    draw();
    place();
  }, [layout, path, rows]);

  const jump = (event: PointerEvent): void => {
    if (event.buttons === 0) return;
    const element = canvas.current as HTMLCanvasElement;
    element.setPointerCapture(event.pointerId);
    const box = element.getBoundingClientRect();
    const { k, x, y } = scale();
    const t = transform.value;
    transform.value = {
      k: t.k,
      x: size.value.width * 0.42 - ((event.clientX - box.left - x) / k) * t.k,
      y: size.value.height / 2 - ((event.clientY - box.top - y) / k) * t.k,
    };
  };
  return (
    <div class="strip" aria-hidden="true">
      <canvas ref={canvas} width={WIDTH} onPointerDown={jump} onPointerMove={jump} />
      <div class="strip-frame" ref={frame} />
    </div>
  );
}
