import { useSignal, useSignalEffect, type Signal } from "@preact/signals";
import type { Layout } from "./layout.js";
import { snippet, type TreeIndex } from "./tree-index.js";
import type { Size, Transform } from "./viewport.js";

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Shorter than this a label says nothing. */
const FEWEST_LETTERS = 8;
const LETTER = 6;

/**
 * The beginning of each node's text beside it, where there is room. Text is what costs most in a drawing, so only what
 * is in sight is written, and half a screen around it, so that it is there before one gets to it. A node's own name
 * says the same to a screen reader.
 */
export function Labels(props: {
  index: TreeIndex;
  layout: Layout;
  transform: Signal<Transform>;
  size: Signal<Size>;
  farBelow: number;
}) {
  const { index, layout, transform, size, farBelow } = props;
  const written = useSignal<Box | undefined>(undefined);
  useSignalEffect(() => {
    const { x, y, k } = transform.value;
    const { width, height } = size.value;
    if (k < farBelow || width === 0) {
      written.value = undefined;
      return;
    }
    const seen = { left: -x / k, top: -y / k, right: (width - x) / k, bottom: (height - y) / k };
    const box = written.peek();
    if (box && seen.left >= box.left && seen.top >= box.top && seen.right <= box.right && seen.bottom <= box.bottom)
      return;
    const aside = (seen.right - seen.left) / 2;
    const above = (seen.bottom - seen.top) / 2;
    written.value = {
      left: seen.left - aside,
      top: seen.top - above,
      right: seen.right + aside,
      bottom: seen.bottom + above,
    };
  });
  const box = written.value;
  if (!box) return null;
  const inside = index.tree.nodes.filter(({ id }) => {
    const at = layout.at.get(id);
    const room = layout.room.get(id) ?? 0;
    return (
      at &&
      room >= FEWEST_LETTERS * LETTER &&
      at.y > box.top &&
      at.y < box.bottom &&
      at.x < box.right &&
      at.x + room > box.left
    );
  });
  return (
    <g class="labels" aria-hidden="true">
      {inside.map((node) => {
        const at = layout.at.get(node.id);
        return at ? (
          <text key={node.id} class="label" data-node={node.id} x={at.x + 14} y={at.y} dy="0.32em">
            {snippet(node, Math.floor((layout.room.get(node.id) ?? 0) / LETTER))}
          </text>
        ) : null;
      })}
    </g>
  );
}
