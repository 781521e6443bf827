import { useState } from "preact/hooks";
import { SmallButton } from "./button.js";
import { count } from "./format.js";

/**
 * The first items of a long list, a button that shows more, undefined if all are shown, and a function that shows the
 * list up to an index. For lists in a page that scrolls as a whole; see windowed.tsx for others.
 */
export function useFirstOf<T>(items: readonly T[], first: number, step = first) {
  const [most, setMost] = useState(first);
  const left = items.length - most;
  const showUpTo = (index: number): void => setMost(Math.max(most, index + 1));
  if (left <= 0) return { shown: items, more: undefined, showUpTo };
  return {
    shown: items.slice(0, most),
    showUpTo,
    more: (
      <SmallButton
        label={`Show ${count(Math.min(step, left))} more of ${count(items.length)}`}
        onClick={() => setMost(most + step)}
      />
    ),
  };
}
