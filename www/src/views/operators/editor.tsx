import { signal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Findings } from "../../ui/findings.js";
import { plural } from "../../ui/format.js";
import { MarkedField } from "../../ui/marked-field.js";
import { useReachable } from "../../ui/reachable.js";
import { offsetOf, pieces } from "./findings.js";
import { own, template, xml } from "./state.js";

/** Target of the caret, set by the list of findings or the tree. */
export const jump = signal<{ line: number; column: number } | undefined>(undefined);

/** A wavy line below transparent letters, in the colour of a severity. */
const UNDERLINE =
  "text-transparent underline decoration-wavy decoration-[1.5px] underline-offset-3 [text-decoration-skip-ink:none]";
const UNDERLINE_COLOURS = {
  error: "decoration-cut bg-cut-soft",
  warning: "decoration-skipped bg-transparent",
  info: "decoration-excluded bg-transparent",
};

/** The template as text. Underlines are drawn in a block below the text area, in the same letters. */
export function Editor() {
  const area = useRef<HTMLTextAreaElement>(null);
  const { findings } = template.value;
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
      isInvalid={findings.some(({ severity }) => severity === "error")}
    >
      {pieces(xml.value, findings).map(({ text, severity }, i) =>
        severity ? (
          <mark key={i} class={`${UNDERLINE} ${UNDERLINE_COLOURS[severity]}`} data-underline={severity}>
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
export function TemplateFindings() {
  const { findings } = template.value;
  const part = useReachable<HTMLDivElement>();
  return (
    <div
      class="max-h-[34%] overflow-auto border-t border-line p-3 wrap-anywhere max-two:max-h-none"
      id="findings"
      ref={part}
    >
      <p class={findings.length === 0 ? "hint" : "sr-only"} role="status">
        {findings.length === 0 ? "No findings." : plural(findings.length, "finding")}
      </p>
      <Findings list={findings} onGo={(line, column) => (jump.value = { line, column })} />
    </div>
  );
}
