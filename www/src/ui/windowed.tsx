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

/** Props of the element around an item. */
export type ItemProps = Omit<HTMLAttributes<HTMLDivElement>, "children" | "ref" | "key">;

/**
 * A long list that renders only its visible items. Items have their natural height; until one was rendered, `estimate`
 * is used. Give another list another `key`.
 */
export function Windowed(props: {
  count: number;
  estimate: (at: number) => number;
  item: (at: number) => ComponentChildren;
  itemProps?: (at: number) => ItemProps;
  /** An item to scroll into view when it changes. */
  inSight?: number | undefined;
  /** Another value scrolls to that item again. */
  again?: unknown;
  /** Number of items rendered beyond the visible ones, for the next key: more if each item is focusable. */
  overscan?: number;
  label: string;
  class?: string;
  role?: "region" | "list" | "listbox";
  /** Props of the scrolling element. */
  outer?: HTMLAttributes<HTMLDivElement>;
}) {
  const outer = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const [focused, setFocused] = useState<number>();
  // Keys can repeat faster than frames: the items after the focused one are rendered before the list has scrolled.
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
  }, [list, inSight, props.again]);
  const items = list.getVirtualItems();
  const isDrawn = items.some(({ index }) => index === inSight);
  return (
    <div
      ref={outer}
      class={`windowed min-h-0 overflow-auto focus-visible:-outline-offset-2 ${props.class ?? ""}`}
      role={props.role ?? "region"}
      aria-label={props.label}
      tabIndex={0}
      {...props.outer}
      // If the user scrolled away from the item, its element does not exist.
      aria-activedescendant={isDrawn ? props.outer?.["aria-activedescendant"] : undefined}
    >
      <div
        role="presentation"
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

/** Maximum distance of the focus from the last rendered items. */
const NEAR = 200;

/** The visible items and those around the focused one if it is near, as one contiguous range. */
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

/** The index of the item that contains an element. */
function indexOf(element: EventTarget | null): number | undefined {
  const index = element instanceof Element && element.closest<HTMLElement>("[data-index]")?.dataset["index"];
  return index ? Number(index) : undefined;
}
