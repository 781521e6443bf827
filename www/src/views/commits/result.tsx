import { useSignal } from "@preact/signals";
import type { Materialized, MaterializationPlan } from "ctxweave/commits";
import { bound } from "../../ui/bound.js";
import { Button, SmallButton } from "../../ui/button.js";
import { CopyButton } from "../../ui/copy-button.js";
import { optionsOf, SelectField } from "../../ui/fields.js";
import { count, plural, tokens } from "../../ui/format.js";
import { MessageText } from "../../ui/message.js";
import { saveFile } from "../../ui/save.js";
import { Tabs } from "../../ui/tabs.js";
import { Windowed } from "../../ui/windowed.js";
import { nameOf } from "./details.js";
import { resumeFile } from "./resume.js";
import { FORMATS, isCbor } from "./session.js";
import {
  choose,
  chosen,
  conversation,
  crossFamily,
  format,
  plan,
  record,
  result,
  session,
  stop,
  timeline,
} from "./state.js";

type Shown = "conversation" | "why" | "bytes";

const CROSS_FAMILY = optionsOf({ transcode: "turn by turn", render: "a narrative of one message" });

/** The conversation materialized from the chosen commit: to read, copy, convert, and save as a file to resume. */
export function ResultPane() {
  const shown = useSignal<Shown>("conversation");
  const planned = plan.value;
  const made = result.value;
  const own = record.value?.format;
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-labelledby="result-title">
      <div class="row materialize">
        <h2 id="result-title">Resume from here</h2>
        <SelectField label="Back to" options={stops()} {...bound(stop)} />
        <SelectField label="As" options={[{ value: "", name: "as stored" }, ...FORMATS]} {...bound(format)} />
        {format.value && format.value !== own ? (
          <SelectField label="From another agent" options={CROSS_FAMILY} {...bound(crossFamily)} />
        ) : null}
        {made?.ok ? <Resume made={made.value} /> : null}
      </div>
      <Tabs<Shown> label="Result" tabs={{ conversation: "Conversation", why: "Why", bytes: "Bytes" }} {...bound(shown)}>
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
              {isText(made.value) ? beginningOf(made.value) : hexOf(made.value.bytes)}
            </pre>
          ) : (
            <Conversation made={made.value} />
          )
        ) : null}
      </Tabs>
    </section>
  );
}

