import { useEffect, useRef } from "preact/hooks";
import { useSignalEffect } from "@preact/signals";
import { signal } from "@preact/signals";
import { SmallButton } from "../../ui/button.js";
import { plural } from "../../ui/format.js";
import { MarkedField } from "../../ui/marked-field.js";
import { MessageText } from "../../ui/message.js";
import { useReachable } from "../../ui/reachable.js";
import { offsetOf, pieces } from "./findings.js";
import { findings, own, underlines, xml } from "./state.js";

/** Target of the caret, set by the list of findings or the tree. */
export const jump = signal<{ line: number; column: number } | undefined>(undefined);

/** The template as text. Underlines are drawn in a block below the text area, in the same letters. */
export function Editor() {
  const area = useRef<HTMLTextAreaElement>(null);
  useSignalEffect(() => {
    const to = jump.value;
    const field = area.current;
    if (!to || !field) return;
    const at = offsetOf(field.value, to.line, to.column);
    field.focus({ preventScroll: true });
    field.setSelectionRange(at, at);
    // A text area that does not scroll relies on its frame.
    const lineHeight = Number.parseFloat(getComputedStyle(field).lineHeight);
    const frame = field.closest(".code-frame");
    const top = (to.line - 1) * lineHeight;
    if (frame && (top < frame.scrollTop || top > frame.scrollTop + frame.clientHeight - 2 * lineHeight)) {
      frame.scrollTop = Math.max(0, top - frame.clientHeight / 3);
    }
    jump.value = undefined;
  });
  useEffect(() => {
    // The browser may restore text from an earlier visit.
    if (area.current) area.current.value = xml.peek();
  }, []);
  return (
    <MarkedField
      label="Task template, XML"
      value={xml.value}
      onText={(text) => own.edit(text)}
      area={area}
      describedBy="findings"
      isInvalid={findings.value.some(({ severity }) => severity === "error")}
    >
      {pieces(xml.value, underlines.value).map(({ text, severity }, i) =>
        severity ? (
          <mark key={i} class={`squiggle ${severity}`} data-underline={severity}>
            {text}
          </mark>
        ) : (
          text
        ),
      )}
    </MarkedField>
  );
}

/** The findings for the template. A click moves the caret there. */
export function Findings() {
  const list = findings.value;
  const part = useReachable<HTMLDivElement>();
  return (
    <div class="findings" id="findings" ref={part}>
      <p class="sr-only" role="status">
        {list.length === 0 ? "No findings" : plural(list.length, "finding")}
      </p>
      {list.length === 0 ? <p class="hint">No findings.</p> : null}
      <ol aria-label="Findings">
        {list.map(({ code, severity, message, line, column }, i) => (
          <li key={i} class={`finding ${severity} row`} data-finding={code} data-place={`${line}:${column}`}>
            {line === undefined || column === undefined ? null : (
              <SmallButton
                label={`${line}:${column}`}
                class="small place"
                aria-label={`${line}:${column}, go there`}
                onClick={() => (jump.value = { line, column })}
              />
            )}
            <span class="severity">{severity}</span>
            <code>{code}</code>
            <span class="finding-text">
              <MessageText text={message} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
