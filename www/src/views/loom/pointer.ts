import type { Point } from "./layout.js";
import { zoomAt, type Transform } from "./viewport.js";

interface Gestures {
  transform: { value: Transform; peek: () => Transform };
  /** The node at a point of the element. */
  nodeAt: (point: Point) => string | undefined;
  onHover: (id: string | undefined) => void;
  /** `look` with Shift: inspects the node without picking it. */
  onPick: (id: string, look: boolean) => void;
}

/** Distance that a pointer may move during a click. */
const STILL = 4;

/**
 * Drag to pan, wheel to pan, pinch or Ctrl and wheel to zoom, click to pick. If the page scrolls, the wheel and
 * vertical swipes scroll the page. Returns a function that stops it.
 */
export function followPointer(element: HTMLElement, { transform, nodeAt, onHover, onPick }: Gestures): () => void {
  const pointers = new Map<number, Point>();
  let moved = 0;
  const local = (event: { clientX: number; clientY: number }): Point => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const hover = (id: string | undefined): void => {
    element.dataset["over"] = String(id !== undefined);
    onHover(id);
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, local(event));
    if (pointers.size === 1) moved = 0;
  };
  const move = (event: PointerEvent): void => {
    const before = pointers.get(event.pointerId);
    const now = local(event);
    if (!before) {
      if (event.pointerType === "mouse") hover(nodeAt(now));
      return;
    }
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
      if (moved > STILL) {
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
    const id = moved > STILL ? undefined : nodeAt(local(event));
    if (id !== undefined) onPick(id, event.shiftKey);
  };
  const wheel = (event: WheelEvent): void => {
    const zooms = event.ctrlKey || event.metaKey;
    if (!zooms && document.documentElement.scrollHeight > innerHeight) return;
    event.preventDefault();
    const t = transform.peek();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    transform.value = zooms
      ? zoomAt(t, Math.exp(-event.deltaY * unit * 0.006), local(event))
      : { ...t, x: t.x - event.deltaX * unit, y: t.y - event.deltaY * unit };
  };

  const off = new AbortController();
  const listen = { signal: off.signal };
  element.addEventListener("pointerdown", down, listen);
  element.addEventListener("pointermove", move, listen);
  element.addEventListener("pointerup", up, listen);
  element.addEventListener("pointercancel", up, listen);
  element.addEventListener("pointerleave", () => hover(undefined), listen);
  element.addEventListener("click", click, listen);
  element.addEventListener("wheel", wheel, { ...listen, passive: false });
  return () => off.abort();
}
