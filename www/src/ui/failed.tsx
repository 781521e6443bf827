import type { ComponentChildren } from "preact";
import { MessageText } from "./message.js";
import { useReachable } from "./reachable.js";
import { ResultPane } from "./result-pane.js";

interface Props {
  code: string;
  message: string;
  children?: ComponentChildren;
}

/** An error of the package. */
export function ProblemPanel(props: Props & { class?: string }) {
  const part = useReachable<HTMLElement>();
  return (
    <section class={`stack problem-panel content-start ${props.class ?? ""}`} role="alert" ref={part}>
      <p>
        <code class="rounded-s bg-cut-soft px-2 py-0.5 font-semibold text-cut" data-error-code>
          {props.code}
        </code>
      </p>
      <h2 class="text-[1.0625rem] leading-snug wrap-anywhere">
        <MessageText text={props.message} sentence />
      </h2>
      {props.children}
    </section>
  );
}

/** Shown instead of a result if the call threw. */
export function Failed({ label, ...problem }: Props & { label: string }) {
  return (
    <ResultPane label={label}>
      <ProblemPanel {...problem} class="tab-panel" />
    </ResultPane>
  );
}
