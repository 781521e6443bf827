import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { bytesText } from "../reader/bytes.js";
import type { Target } from "../reader/kinds.js";
import type { Item } from "../reader/worker.js";
import { IconButton, SmallButton } from "../ui/button.js";
import { useFirstOf } from "../ui/first-of.js";
import { Select } from "../ui/fields.js";
import { count, plural, tokens } from "../ui/format.js";
import { MessageText } from "../ui/message.js";
import { contains, SearchField } from "../ui/search.js";
import { dropped, openDroppedAgain, openAs, openFolder, openItem, openTree, TARGETS } from "./dropped.js";
import { forgetRecent, loadRecent, recent } from "./recent.js";
import { currentView } from "./route.js";

type Dropped = NonNullable<typeof dropped.value>;

/** What was dropped last: the kind of a single item, or the list of all items. */
export function DroppedItems() {
  const now = dropped.value;
  if (!now) return null;
  const isList = now.items.length > 1 || (now.folder !== undefined && now.items.length > 0);
  return (
    <>
      <Bar now={now} isList={isList} />
      {isList ? <ItemList now={now} /> : null}
    </>
  );
}

function Bar({ now, isList }: { now: Dropped; isList: boolean }) {
  const { open, items, isReading } = now;
  const guess = open && !open.item ? now.folder : (open?.item ?? (isList ? undefined : items[0]));
  const isUnknown =
    !isReading && ((now.problem ?? open?.problem) !== undefined || (!isList && guess?.view === undefined));
  const known = TARGETS.find(({ value }) => value === open?.view && open.problem === undefined);
  const canOpen = open !== undefined || (!isList && items[0]?.problem === undefined && items.length > 0);
  return (
    <div class="row dropped" role={isUnknown ? "alert" : "status"} data-guess={guess?.view ?? "unknown"}>
      <p>
        <Said now={now} isList={isList} guess={guess} />
      </p>
      {open?.trees ? (
        <span class="open-as">
          <label for="dropped-tree">Tree</label>
          <Select
            id="dropped-tree"
            options={open.trees.titles.map((name, place) => ({ value: String(place), name }))}
            value={String(open.trees.open)}
            onValue={(place) => void openTree(Number(place))}
          />
        </span>
      ) : null}
      {canOpen ? (
        <span class="open-as">
          <label for="open-as">{known ? "Opened as" : "Open as"}</label>
          <Select<Target | "">
            id="open-as"
            options={known ? TARGETS : [{ value: "", name: "…" }, ...TARGETS]}
            value={known?.value ?? ""}
            onValue={(value) => {
              if (value !== "") void openAs(value);
            }}
          />
        </span>
      ) : null}
      <IconButton icon="close" label="Dismiss" class="reset" onClick={() => (dropped.value = undefined)} />
    </div>
  );
}

/** The items in words. */
function Said(props: { now: Dropped; isList: boolean; guess: { what: string; view: Target | undefined } | undefined }) {
  const { now, isList, guess } = props;
  const { open, items, isReading } = now;
  const problem = open?.problem ?? (isList ? undefined : items[0]?.problem);
  if (guess) {
    return (
      <>
        <strong>{open?.item?.name ?? now.name}</strong> {guess.view === undefined ? "is" : "looks like"} {guess.what}
        {problem === undefined ? "" : ": "}
        {problem === undefined ? null : <MessageText text={problem} />}.
      </>
    );
  }
  if (now.problem !== undefined) {
    return (
      <>
        <strong>{now.name}</strong>: <MessageText text={now.problem} />.
      </>
    );
  }
  if (!isReading && items.length === 0) return <>{now.name} is an empty folder.</>;
  return (
    <>
      <strong>{now.name}</strong>
      {isReading
        ? `: reading${items.length > 0 ? `, ${plural(items.length, "item")} so far` : ""}…`
        : `: ${plural(items.length, "item")}. Choose one to open it.`}
    </>
  );
}

/** Number of items shown at first; a longer list can be searched. */
const ITEMS = 100;
const SEARCHED = 8;

