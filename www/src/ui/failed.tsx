import type { ComponentChildren, Ref } from "preact";
import { MessageText } from "./message.js";
import { useReachable } from "./reachable.js";

interface Props {
  code: string;
  message: string;
  children?: ComponentChildren;
}

/** An error of the package. */
export function ProblemPanel(props: Props & { class?: string; part?: Ref<HTMLElement> }) {
  return (
    <section class={`stack problem-panel ${props.class ?? ""}`} role="alert" ref={props.part ?? null}>
      <p class="problem-code">
        <code data-error-code>{props.code}</code>
      </p>
      <h2>
        <MessageText text={props.message} sentence />
      </h2>
      {props.children}
    </section>
  );
}

/** Shown instead of a result if the call threw. */
export function Failed({ label, ...problem }: Props & { label: string }) {
  const part = useReachable<HTMLElement>();
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-label={label}>
      <ProblemPanel {...problem} class="tab-panel" part={part} />
    </section>
  );
}
