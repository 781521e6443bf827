import { useSignalEffect, type Signal } from "@preact/signals";
import type { NodeReport } from "ctxweave/loom";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../../shell/theme.js";
import type { Layout } from "./layout.js";
import type { Size, Transform } from "./viewport.js";

const WIDTH = 48;
const PAD = 6;

/**
 * The whole tree in a strip, with the part in sight framed. For the pointer only: keys have better ways to move. The
 * dots are painted when the tree or its fates change; moving about moves only the frame.
 */
export function Minimap(props: {
  layout: Layout;
  transform: Signal<Transform>;
  size: Signal<Size>;
  path: string[];
  rows: Map<string, NodeReport>;
}) {
  const { layout, transform, size, path, rows } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
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
    if (!element || !context || size.value.height === 0) return;
    const { k, x, y, height } = scale();
    const ratio = devicePixelRatio || 1;
    element.width = WIDTH * ratio;
    element.height = height * ratio;
    element.style.height = `${height}px`;
    const style = getComputedStyle(element);
    const names = ["other", "path", "kept", "cut", "excluded", "skipped"] as const;
    const colour = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--mini-${name}`)])) as Record<
      (typeof names)[number],
      string
    >;
    context.scale(ratio, ratio);
    const dots = (ids: Iterable<string>, fill: (id: string) => string, side: number): void => {
      for (const id of ids) {
        const at = layout.at.get(id);
        if (!at) continue;
        context.fillStyle = fill(id);
        context.fillRect(at.x * k + x - side / 2, at.y * k + y - side / 2, side, side);
      }
    };
    dots(layout.at.keys(), () => colour.other, 2);
    dots(rows.size > 0 ? rows.keys() : path, (id) => colour[rows.get(id)?.fate ?? "path"], 3);
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

  // Colours come from the style sheet, so a change of theme is a change of the drawing.
  useSignalEffect(() => {
    void theme.value;
    draw();
  });
  useSignalEffect(place);
  useEffect(() => {
    draw();
    place();
  }, [layout, path, rows]);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => dark.removeEventListener("change", draw);
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
