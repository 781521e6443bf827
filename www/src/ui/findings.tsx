import type { Diagnostic } from "ctxweave/loom";
import type { ComponentChildren } from "preact";
import { MessageText } from "./message.js";

/** The library's diagnostics: with file and line, or with a button for the node. */
export function Findings(props: {
  list: readonly Diagnostic[];
  chip?: (nodeId: string | undefined) => ComponentChildren;
}) {
  const { list, chip } = props;
  if (list.length === 0) return null;
  return (
    <ul class="diagnostics" aria-label="Diagnostics">
      {list.map((found, i) => (
        <li key={i} class={`row diagnostic ${found.severity}`} data-finding={found.code}>
          <span class="severity">{found.severity}</span>
          <code>{found.code}</code>
          <span class="diagnostic-text">
            <MessageText text={found.message} />
          </span>
          {chip?.(found.nodeId)}
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
