import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { useReachable } from "./reachable.js";

export interface Tab<Id extends string> {
  id: Id;
  name: string;
  /** A number shown next to the name. */
  count?: number;
}

/** Tabs after the ARIA pattern: arrow keys move, only the chosen tab is in the tab order. */
export function Tabs<Id extends string>(props: {
  label: string;
  tabs: readonly Tab<Id>[];
  chosen: Id;
  onChoose: (id: Id) => void;
  children: ComponentChildren;
  /** Whether the panel scrolls and therefore must be focusable. */
  scrolls?: boolean;
}) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const panel = useReachable<HTMLDivElement>();
  const { tabs, chosen, onChoose } = props;
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    if (!next) return;
    onChoose(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tab-bar">
        <div role="tablist" aria-label={props.label} ref={list} onKeyDown={move}>
          {tabs.map(({ id, name, count }) => (
            <button
              key={id}
              type="button"
              role="tab"
              id={`${base}-tab-${id}`}
              data-tab={id}
              aria-selected={id === chosen}
              aria-controls={id === chosen ? `${base}-panel` : undefined}
              tabIndex={id === chosen ? 0 : -1}
              onClick={() => onChoose(id)}
            >
              {name}
              {count === undefined ? null : <span class="count">{count}</span>}
            </button>
          ))}
        </div>
      </div>
      <div
        role="tabpanel"
        id={`${base}-panel`}
        aria-labelledby={`${base}-tab-${chosen}`}
        ref={panel}
        {...(props.scrolls ? { tabIndex: 0 } : {})}
        class="tab-panel"
        data-panel={chosen}
      >
        {props.children}
      </div>
    </div>
  );
}
