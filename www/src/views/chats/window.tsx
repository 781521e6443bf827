import { useSignal } from "@preact/signals";
import type { FitFate } from "ctxweave/chat";
import { useEffect, useRef } from "preact/hooks";
import { bound } from "../../ui/bound.js";
import { SmallButton } from "../../ui/button.js";
import { optionsOf, Segmented, Select } from "../../ui/fields.js";
import { useFirstOf } from "../../ui/first-of.js";
import { count, plural, share as percent, tokens } from "../../ui/format.js";
import { contains, SearchField } from "../../ui/search.js";
import type { Item } from "./items.js";
import { NO_MARKS, type Edit } from "./marks.js";
import type { Kind } from "./parts.js";
import { MissingPrice, PriceTable } from "./price-table.js";
import { dollars, money, priceOf } from "./prices.js";
import { items, mark, marks, modelName, rows, setMarks, togglePin, whole, type Fitted } from "./state.js";
import { Treemap } from "./treemap.js";
import { excerpt, FATES } from "./words.js";

const KINDS: Record<Kind | "all", string> = {
  all: "All",
  result: "Tool results",
  call: "Tool calls",
  user: "User",
  assistant: "Assistant",
  reasoning: "Reasoning",
  system: "System",
  tool: "Tool definitions",
  image: "Images",
  file: "Files",
  overhead: "Overhead",
};

/** The beginning of an item's name. */
const PREFIXES: Partial<Record<Kind, string>> = {
  result: "Result of",
  call: "Call of",
  reasoning: "Reasoning of",
  tool: "Definition of",
  image: "Image of",
  file: "File",
};

/** Number of rows that are shown at first. */
const FIRST_ROWS = 40;
/** Number of rows that are added each time. */
const MORE_ROWS = 200;

