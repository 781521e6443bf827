import { useFirstOf } from "../../ui/first-of.js";
import { tokens } from "../../ui/format.js";
import { textOf } from "./parts.js";
import { systemOf } from "./request.js";
import type { Fitted, Row } from "./state.js";
import { FATES, REASONS } from "./words.js";

/** Maximum number of rows: long sessions have thousands of messages. */
const MAX_SHOWN_ROWS = 300;

/** Each message with its fate. */
export function Messages({ now, fits }: { now: Fitted; fits: boolean }) {
  const system = textOf(systemOf(now.given));
  const { shown, more } = useFirstOf(now.rows, MAX_SHOWN_ROWS);
  return (
    <>
      <p class="hint">
        {fits ? "" : "Nothing is cut yet, because the rest would not fit. "}
        Each cost includes the overhead of the message: its role and separators.
      </p>
      <ol class="stack prompt dialogue">
        {system ? (
          <li class="message role-system" data-system>
            <h3 class="role">system</h3>
            <div class="message-body">
              <p class="text">{excerpt(system)}</p>
            </div>
          </li>
        ) : null}
        {shown.map((row, at) => (
          <MessageRow key={at} row={row} />
        ))}
        {now.rows.length === 0 ? <li class="empty">No messages.</li> : null}
      </ol>
      {more}
    </>
  );
}

function MessageRow({ row }: { row: Row }) {
  if (row.kind === "added") {
    const { kind, text, tokens: cost } = row.added;
    return (
      <li class="message role-user" data-added={kind}>
        <h3 class="role">user</h3>
        <div class="message-body">
          <div class="segment marker">
            <span class="tag">{kind}</span>
            <p class="text">{text}</p>
            <span class="chat-cost">{tokens(cost)}</span>
          </div>
        </div>
      </li>
    );
  }
  const { index, fate, reason, tokens: cost, parts = [] } = row.row;
  const why = reason ?? parts.find((part) => part.reason)?.reason;
  const said = row.excluded ? "left out by you" : why && REASONS[why];
  return (
    <li class={`message role-${row.role} chat-${fate}`} data-message={index} data-fate={fate}>
      <h3 class="role">
        {row.role}
        <span class="merged">{index}</span>
      </h3>
      <div class="message-body">
        <div class="segment">
          <p class="row segment-head">
            <span class={`fate-word fate-${fate}`}>{FATES[fate]}</span>
            {said ? <span class="quiet-text">{said}</span> : null}
            <span class="chat-cost">{tokens(cost)}</span>
          </p>
          {row.text ? <p class="text">{excerpt(row.text)}</p> : null}
        </div>
      </div>
    </li>
  );
}

/** The beginning of a possibly long text. */
function excerpt(text: string): string {
  return text.length > 420 ? `${text.slice(0, 400)}…` : text;
}
