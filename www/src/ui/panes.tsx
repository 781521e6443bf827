import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { optionsOf, Segmented } from "./fields.js";
import { middling, narrow } from "./media.js";

const RESULT = "result";

/** Sent before the result receives the focus, so that its pane is shown first. */
export const SHOW_RESULT = "show-result";

/**
 * The panes of a view, next to each other. If only one fits, it is chosen by name, and the page is as high as the
 * screen; if two of three fit, the result is always shown and the others alternate. Each pane has the class
 * `NAME-pane`.
 */
export function Panes<Id extends string>(props: {
  /** Their names, in the order in which they are offered. */
  panes: Record<Id | typeof RESULT, string>;
  class?: string;
  /** Whether three panes alternate if only two fit; otherwise the style sheet arranges them. */
  turns?: boolean;
  children: ComponentChildren;
}) {
  const panes = optionsOf<string>(props.panes);
  const shown = useSignal<string>(panes[0]?.value ?? RESULT);
  const side = useSignal<string>(panes[0]?.value ?? RESULT);
  useEffect(() => {
    const show = (): void => {
      shown.value = RESULT;
    };
    addEventListener(SHOW_RESULT, show);
    return () => removeEventListener(SHOW_RESULT, show);
  }, []);
  const takeTurns = middling.value && panes.length > 2 && props.turns !== false;
  const offered = narrow.value ? panes : takeTurns ? panes.filter(({ value }) => value !== RESULT) : [];
  const chosen = narrow.value ? shown.value : side.value;
  return (
    <div
      class={`panes${props.class ? ` ${props.class}` : ""}`}
      data-shown={offered.length > 0 ? chosen : undefined}
      data-turns={takeTurns}
    >
      {offered.length > 0 ? (
        <div class="[grid-area:picker] [&>.segmented]:flex">
          <Segmented
            label="Pane"
            options={offered}
            value={chosen}
            onValue={(id) => {
              shown.value = id;
              if (id !== RESULT) side.value = id;
            }}
          />
        </div>
      ) : null}
      {props.children}
    </div>
  );
}
