import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { FitFate, FitReason } from "ctxweave/chat";
import { onAddress } from "../../shell/route.js";
import { Failed } from "../../ui/failed.js";
import { Field, NumberInput, Segmented, Select } from "../../ui/fields.js";
import { Findings } from "../../ui/findings.js";
import { count, plural, tokens } from "../../ui/format.js";
import { useOpener } from "../../ui/drop.js";
import { JsonView } from "../../ui/json-view.js";
import { OpenFile } from "../../ui/open-file.js";
import { OwnTools } from "../../ui/own-tools.js";
import { Tabs } from "../../ui/tabs.js";
import { TokenBar } from "../../ui/token-bar.js";
import { STRATEGY_NAMES } from "../../ui/words.js";
import { SAMPLES } from "./samples.js";
import {
  begin,
  chosenLimit,
  keptResults,
  limit,
  open,
  outcome,
  own,
  strategy,
  systemOf,
  text,
  whole,
  type Outcome,
  type Row,
} from "./state.js";
import "../../styles/prompt.css";
import "../../styles/files.css";
import "../../styles/chats.css";

/** A chat as somebody has it on one side, what of it fits on the other. */
export function ChatsView() {
  const sample = SAMPLES.find(({ json }) => json === text.value);
  const read = (file: File): void => void file.text().then((json) => open(json, true));
  useEffect(() => {
    void begin();
    return onAddress("chats", () => void begin());
  }, []);
  useOpener({ hint: "Drop the chat to open it", onFile: read });
  return (
    <div class="loom">
      <h1 class="visually-hidden">A chat is fitted to its limit</h1>
      <div class="source">
        <Segmented
          label="Sample"
          options={SAMPLES.map(({ id, name }) => ({ value: id, name }))}
          value={sample?.id ?? ""}
          onValue={(id) => void open(SAMPLES.find((one) => one.id === id)?.json ?? "", false)}
        />
        <OpenFile
          label="Open a file…"
          id="chat-file"
          accept=".json,application/json"
          about="A chat of your own, as a JSON file"
          onFile={read}
        />
        <p class="about">Paste any chat. Nothing leaves this page.</p>
        <OwnTools view="chats" own={own} content={() => text.value} />
      </div>
      <div class="panes of-files">
        <section class="pane edit-pane" aria-label="Chat">
          <Settings />
          <textarea
            class="source-text code"
            aria-label="Chat messages, JSON"
            spellcheck={false}
            autocapitalize="off"
            autocomplete="off"
            placeholder="An array of messages, or { system, messages }"
            value={text.value}
            onInput={(event) => own.edit(event.currentTarget.value)}
          />
        </section>
        <Result />
      </div>
    </div>
  );
}

const STRATEGIES = { ...STRATEGY_NAMES, keepStart: "Keep start" };

const KEPT_RESULTS = ["all", "0", "1", "2", "3", "5", "10"] as const;

function Settings() {
  const most = whole.value ?? limit.value;
  return (
    <div class="chat-settings">
      <Field
        label="Limit in tokens"
        origin={chosenLimit.value === undefined ? "default" : "set"}
        onReset={() => (chosenLimit.value = undefined)}
      >
        {({ id }) => (
          <div class="slider">
            <input
              type="range"
              aria-label="Limit in tokens, slider"
              aria-valuetext={tokens(limit.value)}
              min={1}
              max={most}
              value={Math.min(limit.value, most)}
              onInput={(event) => (chosenLimit.value = Number(event.currentTarget.value))}
            />
            <NumberInput id={id} value={limit.value} min={1} onValue={(value) => (chosenLimit.value = value)} />
          </div>
        )}
      </Field>
      <Field label="Strategy">
        {({ id }) => (
          <Select
            id={id}
            options={(Object.keys(STRATEGIES) as (keyof typeof STRATEGIES)[]).map((value) => ({
              value,
              name: STRATEGIES[value],
            }))}
            value={strategy.value}
            onValue={(value) => (strategy.value = value)}
          />
        )}
      </Field>
      <Field label="Old tool results">
        {({ id }) => (
          <Select
            id={id}
            options={KEPT_RESULTS.map((value) => ({
              value,
              name: value === "all" ? "Stay" : value === "0" ? "Clear any" : `Clear all but ${value}`,
            }))}
            value={KEPT_RESULTS.find((value) => value === String(keptResults.value)) ?? "all"}
            onValue={(value) => (keptResults.value = value === "all" ? undefined : Number(value))}
          />
        )}
      </Field>
    </div>
  );
}

