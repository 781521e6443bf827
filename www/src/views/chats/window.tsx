import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { bound } from "../../ui/bound.js";
import { Button, SmallButton } from "../../ui/button.js";
import { optionsOf, Segmented, Select } from "../../ui/fields.js";
import { count, plural, share as percent, tokens } from "../../ui/format.js";
import { Icon } from "../../ui/icons.js";
import { contains, SearchField } from "../../ui/search.js";
import type { Item } from "./items.js";
import { NO_MARKS, type Edit } from "./marks.js";
import type { Kind } from "./parts.js";
import { MissingPrice, PriceTable } from "./price-table.js";
import { dollars, money, priceOf } from "./prices.js";
import { items, mark, marks, modelName, setMarks, togglePin, whole, type Fitted } from "./state.js";
import { Treemap } from "./treemap.js";
import { FATES } from "./words.js";

export const KINDS: Record<Kind, string> = {
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

const ONE: Record<Kind, string> = {
  result: "Result of",
  call: "Call of",
  user: "",
  assistant: "",
  reasoning: "Reasoning of",
  system: "",
  tool: "Definition of",
  image: "Image of",
  file: "File",
  overhead: "",
};

/** Number of rows shown at first, and added each time. */
const ROWS = 40;

export function nameOf({ kind, name }: Item): string {
  const same = name === kind || !ONE[kind] ? name : `${ONE[kind]} ${name}`;
  return same.charAt(0).toUpperCase() + same.slice(1);
}

/** The contents of the window, largest first, with actions for each item. */
export function WindowPanel({ now }: { now: Fitted }) {
  const shown = useSignal<Kind | "all">("all");
  const order = useSignal<"size" | "place">("size");
  const most = useSignal(ROWS);
  const query = useSignal("");
  const chosen = useSignal<string | undefined>(undefined);
  const list = useRef<HTMLOListElement>(null);
  const all = items.value;
  const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) => all.some((item) => item.kind === kind));
  const sum = (some: readonly Item[]): number => some.reduce((total, one) => total + one.tokens, 0);
  const kind = shown.value !== "all" && kinds.includes(shown.value) ? shown.value : "all";
  const found = all.filter(
    (item) => (kind === "all" || item.kind === kind) && contains(query.value, item.name, item.text),
  );
  const sorted = order.value === "size" ? found.toSorted((a, b) => b.tokens - a.tokens) : found;
  const fates = new Map(now.rows.flatMap((row) => (row.kind === "message" ? [[row.row.index, row] as const] : [])));
  const choose = (id: string): void => {
    chosen.value = id;
    const at = sorted.findIndex((item) => item.id === id);
    if (at >= most.value) most.value = at + 1;
  };
  useEffect(() => {
    if (chosen.value === undefined) return;
    list.current?.querySelector(`[data-item="${chosen.value}"]`)?.scrollIntoView({ block: "nearest" });
  }, [chosen.value]);
  return (
    <div class="stack window">
      <Saved now={now} />
      <Segmented
        label="Window or messages"
        options={[
          { value: "all", name: `All ${count(sum(all))}` },
          ...kinds.map((value) => ({
            value,
            name: `${KINDS[value]} ${count(sum(all.filter((item) => item.kind === value)))}`,
          })),
        ]}
        value={kind}
        onValue={(value) => {
          shown.value = value;
          most.value = ROWS;
        }}
      />
      <Treemap
        items={found}
        chosen={chosen.value}
        isGone={(item) => isGone(item) || (item.message !== undefined && fates.get(item.message)?.row.fate === "cut")}
        onChoose={choose}
      />
      <div class="window-items-head">
        <p class="quiet-text">
          {plural(found.filter((item) => item.kind !== "overhead").length, "part")} of the request
        </p>
        <SearchField label="Search the parts" query={query} onQuery={() => (most.value = ROWS)} />
        <label for="items-order">Order</label>
        <Select id="items-order" options={optionsOf({ size: "Largest first", place: "As given" })} {...bound(order)} />
      </div>
      <ol class="window-items" ref={list}>
        {sorted.slice(0, most.value).map((item) => {
          const row = item.message === undefined ? undefined : fates.get(item.message);
          const fate = row?.excluded || !row || row.row.fate === "kept" ? undefined : row.row.fate;
          return (
            <ItemRow
              key={item.id}
              item={item}
              fate={fate && FATES[fate]}
              chosen={item.id === chosen.value}
              whole={whole.value ?? 1}
            />
          );
        })}
      </ol>
      {sorted.length > most.value ? (
        <Button
          label={`Show ${count(Math.min(200, sorted.length - most.value))} more of ${count(sorted.length)}`}
          onClick={() => (most.value += 200)}
        />
      ) : null}
      <PriceTable />
    </div>
  );
}

const isGone = ({ id }: Item): boolean => marks.value.edits[id] === "exclude";

