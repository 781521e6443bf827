import { signal } from "@preact/signals";
import type { FitFate } from "ctxweave/chat";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { bound } from "../../ui/bound.js";
import { Button } from "../../ui/button.js";
import { connect } from "../../ui/connect.js";
import { Failed } from "../../ui/failed.js";
import { Findings } from "../../ui/findings.js";
import { count, plural, tokens } from "../../ui/format.js";
import type { Code } from "../../ui/code.js";
import { CopyAsCode } from "../../ui/copy-as-code.js";
import { useOpener, usePrepared } from "../../ui/drop.js";
import { JsonText } from "../../ui/json-view.js";
import { MessageText } from "../../ui/message.js";
import { OpenFile } from "../../ui/open-file.js";
import { OwnTools } from "../../ui/own-tools.js";
import { Panes } from "../../ui/panes.js";
import { SamplePicker } from "../../ui/sample-picker.js";
import { ResultPane } from "../../ui/result-pane.js";
import { Tabs } from "../../ui/tabs.js";
import { CHAT_SHARES, TokenBar, type Share } from "../../ui/token-bar.js";
import { LARGE, TextField } from "../../ui/text-parts.js";
import { useAddress } from "../../ui/use-address.js";
import { CachePanel } from "./cache-panel.js";
import { codeOfChat } from "./code.js";
import { ComparePanel } from "./compare-panel.js";
import { Messages } from "./messages.js";
import { ownPrices } from "./prices.js";
import { SAMPLES } from "./samples.js";
import { SessionPanel } from "./session-panel.js";
import { FormatPicker, Settings } from "./settings.js";
import {
  begin,
  change,
  edit,
  follow,
  isLimited,
  limit,
  loadVocabularies,
  marks,
  open,
  openSession,
  own,
  remote,
  rows,
  setMarks,
  session,
  shown,
  tab,
  text,
  texts,
  type Fitted,
  type Tab,
} from "./state.js";
import { WindowPanel } from "./window.js";

/** A chat on one side, the contents of its window and the fitted chat on the other. */
export function ChatsView() {
  useAddress("chats", begin, follow);
  useEffect(() => {
    if (ownPrices.value.peek() === undefined) void ownPrices.begin((prices) => prices as never);
    return () => {
      tab.value = "window";
    };
  }, []);
  useEffect(loadVocabularies, []);
  usePrepared(remote);
  useOpener({
    hint: "Drop the chat to open it",
    ready: own.value.value !== undefined,
    onFile: (file) => void file.text().then((json) => open(json, true)),
    onSession: (turns) => void openSession(turns),
  });
  return (
    <div class="loom">
      <h1 class="sr-only">Contents of a chat's window, and the fitted chat</h1>
      <div class="row source">
        <SamplePicker samples={SAMPLES} text={text.value} onOpen={(json) => void open(json, false)} />
        <OpenFile label="Open a file…" id="chat-file" about="Your chat as a JSON file" view="chats" />
        <p class="about">Paste any chat. Nothing leaves this page.</p>
        <CopyAsCode code={code} />
        <OwnTools view="chats" own={own} />
      </div>
      {/* If only one pane fits, the contents of the window come first. */}
      <Panes class="of-files" panes={{ result: "Fitted chat", edit: "Chat and settings" }}>
        <section class="pane edit-pane" aria-label="Chat">
          <Settings />
          {session.value ? (
            <SessionPanel open={session.value} />
          ) : (
            <TextField
              class={text.value.length <= LARGE && text.value.includes("\n") ? "code" : ""}
              label="Chat messages, JSON"
              placeholder="A request body, or an array of messages"
              text={text.value}
              part={part}
              onText={edit}
            />
          )}
        </section>
        <Result />
      </Panes>
    </div>
  );
}

remote.start = () => connect(() => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));

/** Only the worker has the messages of a large chat. */
const code = (): Code | undefined | Promise<Code | undefined> =>
  remote.isUsed.peek() ? (remote.ask("code") as Promise<Code | undefined>) : codeOfChat();

/** The shown part of a large chat's text. */
const part = signal(0);

