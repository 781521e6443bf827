import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { bytesText } from "../reader/bytes.js";
import type { Item } from "../reader/worker.js";
import { Button, IconButton, SmallButton } from "../ui/button.js";
import { useFirstOf } from "../ui/first-of.js";
import { Select } from "../ui/fields.js";
import { count, plural, tokens } from "../ui/format.js";
import { MessageText } from "../ui/message.js";
import { contains, SearchField } from "../ui/search.js";
import { dropped, openDroppedAgain, openItem, TARGETS, type Dropped } from "./dropped.js";
import { forgetRecent, keyOf, loadRecent, recent } from "./recent.js";
import { currentView } from "./route.js";

/** What was dropped last: the kind of the open or only item, and the list of all items. */
export function DroppedItems() {
  const now = dropped.value;
  if (!now) return null;
  return (
    <>
      <Bar now={now} />
      {now.items.length > 1 ? <ItemList items={now.items} open={now.open?.item} /> : null}
    </>
  );
}

function Bar({ now }: { now: Dropped }) {
  const { name, items, isReading, open } = now;
  const item = open?.item ?? (items.length === 1 ? items[0] : undefined);
  const problem = now.problem ?? open?.problem ?? item?.problem;
  const isUnknown = !isReading && (problem !== undefined || (items.length < 2 && item?.view === undefined));
  const known = TARGETS.find(({ value }) => value === open?.view && open.problem === undefined);
  return (
    <div
      class={`row dropped gap-x-2.5 gap-y-1 px-6 py-1.5 text-s ${isUnknown ? "bg-cut-soft" : "bg-accent-soft"}`}
      role={isUnknown ? "alert" : "status"}
      data-guess={item?.view ?? "unknown"}
    >
      <p class="min-w-0 flex-[1_1_12rem] wrap-anywhere">
        <strong>{item?.name ?? name}</strong>
        {item ? ` ${item.view === undefined ? "is" : "looks like"} ${item.what}` : null}
        {problem !== undefined ? (
          <>
            : <MessageText text={problem} />.
          </>
        ) : item ? (
          "."
        ) : (
          progressOf(now)
        )}
      </p>
      {open?.trees ? (
        <LabeledSelect
          id="dropped-tree"
          label="Tree"
          options={open.trees.titles.map((name, place) => ({ value: String(place), name }))}
          value={String(open.trees.open)}
          onValue={(place) => void openItem(open.item, open.view, { place: Number(place) })}
        />
      ) : null}
      {item && item.problem === undefined ? (
        <LabeledSelect
          id="open-as"
          label={known ? "Opened as" : "Open as"}
          options={known ? TARGETS : [{ value: "" as const, name: "…" }, ...TARGETS]}
          value={known?.value ?? ""}
          onValue={(view) => {
            if (view !== "") void openItem(item, view);
          }}
        />
      ) : null}
      <IconButton icon="close" label="Dismiss" class="reset" onClick={() => (dropped.value = undefined)} />
    </div>
  );
}

/** Completes the name of what was dropped. */
function progressOf({ items, isReading }: Dropped): string {
  const all = plural(items.length, "item");
  if (isReading) return `: reading${items.length > 0 ? `, ${all} so far` : ""}…`;
  return items.length === 0 ? " is an empty folder." : `: ${all}. Choose one to open it.`;
}

function LabeledSelect<Value extends string>(props: Parameters<typeof Select<Value>>[0] & { label: string }) {
  const { label, ...select } = props;
  return (
    <span class="row gap-2 [&>select]:w-auto [&>select]:max-w-56">
      <label for={select.id}>{label}</label>
      <Select {...select} />
    </span>
  );
}

const LIST = "flex-none [&>*+*]:mt-2 overflow-y-auto border-line bg-surface py-2 text-s";

/** Number of items shown at first; a longer list can be searched. */
const MAX_SHOWN = 100;
const MIN_SEARCHED = 8;

/** All items, each with its kind, size, tokens and first words. */
function ItemList({ items, open }: { items: readonly Item[]; open: Item | undefined }) {
  const query = useSignal("");
  const found = items.filter(({ name, what, first }) => contains(query.value, name, what, first));
  const { shown, more } = useFirstOf(found, MAX_SHOWN);
  return (
    <section class={`${LIST} max-h-[40dvh] border-y px-6`} aria-label="Dropped items">
      {items.length > MIN_SEARCHED ? (
        <SearchField
          class="max-w-sm"
          placeholder="Search names and first words"
          label="Search the dropped items"
          query={query}
        />
      ) : null}
      <ol>
        {shown.map((item) => (
          <li key={item.id} data-item-name={item.name}>
            {/* An unknown item is shown as text. */}
            <ItemRow {...item} isOpen={open?.id === item.id} onOpen={() => openItem(item, item.view ?? "tokens")} />
          </li>
        ))}
      </ol>
      {found.length === 0 ? <p class="hint">No item matches.</p> : null}
      {more}
    </section>
  );
}

type Listed = Pick<Item, "name" | "what" | "size" | "tokens" | "first" | "problem">;

function ItemRow(props: Listed & { isOpen?: boolean; onOpen: () => Promise<void> }) {
  const { name, what, size, tokens: cost, first, problem, isOpen, onOpen } = props;
  const facts = [what, size > 0 && bytesText(size), cost !== undefined && `about ${tokens(cost)}`];
  return (
    <button
      type="button"
      class="item group enabled:hover:bg-accent-soft aria-[current]:bg-accent-soft"
      aria-current={isOpen ? "true" : undefined}
      disabled={problem !== undefined}
      onClick={() => void onOpen()}
    >
      <span class="group-enabled:text-ink group-aria-[current]:font-semibold">{name}</span>
      <span>{facts.filter(Boolean).join(" · ")}</span>
      <span>{problem ? <MessageText text={problem} sentence /> : first}</span>
    </button>
  );
}

/** The items that were opened before, those of the open view first. */
export function RecentMenu() {
  useEffect(() => void loadRecent(), []);
  const list = recent.value;
  if (list.length === 0) return null;
  const here = currentView();
  return (
    <>
      <Button class="quiet recent" popovertarget="recent">
        Recent <span class="count">{count(list.length)}</span>
      </Button>
      <section
        id="recent"
        popover="auto"
        class={`${LIST} inset-[52px_24px_auto_auto] max-h-[70dvh] w-[min(46rem,100vw-48px)] rounded-m border px-3 [box-shadow:0_8px_24px_rgb(0_0_0/20%)]`}
        aria-label="Recent items"
        onClick={({ currentTarget }) => currentTarget.hidePopover()}
      >
        <SmallButton onClick={() => void forgetRecent()}>Forget all</SmallButton>
        <ol>
          {list
            .toSorted((one, other) => Number(other.view === here) - Number(one.view === here))
            .map((item) => (
              <li key={keyOf(item)} data-recent={item.view}>
                <ItemRow
                  {...item}
                  what={`${TARGETS.find(({ value }) => value === item.view)?.name}: ${item.what}`}
                  onOpen={() => openDroppedAgain(item)}
                />
              </li>
            ))}
        </ol>
      </section>
    </>
  );
}
