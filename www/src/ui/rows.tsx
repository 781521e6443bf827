import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** So many rows beyond what is in sight are there, for the next key and for a quick hand. */
const BEYOND = 12;

/**
 * Which rows of a long list have to be there: those in sight of the element that scrolls, which `frame` is given to. All are
 * equally high.
 */
export function useRowsInSight(count: number, height: number) {
  const frame = useRef<HTMLElement>(null);
  const seen = useSignal({ first: 0, after: 40 });
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const look = (): void => {
      const first = Math.max(0, Math.floor(element.scrollTop / height) - BEYOND);
      const after = Math.ceil((element.scrollTop + element.clientHeight) / height) + BEYOND;
      const before = seen.peek();
      if (before.first !== first || before.after !== after) seen.value = { first, after };
    };
    look();
    element.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, [height]);
  const first = Math.min(seen.value.first, Math.max(0, count - 1));
  const after = Math.min(count, Math.max(seen.value.after, first));
  return { frame, first, after, above: first * height, below: (count - after) * height };
}

/** A long list, of which the rows in sight are there. The others leave their room. */
export function LongList<T>(props: {
  items: readonly T[];
  height: number;
  keyOf: (item: T) => string;
  row: (item: T, place: number) => ComponentChildren;
}) {
  const { items, height, keyOf, row } = props;
  const { frame, first, after, above, below } = useRowsInSight(items.length, height);
  return (
    <ul ref={frame as { current: HTMLUListElement | null }} class="long-list">
      {above > 0 ? <li key=" above" aria-hidden="true" style={{ blockSize: `${above}px` }} /> : null}
      {items.slice(first, after).map((item, at) => (
        <li
          key={keyOf(item)}
          style={{ blockSize: `${height}px` }}
          aria-setsize={items.length}
          aria-posinset={first + at + 1}
        >
          {row(item, first + at)}
        </li>
      ))}
      {below > 0 ? <li key=" below" aria-hidden="true" style={{ blockSize: `${below}px` }} /> : null}
    </ul>
  );
}