/** Tokens and money saved per request by the user's edits. */
function Saved({ now }: { now: Fitted }) {
  const before = whole.value ?? 0;
  const after = now.report.tokens.total;
  const price = priceOf(modelName.value);
  const done = Object.keys(marks.value.edits).length + marks.value.pinned.length;
  const cost = (value: number): string => (price ? ` (${money(dollars(value, price.input))})` : "");
  return (
    <p class="row saved" role="status">
      <span data-before={before}>
        As given {tokens(before)}
        {cost(before)}
      </span>
      <span data-after={after}>
        now {count(after)}
        {cost(after)}
      </span>
      <strong data-saved={before - after}>
        {before === after ? "" : `saves ${tokens(before - after)}`}
        {price && before !== after ? ` and ${money(dollars(before - after, price.input))} a request` : ""}
      </strong>
      {price ? null : <MissingPrice />}
      {done > 0 ? <SmallButton onClick={() => setMarks(NO_MARKS)}>Reset {plural(done, "change")}</SmallButton> : null}
    </p>
  );
}

/** Tokens to keep of a shortened text, unless set. */
const SHORT = 200;

function ItemRow(props: { item: Item; fate: string | undefined; chosen: boolean; whole: number }) {
  const { item, fate } = props;
  const open = useSignal(false);
  const edit = marks.value.edits[item.id];
  const name = nameOf(item);
  const place = item.message === undefined ? "" : `, message ${item.message}`;
  const label = `${name}${place}`;
  const share = (100 * item.tokens) / Math.max(props.whole, 1);
  const isPinned = item.message !== undefined && marks.value.pinned.includes(item.message);
  const shows = open.value || props.chosen;
  return (
    <li
      class="window-item"
      data-item={item.id}
      data-kind={item.kind}
      style={`--kind: var(--color-kind-${item.kind})`}
      data-edit={typeof edit === "object" ? "shorten" : edit}
      data-chosen={props.chosen ? "" : undefined}
    >
      <button
        type="button"
        class="row window-item-name"
        aria-expanded={shows}
        disabled={item.text === ""}
        onClick={() => (open.value = !shows)}
      >
        <span class="swatch" aria-hidden="true" />
        <span class="window-item-title">{name}</span>
        {item.message === undefined ? null : <span class="quiet-text">{item.message}</span>}
        {edit === "exclude" ? <span class="fate-word fate-excluded">Left out</span> : null}
        {edit !== "exclude" && edit !== undefined ? <span class="fate-word fate-changed">Changed</span> : null}
        {edit === undefined && fate ? <span class={`fate-word fate-${fate.toLowerCase()}`}>{fate}</span> : null}
        <span class="truncate window-item-first">{item.text.slice(0, 120)}</span>
      </button>
      <span class="share window-item-share" aria-hidden="true">
        <span style={{ inlineSize: `${Math.min(share, 100)}%` }} />
      </span>
      <span class="window-item-tokens">
        {count(item.tokens)} <span class="quiet-text">{percent(share)}</span>
      </span>
      {item.kind === "overhead" ? (
        <span class="row window-item-actions quiet-text overhead-note">
          3 tokens and the role of each message, 3 of the request
        </span>
      ) : (
        <Actions item={item} label={label} edit={edit} isPinned={isPinned} />
      )}
      {shows && item.text !== "" ? (
        <pre class="window-item-text" tabIndex={0} aria-label={`Text of ${label}`}>
          {item.text.length > 4000 ? `${item.text.slice(0, 4000)}…` : item.text}
        </pre>
      ) : null}
    </li>
  );
}

function Actions(props: { item: Item; label: string; edit: Edit | undefined; isPinned: boolean }) {
  const { item, label, edit, isPinned } = props;
  const shortened = typeof edit === "object" ? edit.shorten : undefined;
  const canShorten = item.kind === "result" || item.kind === "user" || item.kind === "assistant";
  const kind = typeof edit === "object" ? "shorten" : edit;
  const toggle = (what: Edit): void =>
    mark(item.id, kind === (typeof what === "object" ? "shorten" : what) ? undefined : what);
  return (
    <span class="row window-item-actions" role="group" aria-label={label}>
      <SmallButton label="Exclude" aria-pressed={edit === "exclude"} onClick={() => toggle("exclude")} />
      {item.kind === "result" ? (
        <SmallButton label="Clear" aria-pressed={edit === "clear"} onClick={() => toggle("clear")} />
      ) : null}
      {canShorten ? (
        <SmallButton
          label="Shorten"
          aria-pressed={shortened !== undefined}
          disabled={shortened === undefined && item.tokens < 20}
          onClick={() => toggle({ shorten: Math.min(SHORT, Math.ceil(item.tokens / 2)) })}
        />
      ) : null}
      {shortened === undefined ? null : (
        <label class="shorten-to">
          to
          <input
            type="number"
            min={1}
            value={shortened}
            aria-label={`Tokens to keep of ${label}`}
            onChange={(event) => {
              const to = Math.round(event.currentTarget.valueAsNumber);
              if (to >= 1) mark(item.id, { shorten: to });
            }}
          />
        </label>
      )}
      {item.message === undefined ? null : (
        <SmallButton aria-pressed={isPinned} onClick={() => togglePin(item.message ?? 0)}>
          {isPinned ? <Icon name="check" /> : null}
          Pin
        </SmallButton>
      )}
    </span>
  );
}
