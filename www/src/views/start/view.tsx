import { useRef } from "preact/hooks";
import { openDropped, openDroppedText } from "../../shell/dropped.js";
import { VIEW_LIST } from "../../shell/view-list.js";
import { bound } from "../../ui/bound.js";
import { Button } from "../../ui/button.js";
import { CopyButton } from "../../ui/copy-button.js";
import { Check } from "../../ui/fields.js";
import { count, tokens } from "../../ui/format.js";
import { OpenFile } from "../../ui/open-file.js";
import { OpenFolder, type OpenedFolder } from "../../ui/open-folder.js";
import { CHAT_SHARES, TokenBar, type Share } from "../../ui/token-bar.js";
import { dollars, listPrice, money } from "../chats/prices.js";
import { FATES } from "../chats/words.js";
import { clears, fitted, MODEL, SAMPLE, whole, window, type Row } from "./state.js";

/** An introduction with a conversation that is over its window, and a field for the user's input. */
export function StartView() {
  return (
    <div class="start">
      <section class="start-words" aria-labelledby="start-title">
        <h1 id="start-title">What your model sees, what it costs, what was cut</h1>
        <p>
          ctxweave assembles the context of language models: chats, agents' sessions, Loom trees, folders and templates
          become requests that fit. This page runs it in your browser. Your files never leave it.
        </p>
        <Bring />
        <ViewList />
        <div class="install">
          <code>npm install ctxweave</code>
          <CopyButton label="Copy" text={() => "npm install ctxweave"} />
        </div>
        <p class="hint">
          For Node, Deno, Bun, Workers and browsers, in Rust too. The documentation comes with the package: its README,
          and <code>node_modules/ctxweave/dist/docs</code>.
        </p>
        {DOCS_URL || SOURCE_URL ? (
          <p class="start-links">
            {DOCS_URL ? <a href={DOCS_URL}>Documentation</a> : null}
            {SOURCE_URL ? <a href={SOURCE_URL}>Source</a> : null}
          </p>
        ) : null}
      </section>
      <Shown />
    </div>
  );
}

/** What the other views are for. */
function ViewList() {
  return (
    <ul class="start-views" aria-label="What each view is for">
      {VIEW_LIST.filter(({ id }) => id !== "start").map(({ id, name, purpose }) => (
        <li key={id}>
          <a href={`#/${id}`}>{name}</a> <span>{purpose}</span>
        </li>
      ))}
    </ul>
  );
}

/** The field for the user's input. The whole page accepts it, too. */
function Bring() {
  const field = useRef<HTMLTextAreaElement>(null);
  const open = (text: string): void => {
    if (text.trim() !== "") void openDroppedText(text);
  };
  const openFolder = ({ name, files }: OpenedFolder): void => {
    const found = files.map(({ path, bytes }) => ({ path, file: async () => new File([bytes as BlobPart], path) }));
    void openDropped(name, found);
  };
  return (
    <div class="bring">
      <label for="bring-text">Drop anything here, or paste it</label>
      <textarea
        id="bring-text"
        ref={field}
        rows={4}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        aria-describedby="bring-what"
        onPaste={(event) => {
          const text = event.clipboardData?.getData("text/plain") ?? "";
          // Text pasted into existing text is part of it.
          if (text.trim() === "" || event.currentTarget.value !== "") return;
          event.preventDefault();
          open(text);
        }}
      />
      <div class="bring-tools">
        <Button label="Open" class="quiet strong" onClick={() => open(field.current?.value ?? "")} />
        <OpenFile label="A file…" id="any-file" about="A file of any kind" />
        <OpenFolder
          label="A folder…"
          wants={(path) => /\.(md|jsonl?)$/iu.test(path)}
          onOpen={openFolder}
          onProblem={(message) => void openDroppedText(message)}
        />
      </div>
      <p class="hint" id="bring-what">
        A request to Anthropic, OpenAI or Gemini, an array of messages, a session of Claude Code, Codex or Gemini CLI, a
        Loom or an export of chats, a folder with AGENTS.md files, a task template, or a text. The kind is detected.
      </p>
    </div>
  );
}

function Shown() {
  const { report, rows } = fitted.value;
  const { tokens: cost, limit } = report;
  const all = whole.value.tokens.total;
  const price = listPrice(MODEL)?.input ?? 0;
  const changed = rows.filter(({ row }) => row.fate === "changed").length;
  const cut = rows.filter(({ row }) => row.fate === "cut").length;
  const free: Share = { id: "free", name: "Free", tokens: limit - cost.total, tone: "free" };
  return (
    <section class="pane result-pane start-shown" id="result" tabIndex={-1} aria-labelledby="shown-title">
      <div class="row start-head">
        <h2 id="shown-title">A coding agent after ten turns: {tokens(all)}</h2>
        <label class="start-window">
          Window
          <input
            type="range"
            min={1500}
            max={all}
            step={100}
            value={window.value}
            aria-valuetext={tokens(window.value)}
            onInput={(event) => (window.value = Number(event.currentTarget.value))}
          />
          <output>{count(window.value)}</output>
        </label>
        <Check label="Clear old tool results first" {...bound(clears)} />
      </div>
      <TokenBar shares={[...CHAT_SHARES.map((share) => ({ ...share, tokens: cost[share.id] })), free]}>
        <p class="summary" role="status">
          <span data-total>
            {count(cost.total)} of {tokens(limit)}
          </span>
          <span data-many="cut" class={cut > 0 ? "warn" : undefined}>
            {count(cut)} of {count(rows.length)} messages cut
          </span>
          <span data-many="changed">{count(changed)} changed</span>
          <span data-money>
            {money(dollars(cost.total, price))} instead of {money(dollars(all, price))} a request ({MODEL})
          </span>
        </p>
      </TokenBar>
      <ol class="start-rows" tabIndex={0} aria-label="Fate of each message">
        {rows.map((row) => (
          <ShownRow key={row.row.index} {...row} whole={all} />
        ))}
      </ol>
      <p class="start-more">
        <a href={`#/chats?sample=${SAMPLE}&limit=${window.value}&model=${MODEL}${clears.value ? "&results=2" : ""}`}>
          Inspect and change it
        </a>
      </p>
    </section>
  );
}

const NAMES: Record<string, string> = { result: "tool result", call: "tool call" };

function ShownRow({ role, text, kind, row, whole: all }: Row & { whole: number }) {
  const first = text.split("\n")[0] ?? "";
  return (
    <li data-message={row.index} data-fate={row.fate} class={`chat-${row.fate}`}>
      <span class={`fate-word fate-${row.fate}`}>{FATES[row.fate]}</span>
      <span class="start-role">{NAMES[kind] ?? role}</span>
      <span class="truncate start-text">{first.length > 120 ? `${first.slice(0, 120)}…` : first}</span>
      <span class="share start-share" aria-hidden="true">
        <span style={{ inlineSize: `${Math.min((300 * row.tokens) / all, 100)}%` }} />
      </span>
      <span class="start-tokens">{count(row.tokens)}</span>
    </li>
  );
}
