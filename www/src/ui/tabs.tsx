import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { optionsOf } from "./fields.js";
import { useReachable } from "./reachable.js";

/** Tabs after the ARIA pattern: arrow keys move, only the chosen tab is in the tab order. */
export function Tabs<Id extends string>(props: {
  label: string;
  /** Their names. */
  tabs: Record<Id, string>;
  /** Numbers shown next to the names, unless they are 0. */
  counts?: Partial<Record<Id, number>>;
  /** The chosen one. */
  value: Id;
  onValue: (id: Id) => void;
  children: ComponentChildren;
  /** Whether the panel scrolls and therefore must be focusable. */
  scrolls?: boolean;
}) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const panel = useReachable<HTMLDivElement>();
  const { value: chosen, onValue, counts = {} as Partial<Record<Id, number>> } = props;
  const tabs = optionsOf(props.tabs);
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ value }) => value === chosen);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    if (!next) return;
    onValue(next.value);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.value}"]`)?.focus();
  };
  return (
    <div class="flex min-h-0 flex-1 flex-col">
      <div
        role="tablist"
        class="flex gap-4 border-b border-line in-[.pane]:px-4"
        aria-label={props.label}
        ref={list}
        onKeyDown={move}
      >
        {tabs.map(({ value: id, name }) => (
          <button
            key={id}
            type="button"
            role="tab"
            class="-mb-px border-b-2 border-transparent px-0.5 py-2 text-s text-ink-3 hover:text-ink aria-selected:border-accent aria-selected:font-semibold aria-selected:text-ink"
            id={`${base}-tab-${id}`}
            data-tab={id}
            aria-selected={id === chosen}
            aria-controls={id === chosen ? `${base}-panel` : undefined}
            tabIndex={id === chosen ? 0 : -1}
            onClick={() => onValue(id)}
          >
            {name}
            {counts[id] ? (
              <span class="ml-1.5 rounded-m bg-skipped-soft px-1.5 text-xs font-semibold text-skipped">
                {counts[id]}
              </span>
            ) : null}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${base}-panel`}
        aria-labelledby={`${base}-tab-${chosen}`}
        ref={panel}
        {...(props.scrolls ? { tabIndex: 0 } : {})}
        class="tab-panel focus-visible:-outline-offset-2"
        data-panel={chosen}
      >
        {props.children}
      </div>
    </div>
  );
}