function titleOf({ kind, name }: Item): string {
  const prefix = PREFIXES[kind];
  const title = prefix && name !== kind ? `${prefix} ${name}` : name;
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** The contents of the window, largest first, with actions for each item. */
export function WindowPanel({ now }: { now: Fitted }) {
  const shown = useSignal<Kind | "all">("all");
  const order = useSignal<"size" | "place">("size");
  const query = useSignal("");
  const chosen = useSignal<string | undefined>(undefined);
  const ofKind = (kind: Kind | "all"): Item[] => items.value.filter((item) => kind === "all" || item.kind === kind);
  const kinds = optionsOf(KINDS).flatMap(({ value, name }) => {
    const some = ofKind(value);
    const sum = some.reduce((total, item) => total + item.tokens, 0);
    return value === "all" || some.length > 0 ? { value, name: `${name} ${count(sum)}` } : [];
  });
  const kind = kinds.some(({ value }) => value === shown.value) ? shown.value : "all";
  const found = ofKind(kind).filter(({ name, text }) => contains(query.value, name, text));
  const sorted = order.value === "size" ? found.toSorted((a, b) => b.tokens - a.tokens) : found;
  const { shown: first, more, showUpTo } = useFirstOf(sorted, FIRST_ROWS, MORE_ROWS);
  const fates = new Map(rows.value.flatMap((row) => (row.kind === "message" ? [[row.row.index, row.row.fate]] : [])));
  const fateOf = ({ message = -1 }: Partial<Item>) => fates.get(message);
  return (
    <div class="stack window">
      <Saved now={now} />
      <Segmented
        class="flex-wrap justify-self-start [&_label]:flex-initial"
        label="Window or messages"
        options={kinds}
        value={kind}
        onValue={(value) => (shown.value = value)}
      />
      <Treemap
        items={found}
        chosen={chosen.value}
        isRemoved={(item) => marks.value.edits[item.id ?? ""] === "exclude" || fateOf(item) === "cut"}
        onChoose={(id) => {
          chosen.value = id;
          showUpTo(sorted.findIndex((item) => item.id === id));
        }}
      />
      <div class="row gap-2 text-s [&_select]:w-auto">
        <p class="quiet-text grow">
          {plural(found.filter((item) => item.kind !== "overhead").length, "part")} of the request
        </p>
        <SearchField class="w-40" label="Search the parts" query={query} />
        <label for="items-order">Order</label>
        <Select id="items-order" options={optionsOf({ size: "Largest first", place: "As given" })} {...bound(order)} />
      </div>
      <ol class="grid grid-cols-[minmax(10rem,1fr)_minmax(40px,16%)_auto_auto] max-three:grid-cols-[minmax(0,1fr)_auto]">
        {first.map((item) => (
          <ItemRow key={item.id} item={item} fate={fateOf(item)} isChosen={item.id === chosen.value} />
        ))}
      </ol>
      {more}
      <PriceTable />
    </div>
  );
}

/** Tokens and money saved per request by the user's edits. */
function Saved({ now }: { now: Fitted }) {
  const before = whole.value ?? 0;
  const after = now.report.tokens.total;
  const saved = before - after;
  const price = priceOf(modelName.value);
  const done = Object.keys(marks.value.edits).length + marks.value.pinned.length;
  const cost = (value: number): string => (price ? ` (${money(dollars(value, price.input))})` : "");
  return (
    <p class="summary saved items-baseline text-s" role="status">
      <span data-before={before}>
        As given {tokens(before)}
        {cost(before)}
      </span>
      <span data-after={after}>
        now {count(after)}
        {cost(after)}
      </span>
      <strong data-saved={saved}>{saved === 0 ? "" : `saves ${tokens(saved)}${cost(saved)} a request`}</strong>
      {price ? null : <MissingPrice />}
      {done > 0 ? <SmallButton onClick={() => setMarks(NO_MARKS)}>Reset {plural(done, "change")}</SmallButton> : null}
    </p>
  );
}

/** The fate of an item's message, or what the user did to the item. */
const WORDS = { ...FATES, excluded: "Left out" };

function ItemRow({ item, fate, isChosen }: { item: Item; fate: FitFate | undefined; isChosen: boolean }) {
  const { id, kind, text, message } = item;
  const open = useSignal(false);
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  const edit = marks.value.edits[id];
  const word = edit === "exclude" ? "excluded" : edit ? "changed" : fate;
  const title = titleOf(item);
  const label = message === undefined ? title : `${title}, message ${message}`;
  const share = (100 * item.tokens) / Math.max(whole.value ?? 1, 1);
  const shows = open.value || isChosen;
  return (
    <li
      ref={row}
      class="col-span-full grid grid-cols-subgrid items-center gap-x-3 border-t border-line p-1.5 data-chosen:bg-accent-soft"
      data-item={id}
      data-kind={kind}
      style={`--kind: var(--color-kind-${kind})`}
      data-edit={kindOf(edit)}
      data-chosen={isChosen ? "" : undefined}
    >
      <button
        type="button"
        class="row window-item-name min-w-0 items-baseline gap-x-2 text-start text-s disabled:text-inherit"
        aria-expanded={shows}
        disabled={text === ""}
        onClick={() => (open.value = !shows)}
      >
        <span class="swatch shrink-0 bg-(--kind)" aria-hidden="true" />
        <span class={edit === "exclude" ? "text-ink-3 line-through" : "wrap-anywhere"}>{title}</span>
        {message === undefined ? null : <span class="quiet-text">{message}</span>}
        {word && word !== "kept" ? <span class={`fate-word fate-${word}`}>{WORDS[word]}</span> : null}
        <span class="quiet-text basis-24 grow truncate text-xs">{text.slice(0, 120)}</span>
      </button>
      <span class="share h-2 bg-sunken max-three:hidden" aria-hidden="true">
        <span class="min-w-px bg-(--kind)" style={{ inlineSize: `${Math.min(share, 100)}%` }} />
      </span>
      <span class="number window-item-tokens whitespace-nowrap text-s">
        {count(item.tokens)} <span class="quiet-text inline-block min-w-13 text-xs">{percent(share)}</span>
      </span>
      {kind === "overhead" ? (
        <span class="quiet-text text-s max-three:col-span-full">
          3 tokens and the role of each message, 3 of the request
        </span>
      ) : (
        <Actions item={item} label={label} edit={edit} />
      )}
      {shows && text !== "" ? (
        <pre class="window-item-text col-span-full max-h-55 p-2 text-xs" tabIndex={0} aria-label={`Text of ${label}`}>
          {excerpt(text, 4000)}
        </pre>
      ) : null}
    </li>
  );
}

/** Tokens to keep of a shortened text, unless set. */
const SHORT = 200;

const kindOf = (edit: Edit | undefined): string | undefined => (typeof edit === "object" ? "shorten" : edit);

const TOGGLE =
  "small aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent aria-pressed:font-semibold";

function Actions({ item, label, edit }: { item: Item; label: string; edit: Edit | undefined }) {
  const { id, kind, message } = item;
  const shortened = typeof edit === "object" ? edit.shorten : undefined;
  const isPinned = message !== undefined && marks.value.pinned.includes(message);
  const toggle = (name: string, what: Edit, isPossible = true) => {
    const isOn = kindOf(edit) === kindOf(what);
    return (
      <SmallButton
        class={TOGGLE}
        label={name}
        aria-pressed={isOn}
        disabled={!isOn && !isPossible}
        onClick={() => mark(id, isOn ? undefined : what)}
      />
    );
  };
  return (
    <span class="row gap-1 max-three:col-span-full" role="group" aria-label={label}>
      {toggle("Exclude", "exclude")}
      {kind === "result" ? toggle("Clear", "clear") : null}
      {kind === "result" || kind === "user" || kind === "assistant"
        ? toggle("Shorten", { shorten: Math.min(SHORT, Math.ceil(item.tokens / 2)) }, item.tokens >= 20)
        : null}
      {shortened === undefined ? null : (
        <label class="row gap-1 text-xs text-ink-2">
          to
          <input
            type="number"
            class="w-18 px-1 py-px text-xs"
            min={1}
            value={shortened}
            aria-label={`Tokens to keep of ${label}`}
            onChange={(event) => {
              const to = Math.round(event.currentTarget.valueAsNumber);
              if (to >= 1) mark(id, { shorten: to });
            }}
          />
        </label>
      )}
      {message === undefined ? null : (
        <SmallButton class={TOGGLE} label="Pin" aria-pressed={isPinned} onClick={() => togglePin(message)} />
      )}
    </span>
  );
}
