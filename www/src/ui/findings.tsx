import type { Diagnostic } from "ctxweave/loom";
import type { ComponentChildren } from "preact";
import { SmallButton } from "./button.js";
import { MessageText } from "./message.js";

/** The library's diagnostics: with file and line, or with a button for the node or the position. */
export function Findings(props: {
  list: readonly Diagnostic[];
  chip?: (nodeId: string | undefined) => ComponentChildren;
  onGo?: (line: number, column: number) => void;
}) {
  const { list, chip, onGo } = props;
  if (list.length === 0) return null;
  return (
    <ul class="diagnostics mb-4 grid gap-1" aria-label="Diagnostics">
      {list.map((found, i) => (
        <li
          key={i}
          class={`diagnostic ${found.severity} row`}
          data-finding={found.code}
          data-place={`${found.line}:${found.column}`}
        >
          {onGo && found.line !== undefined && found.column !== undefined ? (
            <SmallButton
              label={`${found.line}:${found.column}`}
              aria-label={`${found.line}:${found.column}, go there`}
              onClick={() => onGo(found.line as number, found.column as number)}
            />
          ) : null}
          <span class="severity">{found.severity}</span>
          <code>{found.code}</code>
          <span class="diagnostic-text flex-[1_1_16rem]">
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
