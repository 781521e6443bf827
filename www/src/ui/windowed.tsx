import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type Range,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { ComponentChildren, HTMLAttributes } from "preact";
import { useCallback, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import "../styles/windowed.css";

/** What the element around an item has. */
export type ItemProps = Omit<HTMLAttributes<HTMLDivElement>, "children" | "ref" | "key">;

/**
 * A long list of which only what is in sight is drawn. Items are as high as they are; until one was seen it is taken to be as
 * high as `estimate` says. Give it another `key` for another list.
 */
export function Windowed(props: {
  count: number;
  estimate: (at: number) => number;
  item: (at: number) => ComponentChildren;
  itemProps?: (at: number) => ItemProps;
  /** An item to bring into sight, when it becomes another. */
  inSight?: number | undefined;
  /** So many items beyond what is in sight are there, for the next key: more where each of them takes the focus. */
  overscan?: number;
  label: string;
  class?: string;
  role?: "region" | "list" | "listbox";
  /** Of the element that scrolls. */
  outer?: HTMLAttributes<HTMLDivElement>;
}) {
  const outer = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const [focused, setFocused] = useState<number>();
  // Keys come faster than frames: what is beyond the item with the focus is there before the list was seen to scroll.
  const rangeExtractor = useCallback((range: Range) => withNeighbours(range, focused), [focused]);
  const options = {
    count: props.count,
    getScrollElement: () => outer.current,
    estimateSize: props.estimate,
    overscan: props.overscan ?? 3,
    rangeExtractor,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined),
  };
  const [list] = useState(() => new Virtualizer<HTMLDivElement, HTMLDivElement>(options));
  list.setOptions(options);
  useLayoutEffect(() => list._didMount(), [list]);
  useLayoutEffect(() => list._willUpdate());
  const { inSight } = props;
  useLayoutEffect(() => {
    if (inSight !== undefined) list.scrollToIndex(inSight, { align: "auto" });
  }, [list, inSight]);
  const items = list.getVirtualItems();
  const isDrawn = items.some(({ index }) => index === inSight);
  return (
    <div
      ref={outer}
      class={`windowed ${props.class ?? ""}`}
      role={props.role ?? "region"}
      aria-label={props.label}
      tabIndex={0}
      {...props.outer}
      // Where somebody scrolled away from it, there is no such element.
      aria-activedescendant={isDrawn ? props.outer?.["aria-activedescendant"] : undefined}
    >
      <div
        role="presentation"
        class="windowed-all"
        onFocusIn={({ target }) => setFocused(indexOf(target))}
        style={{ blockSize: `${list.getTotalSize()}px`, paddingBlockStart: `${items[0]?.start ?? 0}px` }}
      >
        {items.map(({ key, index }) => (
          <div key={key} ref={list.measureElement} data-index={index} {...props.itemProps?.(index)}>
            {props.item(index)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The focus is at most so many items ahead of what the list was last seen to show. */
const NEAR = 200;

/** The items in sight, with those around the one that has the focus if it is near: an unbroken run. */
function withNeighbours(range: Range, focused: number | undefined): number[] {
  const { startIndex, endIndex } = range;
  const isNear = focused !== undefined && focused >= startIndex - NEAR && focused <= endIndex + NEAR;
  if (!isNear) return defaultRangeExtractor(range);
  return defaultRangeExtractor({
    ...range,
    startIndex: Math.min(startIndex, focused),
    endIndex: Math.max(endIndex, focused),
  });
}

/** The item that an element is in. */
function indexOf(element: EventTarget | null): number | undefined {
  const index = element instanceof Element && element.closest<HTMLElement>("[data-index]")?.dataset["index"];
  return index ? Number(index) : undefined;
}
