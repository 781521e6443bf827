import type { ComponentChildren } from "preact";
import type { WorkspaceContext } from "ctxweave/workspace";
import { plural } from "../../ui/format.js";

const NAME = "text-xs font-semibold text-ink-2";

/** The response, in the order in which an agent reads it. */
export function Response({ context }: { context: WorkspaceContext }) {
  const { tastes, brief, notes, recent_log: log, recent_gaps: gaps } = context;
  return (
    <div class="stack gap-6">
      <Section name="Tastes" id="tastes">
        <Prose name="_default" text={tastes.default} />
        {Object.entries(tastes.genres).map(([name, text]) => (
          <Prose key={name} name={name} text={text} />
        ))}
        {tastes.conflicts.length > 0 ? (
          <div>
            <h4 class={NAME}>Conflicts to ask about</h4>
            <ul class="stack gap-1">
              {tastes.conflicts.map(({ point, files }) => (
                <li key={point} class="row diagnostic warning" data-conflict={files.join(" ")}>
                  {point} <Tags names={files} />
                </li>
              ))}
            </ul>
          </div>
        ) : null}
      </Section>
      <Section name="Brief" id="brief">
        {brief.tastes.length === 0 ? (
          <p class="quiet-text">No tastes declared</p>
        ) : (
          <p class="row gap-1">
            <Tags names={brief.tastes} />
          </p>
        )}
        <Prose text={brief.intent} />
      </Section>
      <Section name="Notes" id="notes" aside={notes.truncated ? <span class="tag cut">truncated</span> : null}>
        <Notes {...notes} />
      </Section>
      <Section name="Recent log" id="recent_log" aside={plural(log.length, "entry", "entries")}>
        <Records
          list={log.map(({ timestamp, op, details }) => ({
            timestamp,
            title: op || "no operation",
            rest: <code class="text-ink-2 wrap-anywhere">{JSON.stringify(details)}</code>,
          }))}
        />
      </Section>
      <Section name="Recent gaps" id="recent_gaps" aside={plural(gaps.length, "record")}>
        <Records
          list={gaps.map(({ timestamp, description, intent_category: category }) => ({
            timestamp,
            title: description || "no description",
            rest: <span class="tag">{category}</span>,
          }))}
        />
      </Section>
    </div>
  );
}

function Section(props: { name: string; id: string; aside?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="stack gap-2" data-section={props.id} aria-labelledby={`answer-${props.id}`}>
      <div class="row gap-2.5 border-b border-line pb-[3px]">
        <h3 id={`answer-${props.id}`}>{props.name}</h3>
        {props.aside ? <span class="hint">{props.aside}</span> : null}
      </div>
      {props.children}
    </section>
  );
}

const Tags = ({ names }: { names: readonly string[] }) => (
  <>
    {names.map((name) => (
      <span key={name} class="tag">
        {name}
      </span>
    ))}
  </>
);

function Prose({ name, text }: { name?: string; text: string }) {
  return (
    <div>
      {name ? <h4 class={NAME}>{name}</h4> : null}
      {text.trim() ? <pre class="prose-text">{text}</pre> : <p class="quiet-text">Empty</p>}
    </div>
  );
}

const MARKER = /\n\n(\.\.\. \[\d+ lines elided\] \.\.\.)\n\n/;

/** The beginning, the number of elided lines, and the end. */
function Notes({ summary, truncated }: { summary: string; truncated: boolean }) {
  const marker = truncated ? MARKER.exec(summary) : null;
  if (!marker) return <Prose text={summary} />;
  return (
    <div data-truncated>
      <pre class="prose-text">{summary.slice(0, marker.index)}</pre>
      <p class="elided my-2 border-s-3 border-dashed border-cut bg-cut-soft px-2.5 py-1 font-mono text-xs text-cut">
        {marker[1]}
      </p>
      <pre class="prose-text">{summary.slice(marker.index + marker[0].length)}</pre>
    </div>
  );
}

/** Records of the workspace, newest first. */
function Records({ list }: { list: readonly { timestamp: string; title: string; rest: ComponentChildren }[] }) {
  if (list.length === 0) return <p class="quiet-text">None yet</p>;
  return (
    <ol class="text-s">
      {list.map(({ timestamp, title, rest }, at) => (
        <li key={at} class="row items-baseline gap-x-2.5 border-b border-line py-1">
          <time class="font-mono text-xs text-ink-3">{timestamp || "no time"}</time>
          <strong>{title}</strong>
          {rest}
        </li>
      ))}
    </ol>
  );
}
