import { useSignal } from "@preact/signals";
import type { Materialized, PlanStep, TranscriptPart } from "ctxweave/commits";
import { bound } from "../../ui/bound.js";
import { Button, SmallButton } from "../../ui/button.js";
import { CopyButton } from "../../ui/copy-button.js";
import { ProblemPanel } from "../../ui/failed.js";
import { optionsOf, SelectField } from "../../ui/fields.js";
import { count, plural, tokens } from "../../ui/format.js";
import { MessageText } from "../../ui/message.js";
import { saveFile } from "../../ui/save.js";
import { Tabs } from "../../ui/tabs.js";
import { Windowed, type ItemProps } from "../../ui/windowed.js";
import { nameOf, partsOf } from "./details.js";
import { resumeFile } from "./resume.js";
import { FORMATS, isCbor, type OpenSession } from "./session.js";
import {
  choose,
  chosen,
  conversation,
  crossFamily,
  format,
  record,
  result,
  settled,
  steps,
  stop,
  timeline,
} from "./state.js";

type Shown = "conversation" | "why" | "bytes";

const CROSS_FAMILY = optionsOf({ transcode: "turn by turn", render: "a narrative of one message" });

/** The conversation materialized from the chosen commit: to read, copy, convert, and save as a file to resume. */
export function ResultPane({ open }: { open: OpenSession }) {
  const shown = useSignal<Shown>("conversation");
  const made = result.value;
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-labelledby="result-title">
      <div class="stack px-4 py-3">
        <h2 id="result-title">Resume from here</h2>
        <div class="grid grid-cols-[repeat(auto-fit,minmax(10rem,1fr))] gap-3">
          <SelectField label="Back to" options={stops(open)} {...bound(stop)} />
          <SelectField label="As" options={[{ value: "", name: "as stored" }, ...FORMATS]} {...bound(format)} />
          {format.value && format.value !== record.value?.format ? (
            <SelectField label="From another agent" options={CROSS_FAMILY} {...bound(crossFamily)} />
          ) : null}
        </div>
        {made?.ok ? <Resume made={made.value} /> : null}
      </div>
      <Tabs<Shown> label="Result" tabs={{ conversation: "Conversation", why: "Why", bytes: "Bytes" }} {...bound(shown)}>
        {made?.ok === false ? <ProblemPanel code={made.code} message={made.message} /> : null}
        {made?.ok && shown.value === "conversation" ? <Conversation made={made.value} /> : null}
        {made?.ok && shown.value === "why" ? <Why open={open} /> : null}
        {made?.ok && shown.value === "bytes" ? <Bytes made={made.value} /> : null}
      </Tabs>
    </section>
  );
}

/** Number of nearest commits offered as a stop; further back only the beginnings of segments. */
const NEAREST = 30;

function stops(open: OpenSession): { value: string; name: string }[] {
  const history = settled.value ? open.graph.history(settled.value) : [];
  const turning = new Set(timeline.value.filter(({ begins }) => begins).map(({ record }) => record.id));
  const offered = history
    .filter((one, at) => at < NEAREST || one.commit_type !== "delta" || turning.has(one.id) || one.id === stop.value)
    .map(({ id }) => id);
  // A stop of another branch stays in the list, with its error.
  const others = stop.value.startsWith("ctx-") && !offered.includes(stop.value) ? [stop.value] : [];
  return [
    { value: "compaction", name: "the nearest compaction" },
    { value: "root", name: "the root, all deltas" },
    ...[...offered, ...others].map((id) => ({ value: id, name: nameOf(open, id) })),
  ];
}