/** All items, each with its kind, size, tokens and first words. */
function ItemList({ now }: { now: Dropped }) {
  const query = useSignal("");
  const found = useComputed(() => {
    return (dropped.value?.items ?? []).filter(({ name, what, first }) => contains(query.value, name, what, first));
  });
  const { shown, more } = useFirstOf(found.value, ITEMS);
  const { folder, open } = now;
  return (
    <section class="item-list" aria-label="Dropped items">
      {now.items.length > SEARCHED ? (
        <SearchField
          class="items-search"
          placeholder="Search names and first words"
          label="Search the dropped items"
          query={query}
        />
      ) : null}
      <ol>
        {folder?.view ? (
          <li>
            <button
              type="button"
              class="item"
              aria-current={open && !open.item ? "true" : undefined}
              onClick={() => folder.view && openFolder(folder.view)}
            >
              <span class="item-name">{now.name}</span>
              <span class="item-what">{folder.what}</span>
            </button>
          </li>
        ) : null}
        {shown.map((item) => (
          <li key={item.id} data-item-name={item.name}>
            <ItemRow item={item} isOpen={open?.item?.id === item.id} onOpen={() => void openItem(item, viewOf(item))} />
          </li>
        ))}
      </ol>
      {found.value.length === 0 ? <p class="hint">No item matches.</p> : null}
      {more}
    </section>
  );
}

/** The view for an item; an unknown one is shown as text. */
const viewOf = ({ view }: Item): Target => view ?? "tokens";

type Listed = Pick<Item, "name" | "what" | "size" | "tokens" | "first" | "problem">;

function ItemRow({ item, isOpen, onOpen }: { item: Listed; isOpen: boolean; onOpen: () => void }) {
  const facts = [bytesText(item.size), ...(item.tokens === undefined ? [] : [`about ${tokens(item.tokens)}`])];
  const words = (
    <>
      <span class="item-name">{item.name}</span>
      <span class="item-what">
        {item.what} · {facts.join(" · ")}
      </span>
      <span class="item-first">{item.problem ? <MessageText text={item.problem} sentence /> : item.first}</span>
    </>
  );
  if (item.problem) return <div class="item refused">{words}</div>;
  return (
    <button type="button" class="item" aria-current={isOpen ? "true" : undefined} onClick={onOpen}>
      {words}
    </button>
  );
}

/** The items that were opened before, those of the open view first. */
export function RecentMenu() {
  const list = recent.value;
  useEffect(() => void loadRecent(), []);
  if (list.length === 0) return null;
  const here = currentView();
  const sorted = list.toSorted((one, other) => Number(other.view === here) - Number(one.view === here));
  return (
    <details
      class="recent"
      onToggle={(event) => {
        const menu = event.currentTarget;
        if (!menu.open) return;
        // Closed by a click elsewhere and by Escape, like a menu.
        const off = new AbortController();
        const close = (): void => {
          menu.open = false;
          off.abort();
        };
        addEventListener("click", ({ target }) => !menu.contains(target as Node) && close(), { signal: off.signal });
        addEventListener("keydown", ({ key }) => key === "Escape" && close(), { signal: off.signal });
      }}
    >
      <summary>
        Recent <span class="count">{count(list.length)}</span>
      </summary>
      <section class="item-list" aria-label="Recent items">
        <SmallButton onClick={() => void forgetRecent()}>Forget all</SmallButton>
        <ol>
          {sorted.map((item) => (
            <li key={`${item.view} ${item.size} ${item.name}`} data-recent={item.view}>
              <ItemRow
                item={{ ...item, what: `${TARGETS.find(({ value }) => value === item.view)?.name}: ${item.what}` }}
                isOpen={false}
                onOpen={() => {
                  document.querySelector<HTMLDetailsElement>(".recent")?.removeAttribute("open");
                  void openDroppedAgain(item);
                }}
              />
            </li>
          ))}
        </ol>
      </section>
    </details>
  );
}