const SHARES = [
  { id: "system", name: "System", tone: 3 },
  { id: "messages", name: "Messages", tone: 1 },
  { id: "tools", name: "Tools", tone: 4 },
  { id: "overhead", name: "Overhead", tone: 2 },
] as const;

type Shown = "messages" | "json";

function Result() {
  const tab = useSignal<Shown>("messages");
  const now = outcome.value;
  if (now.kind === "error") {
    return (
      <Failed label="Fitted chat" code={now.code} message={now.message}>
        <p class="hint">
          A chat is a JSON array of the messages of one provider or library, or an object that has it:{" "}
          <code>{"{ system, messages }"}</code>, <code>{"{ systemInstruction, contents }"}</code>.
        </p>
      </Failed>
    );
  }
  const { report, fitted } = now;
  const { tokens: cost, diagnostics, edits = [] } = report;
  const shares = SHARES.map((share) => ({ ...share, tokens: cost[share.id] }));
  const fates = (["kept", "changed", "cut"] as const).map(
    (fate) => [fate, report.messages.filter((row) => row.fate === fate).length] as const,
  );
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-labelledby="result-title">
      <h2 id="result-title" class="visually-hidden">
        Fitted chat
      </h2>
      <TokenBar shares={[...shares, { id: "free", name: "Free", tokens: report.limit - cost.total, tone: 0 }]}>
        <p class="summary" role="status">
          <span>
            Format <code data-format>{report.format}</code>
          </span>
          <span data-total>
            {count(cost.total)} of {tokens(report.limit)}
          </span>
          {fates.map(([fate, many]) => (
            <span key={fate} data-many={fate} class={fate === "cut" && many > 0 ? "warn" : undefined}>
              {count(many)} {fate}
            </span>
          ))}
          {edits.map(({ edit, count: many, tokens: freed }) => (
            <span key={edit} data-edit={edit}>
              {plural(many, "edit")} freed {tokens(freed)}
            </span>
          ))}
        </p>
      </TokenBar>
      <Tabs<Shown>
        scrolls
        label="Result"
        tabs={[
          { id: "messages", name: "Messages", ...(diagnostics.length > 0 ? { count: diagnostics.length } : {}) },
          { id: "json", name: "JSON" },
        ]}
        chosen={tab.value}
        onChoose={(id) => (tab.value = id)}
      >
        {tab.value === "json" ? (
          <>
            <JsonView name="messages" label="Copy fitted chat" value={fitted} />
            <JsonView name="report" label="Copy report" value={report} />
          </>
        ) : (
          <>
            <Findings list={diagnostics} />
            <Messages now={now} />
          </>
        )}
      </Tabs>
    </section>
  );
}

function Messages({ now }: { now: Outcome & { kind: "fitted" } }) {
  const system = systemOf(now.given);
  return (
    <ol class="prompt dialogue">
      {system ? (
        <li class="message role-system" data-system>
          <h3 class="role">system</h3>
          <div class="message-body">
            <p class="text">{excerpt(system)}</p>
          </div>
        </li>
      ) : null}
      {now.rows.map((row, at) => (
        <MessageRow key={at} row={row} />
      ))}
      {now.rows.length === 0 ? <li class="empty">There are no messages.</li> : null}
    </ol>
  );
}

const FATES: Record<FitFate, string> = { kept: "Kept", changed: "Changed", cut: "Cut", summarized: "Summarized" };

const REASONS: Record<FitReason, string> = {
  callRemoved: "an old call",
  endOn: "after the end",
  imageRemoved: "an old image",
  nothingLeft: "nothing is left of it",
  overLimit: "over the limit",
  reasoningRemoved: "old reasoning",
  replaced: "replaced by a new one",
  resultCleared: "an old result was cleared",
  resultShortened: "an old result was shortened",
  shortened: "shortened to fit",
  toolPairBroken: "half of a tool call",
};

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
  return (
    <li class={`message role-${row.role} chat-${fate}`} data-message={index} data-fate={fate}>
      <h3 class="role">
        {row.role}
        <span class="merged">{index}</span>
      </h3>
      <div class="message-body">
        <div class="segment">
          <p class="segment-head">
            <span class={`fate-word fate-${fate}`}>{FATES[fate]}</span>
            {why ? <span class="quiet-text">{REASONS[why]}</span> : null}
            <span class="chat-cost">{tokens(cost)}</span>
          </p>
          {row.text ? <p class="text">{excerpt(row.text)}</p> : null}
        </div>
      </div>
    </li>
  );
}

/** The beginning of what may be long. */
function excerpt(text: string): string {
  return text.length > 420 ? `${text.slice(0, 400)}…` : text;
}