/** Facts about the result, and the file from which an agent continues. */
function Resume({ made }: { made: Materialized }) {
  const { name, where } = resumeFile(made, chosen.value ?? "session");
  const notes = made.diagnostics;
  const shown = conversation.value;
  const messages = shown?.ok ? shown.value.messages.length : made.messageCount;
  return (
    <>
      <p class="quiet-text text-s" role="status" data-tier={made.tier}>
        {plural(messages, "message")}
        {shown?.ok && shown.value.system !== undefined ? " and a system context" : ""}, about {tokens(made.tokenCount)}{" "}
        of content without the overhead of a request, {plural(made.bytes.length, "byte")}, {made.tier}
      </p>
      <div class="row gap-2">
        <Button
          label="Save as a file"
          icon="file"
          onClick={() => saveFile(name, made.bytes)}
          title={`Save as ${name}`}
        />
        {isCbor(made.format) ? null : <CopyButton label="Copy" text={() => new TextDecoder().decode(made.bytes)} />}
        <p class="hint flex-[1_1_16rem] wrap-anywhere">
          <MessageText text={where} />
        </p>
      </div>
      {notes.length > 0 ? (
        <details class="lost">
          <summary>{plural(notes.length, "note")} on the result</summary>
          <ul class="max-h-40 overflow-auto text-s text-ink-2" tabIndex={0} aria-label="Notes">
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

/** Maximum size of a shown text, and of binary content; saving and copying use all of it. */
const MAX_SHOWN_TEXT_BYTES = 200_000;
const MAX_SHOWN_BINARY_BYTES = 4096;

function Bytes({ made: { format, bytes } }: { made: Materialized }) {
  const [show, most] = isCbor(format)
    ? [hexOf, MAX_SHOWN_BINARY_BYTES]
    : [(some: Uint8Array) => new TextDecoder().decode(some), MAX_SHOWN_TEXT_BYTES];
  return (
    <pre class="bytes text-xs whitespace-pre-wrap wrap-anywhere" tabIndex={0} aria-label="Bytes">
      {show(bytes.subarray(0, most))}
      {bytes.length > most ? `\n… ${plural(bytes.length - most, "byte")} more` : ""}
    </pre>
  );
}

/** Bytes as hex, sixteen per line. */
function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${letters}`);
  }
  return lines.join("\n");
}

const REASONS = {
  start: "the result begins with it",
  delta: "new messages",
  summarised: "left out: the messages it summarizes are included",
  repeated: "left out: the messages it repeats are included",
} as const;

/** Which commits are part of the result, and why. */
function Why({ open }: { open: OpenSession }) {
  const all = steps.value;
  return (
    <Windowed
      role="list"
      label="Which commits are part of the result, and why"
      count={all.length}
      estimate={() => 52}
      itemProps={(at) => {
        const { id, included } = all[at] as PlanStep;
        const marks = { "data-step": id, "data-included": included };
        return { role: "listitem", class: "grid gap-0.5 border-b border-line py-1.5 text-s", ...marks } as ItemProps;
      }}
      item={(at) => {
        const { id, included, commitType, reason } = all[at] as PlanStep;
        const look = `text-start wrap-anywhere hover:underline ${included ? "" : "text-ink-3"}`;
        return (
          <>
            <button type="button" class={look} onClick={() => choose(id)}>
              {nameOf(open, id)}
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
  const shown = conversation.value;
  if (!shown) return null;
  if (!shown.ok) return <p class="empty">{shown.message}</p>;
  const { system, messages } = shown.value;
  const read = [...(system === undefined ? [] : [{ role: "system", content: system }]), ...messages];
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
      itemProps={(at) => ({ role: "listitem", class: "pb-3", "data-role": read[at]?.role }) as ItemProps}
      item={(at) => {
        const { role, content } = read[at] as (typeof read)[number];
        const texts = textsOf(content);
        const whole = texts.join("\n\n");
        const isLong = whole.length > MAX_FOLDED_LETTERS;
        const isFolded = isLong && !unfolded.has(at);
        return (
          <div
            class="rounded-s border-s-3 bg-sunken px-3.5 py-2.5"
            style={{ borderColor: `var(--color-kind-${role})` }}
          >
            <div class="row gap-x-2.5 gap-y-1 [&_.quiet]:px-2 [&_.quiet]:py-0.5 [&_.quiet]:text-xs">
              <h3 class="flex-1 text-xs text-ink-3">{role}</h3>
              {isLong ? (
                <SmallButton aria-expanded={!isFolded} onClick={() => toggle(at)}>
                  {isFolded ? `Show all ${count(whole.length)} characters` : "Fold"}
                </SmallButton>
              ) : null}
              <CopyButton label="Copy message" text={() => whole} />
            </div>
            {(isFolded ? [`${whole.slice(0, MAX_FOLDED_LETTERS)}…`] : texts).map((text, part) => (
              <p key={part} class="whitespace-pre-wrap wrap-anywhere">
                {text}
              </p>
            ))}
          </div>
        );
      }}
    />
  );
}

/** The parts of a message as texts. */
const textsOf = (content: string | TranscriptPart[]): string[] =>
  partsOf(content).map((part) => {
    if ("text" in part) return part.text;
    if (part.type === "toolCall") return `[toolCall ${part.name}] ${JSON.stringify(part.arguments)}`;
    return `[${part.type}] ${part.type === "toolResult" ? textsOf(part.content).join("\n") : ""}`;
  });
