import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { bound } from "../../ui/bound.js";
import { Button } from "../../ui/button.js";
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
import { loadVocabulary } from "../../ui/vocabularies.js";
import { useAddress } from "../../ui/use-address.js";
import type { SessionTurns } from "../../reader/session-turns.js";
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
  marks,
  model,
  open,
  openSession,
  own,
  remote,
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
  const read = (file: File): void => void file.text().then((json) => open(json, true));
  useAddress("chats", begin, follow);
  useEffect(() => {
    if (ownPrices.value.peek() === undefined) void ownPrices.begin((prices) => prices as never);
    // The vocabulary of a model is fetched when the model is chosen.
    const stop = effect(() => {
      const { vocabulary } = model.value ?? {};
      if (vocabulary) void loadVocabulary(vocabulary);
    });
    return () => {
      stop();
      tab.value = "window";
    };
  }, []);
  const ready = own.value.value !== undefined;
  const onSession = (turns: SessionTurns): void => void openSession(turns);
  usePrepared(remote);
  useOpener({ hint: "Drop the chat to open it", ready, onFile: read, onSession });
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

remote.start = () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });

/** Only the worker has the messages of a large chat. */
const code = (): Code | undefined | Promise<Code | undefined> =>
  remote.isUsed.peek() ? (remote.ask("code") as Promise<Code | undefined>) : codeOfChat();

/** The shown part of a large chat's text. */
const part = signal(0);

function Result() {
  const at = shown.value;
  if ("kind" in at && at.code === "pending") {
    return (
      <ResultPane label="Fitted chat">
        <p class="loading" role="status">
          Reading the chat…
        </p>
      </ResultPane>
    );
  }
  if ("kind" in at) {
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
  const { now, problem } = at;
  const { report } = now;
  const { diagnostics } = report;
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
        {tab.value === "window" ? <WindowPanel now={now} /> : null}
        {tab.value === "messages" ? (
          <>
            <Findings list={diagnostics} />
            <Messages now={now} fits={!problem} />
          </>
        ) : null}
        {tab.value === "compare" ? <ComparePanel /> : null}
        {tab.value === "cache" ? <CachePanel now={now} /> : null}
        {tab.value === "json" ? (
          problem ? (
            <p class="empty">No request is sent: it does not fit.</p>
          ) : (
            <>
              <div class="json-format">
                <FormatPicker />
              </div>
              <Findings list={texts.value?.diagnostics ?? []} />
              <JsonText name="messages" label="Copy fitted chat" text={texts.value?.messages} />
              <JsonText name="report" label="Copy report" text={texts.value?.report} />
            </>
          )
        ) : null}
      </Tabs>
    </ResultPane>
  );
}

/** Why nothing fits, with the ways out. The tools stay below it. */
function NothingFits({ problem, now }: { problem: { code: string; message: string }; now: Fitted }) {
  const { total } = now.report.tokens;
  return (
    <div class="notice problem row nothing-fits" role="alert">
      <p>
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
function Budget({ now, fits }: { now: Fitted; fits: boolean }) {
  const { report } = now;
  const { tokens: cost, edits = [] } = report;
  const shares: Share[] = CHAT_SHARES.map((share) => ({ ...share, tokens: cost[share.id] }));
  const free = report.limit - cost.total;
  if (free >= 0 && isLimited.value) shares.push({ id: "free", name: "Free", tokens: free, tone: "free" });
  const rows = now.rows.flatMap((row) => (row.kind === "message" ? [row.row] : []));
  const fates = (["kept", "changed", "cut"] as const).map(
    (fate) => [fate, rows.filter((row) => row.fate === fate).length] as const,
  );
  return (
    <TokenBar shares={shares} isPartOf={isLimited.value}>
      <p class="summary" role="status">
        <span>
          Format <code data-format>{report.format}</code>
        </span>
        <span data-total>
          {isLimited.value ? `${count(cost.total)} of ${tokens(report.limit)}` : `${tokens(cost.total)}, no limit`}
        </span>
        {free < 0 ? (
          <span class="warn" data-over>
            {count(-free)} over
          </span>
        ) : null}
        {fits
          ? fates.map(([fate, many]) => (
              <span key={fate} data-many={fate} class={fate === "cut" && many > 0 ? "warn" : undefined}>
                {count(many)} {fate}
              </span>
            ))
          : null}
        {edits.map(({ edit: name, count: many, tokens: freed }) => (
          <span key={name} data-edit={name}>
            {plural(many, "edit")} freed {tokens(freed)}
          </span>
        ))}
      </p>
    </TokenBar>
  );
}
