import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { transcriptToMessages } from "ctxweave/commits";
import type { Materialized, MaterializationPlan, TranscriptFormat } from "ctxweave/commits";
import { CopyButton } from "../../ui/copy-button.js";
import { useOpener } from "../../ui/drop.js";
import { Field, Select } from "../../ui/fields.js";
import { saveFile } from "../../ui/save.js";
import { count, plural, tokens } from "../../ui/format.js";
import { Icon } from "../../ui/icons.js";
import { MessageText } from "../../ui/message.js";
import { ProblemNotice } from "../../ui/notice.js";
import { OpenFile } from "../../ui/open-file.js";
import { Tabs } from "../../ui/tabs.js";
import { Drawing, KINDS } from "./drawing.js";
import {
  begin,
  busy,
  choose,
  chosen,
  crossFamily,
  fork,
  format,
  FORMATS,
  openFile,
  openSample,
  plan,
  problem,
  record,
  records,
  result,
  session,
  startOver,
  stop,
} from "./state.js";
import "../../styles/commits.css";

/** A session becomes commits: the graph on one side, what is materialised from a commit beside it. */
export function CommitsView() {
  useEffect(() => void begin(), []);
  return (
    <div class="loom commits">
      <h1 class="visually-hidden">A session becomes commits</h1>
      <SessionBar />
      {session.value ? (
        <div class="panes">
          <section class="pane graph-pane" aria-label="Commits">
            <Drawing />
            <Chosen />
          </section>
          <ResultPane />
        </div>
      ) : null}
    </div>
  );
}