function Result() {
  const at = shown.value;
  if (!at.ok && at.code === "pending") {
    return (
      <ResultPane label="Fitted chat">
        <p class="loading" role="status">
          Reading the chat…
        </p>
      </ResultPane>
    );
  }
  if (!at.ok) {
    return (
      <Failed label="Fitted chat" code={at.code} message={at.message}>
        <p class="hint">
          A chat is a JSON array of the messages of one provider or library, or an object that has it:{" "}
          <code>{"{ system, messages }"}</code>, <code>{"{ systemInstruction, contents }"}</code>,{" "}
          <code>{"{ instructions, input }"}</code>, <code>{"{ system_instruction, input }"}</code>.
        </p>
      </Failed>
    );
  }
  const now = at.value;
  const { problem } = now;
  const { diagnostics } = now.report;
  const panels: Record<Tab, () => ComponentChildren> = {
    window: () => <WindowPanel now={now} />,
    messages: () => (
      <>
        <Findings list={diagnostics} />
        <Messages fits={!problem} />
      </>
    ),
    compare: () => <ComparePanel />,
    cache: () => <CachePanel now={now} />,
    json: () => (problem ? <p class="empty">No request is sent: it does not fit.</p> : <Json />),
  };
  return (
    <ResultPane label="Fitted chat">
      <div>
        {problem ? <NothingFits problem={problem} now={now} /> : null}
        <Budget now={now} fits={!problem} />
      </div>
      <Tabs<Tab>
        scrolls
        label="Result"
        tabs={{ window: "Window", messages: "Messages", compare: "Compare", cache: "Cache", json: "JSON" }}
        counts={{ messages: diagnostics.length }}
        {...bound(tab)}
      >
        {panels[tab.value]()}
      </Tabs>
    </ResultPane>
  );
}

/** The result and its report as JSON. */
function Json() {
  const { diagnostics = [], messages, report } = texts.value ?? {};
  return (
    <>
      <div class="mb-3 max-w-72">
        <FormatPicker />
      </div>
      <Findings list={diagnostics} />
      <JsonText name="messages" label="Copy fitted chat" text={messages} />
      <JsonText name="report" label="Copy report" text={report} />
    </>
  );
}

/** Why nothing fits, with the ways out. The tools stay below it. */
function NothingFits({ problem, now }: { problem: { code: string; message: string }; now: Fitted }) {
  const { total } = now.report.tokens;
  return (
    <div class="notice problem row gap-x-3 gap-y-1.5" role="alert">
      <p class="grow basis-80">
        <MessageText text={problem.message} sentence /> <code data-error-code>{problem.code}</code>
      </p>
      {marks.value.pinned.length > 0 ? <Button onClick={() => setMarks({ pinned: [] })}>Unpin all</Button> : null}
      {total > limit.value ? (
        <Button onClick={() => change({ limit: total })}>Raise the limit to {count(total)}</Button>
      ) : null}
    </div>
  );
}

/** The use of the limit, and what happened to the messages. */
function Budget({ now: { report }, fits }: { now: Fitted; fits: boolean }) {
  const { tokens: cost, edits = [], format } = report;
  const shares: Share[] = CHAT_SHARES.map((share) => ({ ...share, tokens: cost[share.id] }));
  const free = report.limit - cost.total;
  if (free >= 0 && isLimited.value) shares.push({ id: "free", name: "Free", tokens: free, tone: "free" });
  const numberOf = (fate: FitFate): number =>
    rows.value.filter((row) => row.kind === "message" && row.row.fate === fate).length;
  return (
    <TokenBar shares={shares} isPartOf={isLimited.value}>
      <p class="summary" role="status">
        <span>
          Format <code data-format>{format}</code>
        </span>
        <span data-total>
          {isLimited.value ? `${count(cost.total)} of ${tokens(report.limit)}` : `${tokens(cost.total)}, no limit`}
        </span>
        {free < 0 ? (
          <span class="warn" data-over>
            {count(-free)} over
          </span>
        ) : null}
        {(fits ? (["kept", "changed", "cut"] as const) : []).map((fate) => (
          <span key={fate} data-many={fate} class={fate === "cut" && numberOf(fate) > 0 ? "warn" : undefined}>
            {count(numberOf(fate))} {fate}
          </span>
        ))}
        {edits.map(({ edit: name, count: many, tokens: freed }) => (
          <span key={name} data-edit={name}>
            {plural(many, "edit")} freed {tokens(freed)}
          </span>
        ))}
      </p>
    </TokenBar>
  );
}
