import type { ComponentChildren } from "preact";
import { MessageText } from "./message.js";
import { useReachable } from "./reachable.js";

/** Shown instead of a result if the call threw. */
export function Failed(props: { label: string; code: string; message: string; children?: ComponentChildren }) {
  const { label, code, message, children } = props;
  const part = useReachable<HTMLDivElement>();
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-label={label}>
      <div class="problem-panel tab-panel" role="alert" ref={part}>
        <p class="problem-code">
          <code data-error-code>{code}</code>
        </p>
        <h2>
          <MessageText text={message} sentence />
        </h2>
        {children}
      </div>
    </section>
  );
}
