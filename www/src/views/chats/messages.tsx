import type { ComponentChildren } from "preact";
import { useFirstOf } from "../../ui/first-of.js";
import { tokens } from "../../ui/format.js";
import { textOf } from "./parts.js";
import { systemOf } from "./request.js";
import { counted, rows, type Row } from "./state.js";
import { excerpt, FATES, REASONS } from "./words.js";

/** Maximum number of rows: long sessions have thousands of messages. */
const MAX_SHOWN_ROWS = 300;

/** Each message with its fate. */
export function Messages({ fits }: { fits: boolean }) {
  const system = counted.value.ok ? textOf(systemOf(counted.value.value.request)) : "";
  const { shown, more } = useFirstOf(rows.value, MAX_SHOWN_ROWS);
  return (
    <>
      <p class="hint">
        {fits ? "" : "Nothing is cut yet, because the rest would not fit. "}
        Each cost includes the overhead of the message: its role and separators.
      </p>
      <ol class="stack mt-2.5">
        {system ? (
          <Message role="system" data-system>
            <p class="text">{excerpt(system, 400)}</p>
          </Message>
        ) : null}
        {shown.map((row, at) => (
          <MessageRow key={at} row={row} />
        ))}
        {rows.value.length === 0 ? <li class="empty">No messages.</li> : null}
      </ol>
      {more}
    </>
  );
}

function MessageRow({ row }: { row: Row }) {
  if (row.kind === "added") {
    const { kind, text, tokens: cost } = row.added;
    return (
      <Message role="user" data-added={kind}>
        <div class="segment marker">
          <span class="tag">{kind}</span>
          <p class="text">{text}</p>
          <span class="chat-cost ml-auto text-xs whitespace-nowrap">{tokens(cost)}</span>
        </div>
      </Message>
    );
  }
  const { index, fate, reason, tokens: cost, parts = [] } = row.row;
  const why = reason ?? parts.find((part) => part.reason)?.reason;
  const reasonText = row.isExcluded ? "left out by you" : why && REASONS[why];
  return (
    <Message role={row.role} index={index} data-message={index} data-fate={fate}>
      <div class="segment">
        <p class="row segment-head text-xs">
          <span class={`fate-word fate-${fate}`}>{FATES[fate]}</span>
          {reasonText ? <span class="quiet-text">{reasonText}</span> : null}
          <span class="quiet-text chat-cost ml-auto">{tokens(cost)}</span>
        </p>
        {row.text ? <p class="text group-data-[fate=cut]:text-ink-3">{excerpt(row.text, 400)}</p> : null}
      </div>
    </Message>
  );
}

/** A message with its author. */
function Message(props: { role: string; index?: number; children: ComponentChildren }) {
  const { role, index, children, ...data } = props;
  return (
    <li class={`group message role-${role}`} {...data}>
      <h3 class="role">
        {role}
        {index === undefined ? null : <span class="merged">{index}</span>}
      </h3>
      <div class="message-body group-data-[fate=cut]:border-dashed group-data-[fate=cut]:border-cut">{children}</div>
    </li>
  );
}
