import { useState } from "preact/hooks";
import { SmallButton } from "./button.js";
import { count } from "./format.js";

/**
 * The first items of a long list, and a button that shows more, undefined if all are shown. For lists in a page that
 * scrolls as a whole; see windowed.tsx for others.
 */
export function useFirstOf<T>(items: readonly T[], step: number) {
  const [most, setMost] = useState(step);
  const left = items.length - most;
  if (left <= 0) return { shown: items, more: undefined };
  return {
    shown: items.slice(0, most),
    more: (
      <SmallButton
        label={`Show ${count(Math.min(step, left))} more of ${count(items.length)}`}
        onClick={() => setMost(most + step)}
      />
    ),
  };
}
