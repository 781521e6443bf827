import type { ComponentChildren } from "preact";

/** The result: the pane that the skip link leads to. */
export function ResultPane({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-labelledby="result-title">
      <h2 id="result-title" class="sr-only">
        {label}
      </h2>
      {children}
    </section>
  );
}
