import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Segmented } from "./fields.js";
import { middling, narrow } from "./media.js";

const RESULT = "result";

/** Is sent before the result gets the focus, so that it is there to get it. */
export const SHOW_RESULT = "show-result";

/**
 * The panes of a view, beside each other. Where there is room for one it is chosen by name, and the page is as high as the screen; where
 * there is room for two and there are three, the result stays and the others take turns. Each pane has the class `NAME-pane`.
 */
export function Panes<Id extends string>(props: {
  panes: readonly { id: Id | typeof RESULT; name: string }[];
  class?: string;
  /** Whether three take turns where there is room for two; else the style sheet finds them room. */
  turns?: boolean;
  children: ComponentChildren;
}) {
  const { panes } = props;
  const shown = useSignal<string>(panes[0]?.id ?? RESULT);
  const side = useSignal<string>(panes[0]?.id ?? RESULT);
  useEffect(() => {
    const show = (): void => {
      shown.value = RESULT;
    };
    addEventListener(SHOW_RESULT, show);
    return () => removeEventListener(SHOW_RESULT, show);
  }, []);
  const takeTurns = middling.value && panes.length > 2 && props.turns !== false;
  const offered = narrow.value ? panes : takeTurns ? panes.filter(({ id }) => id !== RESULT) : [];
  const chosen = narrow.value ? shown.value : side.value;
  return (
    <div
      class={`panes${props.class ? ` ${props.class}` : ""}`}
      data-shown={offered.length > 0 ? chosen : undefined}
      data-turns={takeTurns}
    >
      {offered.length > 0 ? (
        <div class="pane-picker">
          <Segmented
            label="Pane"
            options={offered.map(({ id, name }) => ({ value: id as string, name }))}
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