function SessionBar() {
  const open = session.value;
  const ready = open !== undefined || problem.value !== undefined;
  useOpener({ hint: "Drop the session to open it", ready, onFile: (file) => void openFile(file) });
  return (
    <div class="source" aria-busy={busy.value}>
      <OpenFile
        label="Open a session…"
        id="session-file"
        accept=".jsonl,.json,.cbor"
        about="A session file of an agent"
        onFile={(file) => void openFile(file)}
      />
      <button type="button" class="quiet" onClick={() => void openSample()}>
        Sample
      </button>
      <button type="button" class="quiet" onClick={() => void startOver()}>
        Forget everything
      </button>
      <p class="about">
        {open ? (
          <>
            <strong>{open.name}</strong>
            <span> {plural(records.value.length, "commit")}, kept in this browser. Nothing leaves it.</span>
          </>
        ) : problem.value ? (
          "Nothing is open."
        ) : (
          "Loading…"
        )}
      </p>
      {problem.value ? <ProblemNotice problem={problem.value} onDismiss={() => (problem.value = undefined)} /> : null}
      {open && open.diagnostics.length > 0 ? (
        <details class="notice notes">
          <summary>
            {open.diagnostics.length === 1 ? "One note" : `${count(open.diagnostics.length)} notes`} on the import
          </summary>
          <ul>
            {open.diagnostics.map(({ code, message, line }) => (
              <li key={`${code}${line ?? ""}${message}`}>
                <MessageText text={message} />
                {line === undefined ? null : ` (line ${line})`}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </div>
  );
}

/** The commit that is chosen, and a way to go on from it. */
function Chosen() {
  const text = useSignal("");
  const at = record.value;
  if (!at) return <p class="empty">Choose a commit.</p>;
  const facts: [string, string | undefined][] = [
    ["Commit", at.id],
    ["Kind", `${at.commit_type}, ${KINDS[at.commit_type] ?? ""}`],
    ["Made", `${at.created_at}${at.checkpoint ? ` (${at.checkpoint})` : ""}`],
    ["Format", at.format],
    ["Artifact", at.artifact_ref],
    ["Summary", at.summary],
  ];
  return (
    <div class="chosen">
      <dl>
        {facts.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
      <form
        class="fork"
        onSubmit={(event) => {
          event.preventDefault();
          void fork(text.value).then(() => (text.value = ""));
        }}
      >
        <label for="fork-text">Go on from here with</label>
        <input
          id="fork-text"
          type="text"
          value={text.value}
          placeholder="a message of yours"
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        <button type="submit" class="quiet" disabled={text.value.trim() === ""}>
          <Icon name="plus" />
          Fork
        </button>
      </form>
    </div>
  );
}

type Shown = "conversation" | "why" | "bytes";

const CROSS_FAMILY = [
  { value: "render", name: "a narrative of one message" },
  { value: "transcode", name: "turn by turn" },
] as const;

/** All formats are lines of JSON but one, which is CBOR. */
const isText = ({ format }: Materialized): boolean => format !== "bureau-agent-v1";

const textOf = ({ bytes }: Materialized): string => new TextDecoder().decode(bytes);

/** A file of what is shown, named after its commit. */
function fileName({ format }: Materialized): string {
  return `${chosen.value ?? "session"}.${format}.${format === "bureau-agent-v1" ? "cbor" : "jsonl"}`;
}

/** So many bytes are shown of what is no text. */
const MOST_BYTES = 4096;

/** Bytes that are no text, sixteen in a line. */
function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, MOST_BYTES); at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${letters}`);
  }
  const rest = bytes.length - MOST_BYTES;
  return `${lines.join("\n")}\n${rest > 0 ? `… ${plural(rest, "byte")} more` : ""}`;
}

function ResultPane() {
  const shown = useSignal<Shown>("conversation");
  const planned = plan.value;
  const made = result.value;
  return (
    <section
      class="pane result-pane"
      id="result"
      tabIndex={-1}
      aria-labelledby="result-title"
      aria-busy={made === undefined}
    >
      <h2 id="result-title" class="visually-hidden">
        Materialised conversation
      </h2>
      <div class="materialize">
        <Field label="Back to">
          {({ id }) => (
            <Select
              id={id}
              options={stops()}
              value={stop.value}
              onValue={(value) => {
                stop.value = value;
              }}
            />
          )}
        </Field>
        <Field label="As">
          {({ id }) => (
            <Select
              id={id}
              options={[{ value: "", name: "as stored" }, ...FORMATS]}
              value={format.value}
              onValue={(value) => (format.value = value)}
            />
          )}
        </Field>
        {format.value ? (
          <Field label="From another agent">
            {({ id }) => (
              <Select
                id={id}
                options={CROSS_FAMILY}
                value={crossFamily.value}
                onValue={(value) => (crossFamily.value = value)}
              />
            )}
          </Field>
        ) : null}
        {made?.ok ? (
          <>
            <p class="quiet-text" role="status" data-tier={made.value.tier}>
              {plural(made.value.messageCount, "message")}, about {tokens(made.value.tokenCount)},{" "}
              {plural(made.value.bytes.length, "byte")}, {made.value.tier}
            </p>
            <div class="result-tools">
              {isText(made.value) ? <CopyButton label="Copy" text={() => textOf(made.value)} /> : null}
              <button
                type="button"
                class="quiet"
                onClick={() => saveFile(fileName(made.value), made.value.bytes as Uint8Array<ArrayBuffer>)}
              >
                <Icon name="file" />
                Save
              </button>
            </div>
          </>
        ) : null}
      </div>
      <Tabs<Shown>
        label="Result"
        tabs={[
          { id: "conversation", name: "Conversation" },
          { id: "why", name: "Why" },
          { id: "bytes", name: "Bytes" },
        ]}
        chosen={shown.value}
        onChoose={(id) => (shown.value = id)}
      >
        {made && !made.ok ? (
          <div class="notice problem" role="alert">
            <p>
              <MessageText text={made.message} /> ({made.code})
            </p>
          </div>
        ) : shown.value === "why" ? (
          planned?.ok ? (
            <Why plan={planned.value} />
          ) : null
        ) : made?.ok ? (
          shown.value === "bytes" ? (
            <pre class="bytes" tabIndex={0} aria-label="Bytes">
              {isText(made.value) ? textOf(made.value) : hexOf(made.value.bytes)}
            </pre>
          ) : (
            <Conversation made={made.value} />
          )
        ) : null}
      </Tabs>
    </section>
  );
}

function stops(): { value: string; name: string }[] {
  const own = session.value && chosen.value ? chain(chosen.value) : [];
  const fixed = [
    { value: "compaction", name: "the nearest compaction" },
    { value: "root", name: "the root, all deltas" },
  ];
  const ancestors = own.map((id) => ({ value: id, name: id }));
  // A stop of another branch stays to be seen, with the error that it is.
  const other =
    stop.value.startsWith("ctx-") && !own.includes(stop.value) ? [{ value: stop.value, name: stop.value }] : [];
  return [...fixed, ...ancestors, ...other];
}

function chain(id: string): string[] {
  try {
    return session.value?.graph.history(id).map((record) => record.id) ?? [];
  } catch {
    return [];
  }
}

const REASONS = {
  start: "the result begins with it",
  delta: "what was new",
  summarised: "left out: what it summarises is there itself",
  repeated: "left out: what it repeats is there itself",
} as const;

/** Which commits are part of the result, and why. */
function Why({ plan }: { plan: MaterializationPlan }) {
  return (
    <table class="why">
      <thead>
        <tr>
          <th scope="col">Commit</th>
          <th scope="col">Kind</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {plan.steps.map(({ id, commitType, included, reason }) => (
          <tr key={id} data-step={id} data-included={included}>
            <td>
              <button type="button" class="quiet" onClick={() => choose(id)}>
                {id}
              </button>
            </td>
            <td>{commitType}</td>
            <td>{REASONS[reason]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The result, read as messages. */
function Conversation({ made }: { made: Materialized }) {
  let messages: { role: string; content: unknown }[];
  try {
    messages = transcriptToMessages(made.format as TranscriptFormat, made.bytes, {
      throughCompactions: stop.value === "root",
    }).messages as { role: string; content: unknown }[];
  } catch (error) {
    return <p class="empty">{(error as Error).message}</p>;
  }
  if (messages.length === 0) return <p class="empty">Nobody says anything.</p>;
  return (
    <ol class="said">
      {messages.map(({ role, content }, at) => (
        <li key={at} data-role={role}>
          <h3>{role}</h3>
          {texts(content).map((text, part) => (
            <p key={part}>{text}</p>
          ))}
        </li>
      ))}
    </ol>
  );
}

/** The parts of a message as texts. */
function texts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.map((part: Record<string, unknown>) => {
    if (typeof part["text"] === "string") return part["text"];
    const { type, name, arguments: args, content: inner } = part;
    return `[${[type, name].filter(Boolean).join(" ")}] ${args === undefined ? texts(inner).join("\n") : JSON.stringify(args)}`;
  });
}
