import type { Diagnostic } from "ctxweave/loom";
import { MessageText } from "./message.js";

/** The library's diagnostics for files, with file and line. */
export function Findings({ list }: { list: readonly Diagnostic[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="diagnostics" aria-label="Diagnostics">
      {list.map((found, i) => (
        <li key={i} class={`diagnostic ${found.severity}`} data-finding={found.code}>
          <span class="severity">{found.severity}</span>
          <code>{found.code}</code>
          <span class="diagnostic-text">
            <MessageText text={found.message} />
          </span>
          {found.path ? (
            <code class="quiet-text">
              {found.path}
              {found.line ? `:${found.line}` : ""}
            </code>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
