import type { ComponentChildren } from "preact";
import type { GapRecord, LogEntry, WorkspaceContext } from "ctxweave/workspace";
import { plural } from "../../ui/format.js";

/** The response, in the order in which an agent reads it. */
export function Response({ context }: { context: WorkspaceContext }) {
  const { tastes, brief, notes } = context;
  return (
    <div class="stack response">
      <Section name="Tastes" id="tastes">
        <Prose name="_default" text={tastes.default} />
        {Object.entries(tastes.genres).map(([name, text]) => (
          <Prose key={name} name={name} text={text} />
        ))}
        {tastes.conflicts.length > 0 ? (
          <div class="conflicts">
            <h4>Conflicts to ask about</h4>
            <ul>
              {tastes.conflicts.map(({ point, files }) => (
                <li key={point} data-conflict={files.join(" ")}>
                  <span>{point}</span>{" "}
                  {files.map((file) => (
                    <span key={file} class="tag">
                      {file}
                    </span>
                  ))}
                </li>
              ))}
            </ul>
          </div>
        ) : null}
      </Section>
      <Section name="Brief" id="brief">
        <p class="tags">
          {brief.tastes.length === 0 ? <span class="quiet-text">No tastes declared</span> : null}
          {brief.tastes.map((name) => (
            <span key={name} class="tag">
              {name}
            </span>
          ))}
        </p>
        <Prose text={brief.intent} />
      </Section>
      <Section name="Notes" id="notes" aside={notes.truncated ? <span class="tag cut">truncated</span> : null}>
        <Notes {...notes} />
      </Section>
      <Section name="Recent log" id="recent_log" aside={plural(context.recent_log.length, "entry", "entries")}>
        <Log entries={context.recent_log} />
      </Section>
      <Section name="Recent gaps" id="recent_gaps" aside={plural(context.recent_gaps.length, "record")}>
        <Gaps records={context.recent_gaps} />
      </Section>
    </div>
  );
}

function Section(props: { name: string; id: string; aside?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="answer" data-section={props.id} aria-labelledby={`answer-${props.id}`}>
      <div class="answer-head">
        <h3 id={`answer-${props.id}`}>{props.name}</h3>
        {props.aside ? <span class="quiet-text">{props.aside}</span> : null}
      </div>
      {props.children}
    </section>
  );
}

function Prose({ name, text }: { name?: string; text: string }) {
  return (
    <div class="prose-block">
      {name ? <h4>{name}</h4> : null}
      {text.trim() ? <pre class="prose-text">{text}</pre> : <p class="quiet-text">Empty</p>}
    </div>
  );
}

const MARKER = /\n\n(\.\.\. \[\d+ lines elided\] \.\.\.)\n\n/;

/** Head, gap, tail. */
function Notes({ summary, truncated }: { summary: string; truncated: boolean }) {
  const marker = truncated ? MARKER.exec(summary) : null;
  if (!marker) return <Prose text={summary} />;
  return (
    <div class="prose-block" data-truncated>
      <pre class="prose-text">{summary.slice(0, marker.index)}</pre>
      <p class="elided">{marker[1]}</p>
      <pre class="prose-text">{summary.slice(marker.index + marker[0].length)}</pre>
    </div>
  );
}

function Log({ entries }: { entries: readonly LogEntry[] }) {
  if (entries.length === 0) return <p class="quiet-text">None yet</p>;
  return (
    <ol class="records">
      {entries.map(({ timestamp, op, details }, i) => (
        <li key={i}>
          <time>{timestamp || "no time"}</time>
          <strong>{op || "no operation"}</strong>
          <code>{JSON.stringify(details)}</code>
        </li>
      ))}
    </ol>
  );
}

function Gaps({ records }: { records: readonly GapRecord[] }) {
  if (records.length === 0) return <p class="quiet-text">None yet</p>;
  return (
    <ol class="records">
      {records.map((record, i) => (
        <li key={i}>
          <time>{record.timestamp || "no time"}</time>
          <strong>{record.description || "no description"}</strong>
          <span class="tag">{record.intent_category}</span>
        </li>
      ))}
    </ol>
  );
}
