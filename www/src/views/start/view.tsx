import { useRef } from "preact/hooks";
import { foundFile, openDropped, openDroppedText } from "../../shell/dropped.js";
import { VIEW_LIST } from "../../shell/view-list.js";
import { bound } from "../../ui/bound.js";
import { Button } from "../../ui/button.js";
import { CopyButton } from "../../ui/copy-button.js";
import { Check } from "../../ui/fields.js";
import { count, tokens } from "../../ui/format.js";
import { OpenFile } from "../../ui/open-file.js";
import { OpenFolder } from "../../ui/open-folder.js";
import { CHAT_SHARES, TokenBar } from "../../ui/token-bar.js";
import { dollars, listPrice, money } from "../chats/prices.js";
import { FATES } from "../chats/words.js";
import { clears, fitted, MODEL, SAMPLE, whole, window } from "./state.js";

/** An introduction with a conversation that is over its window, and a field for the user's input. */
export function StartView() {
  return (
    <div class="grid min-h-0 flex-1 grid-cols-[minmax(300px,5fr)_minmax(0,8fr)] gap-6 p-6 max-two:grid-cols-1 max-two:p-3">
      <section class="grid min-h-0 content-start gap-3 overflow-auto p-1" aria-labelledby="start-title">
        <h1
          id="start-title"
          class="font-serif text-[clamp(1.4rem,1rem+1.5vw,1.75rem)] leading-tight font-semibold text-balance"
        >
          What your model sees, what it costs, what was cut
        </h1>
        <p class="text-l text-ink-2">
          ctxweave assembles the context of language models: chats, agents' sessions, Loom trees, folders and templates
          become requests that fit. This page runs it in your browser. Your files never leave it.
        </p>
        <InputForm />
        <ul class="grid gap-1 text-s text-ink-2" aria-label="What each view is for">
          {VIEW_LIST.slice(1).map(({ id, name, purpose }) => (
            <li key={id}>
              <a class="font-semibold" href={`#/${id}`}>
                {name}
              </a>{" "}
              <span>{purpose}</span>
            </li>
          ))}
        </ul>
        <div class="flex items-center justify-between rounded-m border border-line bg-sunken py-1.5 pr-1.5 pl-3.5">
          <code>npm install ctxweave</code>
          <CopyButton label="Copy" text={() => "npm install ctxweave"} />
        </div>
        <p class="hint">
          For Node, Deno, Bun, Workers and browsers, in Rust too. The documentation comes with the package: its README,
          and <code>node_modules/ctxweave/dist/docs</code>.
        </p>
        {DOCS_URL || SOURCE_URL ? (
          <p class="start-links flex gap-4 text-s">
            {DOCS_URL ? <a href={DOCS_URL}>Documentation</a> : null}
            {SOURCE_URL ? <a href={SOURCE_URL}>Source</a> : null}
          </p>
        ) : null}
      </section>
      <Example />
    </div>
  );
}

/** The field for the user's input. The whole page accepts it, too. */
function InputForm() {
  const field = useRef<HTMLTextAreaElement>(null);
  const open = (text: string): void => {
    if (text.trim() !== "") void openDroppedText(text);
  };
  return (
    <div class="stack gap-2 rounded-[12px] border-2 border-dashed border-line-strong bg-surface p-4">
      <label class="font-semibold" for="bring-text">
        Drop anything here, or paste it
      </label>
      <textarea
        id="bring-text"
        ref={field}
        class="source-text"
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
      <div class="row gap-2">
        <Button label="Open" onClick={() => open(field.current?.value ?? "")} />
        <OpenFile label="A file…" id="any-file" about="A file of any kind" />
        <OpenFolder
          label="A folder…"
          wants={(path) => /\.(md|jsonl?)$/iu.test(path)}
          onOpen={({ name, files }) => {
            const found = files.map(({ path, bytes }) => foundFile(bytes as BlobPart, path));
            void openDropped(name, found);
          }}
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

function Example() {
  const { tokens: cost, limit, rows } = fitted.value;
  const all = whole.value;
  const price = listPrice(MODEL)?.input ?? 0;
  const cut = rows.filter(({ fate }) => fate === "cut").length;
  return (
    <section class="pane result-pane [grid-area:auto]" id="result" tabIndex={-1} aria-labelledby="shown-title">
      <div class="row gap-x-5 gap-y-1.5 px-4 pt-3">
        <h2 class="basis-full" id="shown-title">
          A coding agent after ten turns: {tokens(all)}
        </h2>
        <label class="flex flex-[1_1_14rem] items-center gap-2.5 text-s text-ink-2">
          Window
          <input
            class="min-w-0 grow"
            type="range"
            min={1500}
            max={all}
            step={100}
            value={window.value}
            aria-valuetext={tokens(window.value)}
            onInput={(event) => (window.value = Number(event.currentTarget.value))}
          />
          <output class="min-w-14 font-semibold text-ink tabular-nums">{count(window.value)}</output>
        </label>
        <Check label="Clear old tool results first" {...bound(clears)} />
      </div>
      <TokenBar
        shares={[
          ...CHAT_SHARES.map((share) => ({ ...share, tokens: cost[share.id] })),
          { id: "free", name: "Free", tokens: limit - cost.total, tone: "free" },
        ]}
      >
        <p class="summary" role="status">
          <span data-total>
            {count(cost.total)} of {tokens(limit)}
          </span>
          <span data-many="cut" class={cut > 0 ? "warn" : undefined}>
            {count(cut)} of {count(rows.length)} messages cut
          </span>
          <span data-many="changed">{count(rows.filter(({ fate }) => fate === "changed").length)} changed</span>
          <span data-money>
            {money(dollars(cost.total, price))} instead of {money(dollars(all, price))} a request ({MODEL})
          </span>
        </p>
      </TokenBar>
      <ol
        class="min-h-0 flex-1 overflow-auto -outline-offset-2 max-two:max-h-105"
        tabIndex={0}
        aria-label="Fate of each message"
      >
        {rows.map(({ index, fate, name, text, tokens }) => (
          <li
            key={index}
            class="group grid grid-cols-[5rem_5.4rem_minmax(0,1fr)_14%_3rem] items-baseline gap-x-2.5 px-4 py-1 text-s even:bg-sunken max-two:grid-cols-[4.6rem_minmax(0,1fr)_3rem]"
            data-message={index}
            data-fate={fate}
          >
            <span class={`fate-word justify-self-start fate-${fate}`}>{FATES[fate]}</span>
            <span class="text-ink-3">{name}</span>
            <span class="truncate group-data-[fate=cut]:text-ink-3 group-data-[fate=cut]:line-through max-two:order-1 max-two:col-span-full">
              {text.slice(0, 200).split("\n")[0]}
            </span>
            <span class="share h-[7px] self-center max-two:hidden" aria-hidden="true">
              <span
                class="bg-accent group-data-[fate=changed]:bg-skipped group-data-[fate=cut]:bg-cut"
                style={{ inlineSize: `${Math.min((300 * tokens) / all, 100)}%` }}
              />
            </span>
            <span class="number">{count(tokens)}</span>
          </li>
        ))}
      </ol>
      <p class="border-t border-line px-4 py-2.5">
        <a href={`#/chats?sample=${SAMPLE}&limit=${window.value}&model=${MODEL}${clears.value ? "&results=2" : ""}`}>
          Inspect and change it
        </a>
      </p>
    </section>
  );
}