/** Facts about the result, and the file from which an agent continues. */
function Resume({ made }: { made: Materialized }) {
  const { name, where } = resumeFile(made, chosen.value ?? "session");
  const notes = made.diagnostics;
  const said = conversation.value;
  const messages = said?.ok ? said.value.messages.length : made.messageCount;
  return (
    <>
      <p class="quiet-text" role="status" data-tier={made.tier}>
        {plural(messages, "message")}
        {said?.ok && said.value.system !== undefined ? " and a system context" : ""}, about {tokens(made.tokenCount)} of
        content without the overhead of a request, {plural(made.bytes.length, "byte")}, {made.tier}
      </p>
      <div class="result-tools">
        <Button
          label="Save as a file"
          icon="file"
          onClick={() => saveFile(name, made.bytes)}
          title={`Save as ${name}`}
        />
        {isText(made) ? <CopyButton label="Copy" text={() => new TextDecoder().decode(made.bytes)} /> : null}
        <p class="hint resume-where">
          <MessageText text={where} />
        </p>
      </div>
      {notes.length > 0 ? (
        <details class="lost">
          <summary>{plural(notes.length, "note")} on the result</summary>
          <ul tabIndex={0} aria-label="Notes">
            {notes.slice(0, 50).map(({ code, message }, at) => (
              <li key={at} data-finding={code}>
                <MessageText text={message} sentence />
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </>
  );
}

const isText = ({ format }: Materialized): boolean => !isCbor(format);

/** Maximum size of a shown text; saving and copying use all of it. */
const MAX_SHOWN_TEXT_BYTES = 200_000;

function beginningOf({ bytes }: Materialized): string {
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_SHOWN_TEXT_BYTES));
  const rest = bytes.length - MAX_SHOWN_TEXT_BYTES;
  return rest > 0 ? `${text}\n… ${plural(rest, "byte")} more` : text;
}

/** Number of bytes shown of binary content. */
const MAX_SHOWN_BYTES = 4096;

/** Bytes as hex, sixteen per line. */
function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, MAX_SHOWN_BYTES); at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${letters}`);
  }
  const rest = bytes.length - MAX_SHOWN_BYTES;
  return `${lines.join("\n")}\n${rest > 0 ? `… ${plural(rest, "byte")} more` : ""}`;
}

/** Number of nearest commits offered as a stop; further back only the beginnings of segments. */
const NEAREST = 30;

function stops(): { value: string; name: string }[] {
  const open = session.value;
  const from = plan.value?.ok ? plan.value.value.commit : chosen.value;
  const history = open && from ? chain(from) : [];
  const turning = new Set(timeline.value.filter(({ begins }) => begins).map(({ record }) => record.id));
  const offered = history.filter(
    (one, at) => at < NEAREST || one.commit_type !== "delta" || turning.has(one.id) || one.id === stop.value,
  );
  const fixed = [
    { value: "compaction", name: "the nearest compaction" },
    { value: "root", name: "the root, all deltas" },
  ];
  const ancestors = offered.map((one) => ({ value: one.id, name: open ? nameOf(open, one) : one.id }));
  // A stop of another branch stays in the list, with its error.
  const other =
    stop.value.startsWith("ctx-") && !offered.some(({ id }) => id === stop.value)
      ? [{ value: stop.value, name: stop.value }]
      : [];
  return [...fixed, ...ancestors, ...other];
}

function chain(id: string): ReturnType<NonNullable<typeof session.value>["graph"]["history"]> {
  try {
    return session.value?.graph.history(id) ?? [];
  } catch {
    return [];
  }
}

const REASONS = {
  start: "the result begins with it",
  delta: "new messages",
  summarised: "left out: the messages it summarizes are included",
  repeated: "left out: the messages it repeats are included",
} as const;

/** Which commits are part of the result, and why. */
function Why({ plan: { steps } }: { plan: MaterializationPlan }) {
  const open = session.value;
  if (!open) return null;
  return (
    <Windowed
      class="why"
      role="list"
      label="Which commits are part of the result, and why"
      count={steps.length}
      estimate={() => 52}
      itemProps={(at) =>
        ({ role: "listitem", "data-step": steps[at]?.id, "data-included": steps[at]?.included }) as object
      }
      item={(at) => {
        const { id, commitType, reason } = steps[at] as MaterializationPlan["steps"][number];
        return (
          <>
            <button type="button" class="why-name" onClick={() => choose(id)}>
              {nameOf(open, open.graph.show(id))}
            </button>
            <span class="quiet-text">
              {commitType}: {REASONS[reason]}
            </span>
          </>
        );
      }}
    />
  );
}

/** Maximum letters of a text until it is unfolded. */
const MAX_FOLDED_LETTERS = 800;

/** The result, read as messages. Long ones are folded. */
function Conversation({ made }: { made: Materialized }) {
  const open = useSignal<ReadonlySet<number>>(new Set());
  const said = conversation.value;
  if (!said) return null;
  if (!said.ok) return <p class="empty">{said.message}</p>;
  const { system, messages } = said.value;
  const read = [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    ...messages.map(({ role, content }) => ({ role, content })),
  ];
  if (read.length === 0) return <p class="empty">No messages.</p>;
  const toggle = (at: number): void => {
    const next = new Set(open.value);
    if (!next.delete(at)) next.add(at);
    open.value = next;
  };
  // Read here, because the rows are rendered by a component of their own.
  const unfolded = open.value;
  return (
    <Windowed
      key={made.artifactRef}
      class="said"
      role="list"
      label="The conversation"
      count={read.length}
      estimate={() => 90}
      itemProps={(at) => ({ role: "listitem", "data-role": read[at]?.role }) as object}
      item={(at) => {
        const { role, content } = read[at] as (typeof read)[number];
        const whole = texts(content).join("\n\n");
        const isLong = whole.length > MAX_FOLDED_LETTERS;
        const isFolded = isLong && !unfolded.has(at);
        return (
          <div class="said-one">
            <div class="row said-head">
              <h3>{role}</h3>
              {isLong ? (
                <SmallButton aria-expanded={!isFolded} onClick={() => toggle(at)}>
                  {isFolded ? `Show all ${count(whole.length)} characters` : "Fold"}
                </SmallButton>
              ) : null}
              <CopyButton label="Copy message" text={() => whole} />
            </div>
            {(isFolded ? [`${whole.slice(0, MAX_FOLDED_LETTERS)}…`] : texts(content)).map((text, part) => (
              <p key={part}>{text}</p>
            ))}
          </div>
        );
      }}
    />
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
