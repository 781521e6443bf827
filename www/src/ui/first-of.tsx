import { useState } from "preact/hooks";
import { count } from "./format.js";

/**
 * The first of a long list, and a button for as many more, which is undefined where there are none: for lists that are part of
 * a page that scrolls as a whole (windowed.tsx is for the others).
 */
export function useFirstOf<T>(items: readonly T[], step: number) {
  const [most, setMost] = useState(step);
  const left = items.length - most;
  if (left <= 0) return { shown: items, more: undefined };
  return {
    shown: items.slice(0, most),
    more: (
      <button type="button" class="small" onClick={() => setMost(most + step)}>
        Show {count(Math.min(step, left))} more of {count(items.length)}
      </button>
    ),
  };
}
