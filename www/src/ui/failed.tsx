import { MessageText } from "./message.js";

/** What stands in the place of a result when the call threw. */
export function Failed({ label, code, message }: { label: string; code: string; message: string }) {
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-label={label}>
      <div class="problem-panel tab-panel" role="alert">
        <p class="problem-code">
          <code data-error-code>{code}</code>
        </p>
        <h2>
          <MessageText text={message} sentence />
        </h2>
      </div>
    </section>
  );
}
