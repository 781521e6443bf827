import { useComputed, useSignal } from "@preact/signals";
import { bound } from "../../ui/bound.js";
import { optionsOf, Select } from "../../ui/fields.js";
import { plural } from "../../ui/format.js";
import { contains, SearchField } from "../../ui/search.js";
import { Windowed } from "../../ui/windowed.js";
import { FATES } from "../../ui/words.js";
import { authorClass } from "./authors.js";
import { cursor, index, path, pickTip, rows, tip, tips } from "./state.js";
import { fullText, nodeName, snippet } from "./tree-index.js";

/** Height of a row in pixels. */
const HEIGHT = 31;
type Which = "tips" | "path" | "all";
const WHICH = optionsOf({ tips: "Tips", path: "Current path", all: "All nodes" });

/** The tree as a searchable list, as an alternative to the drawing. */
export function NodeList() {
  const query = useSignal("");
  const which = useSignal<Which>("tips");
  const found = useComputed(() => {
    const nodes = index.value?.node ?? new Map();
    const pool = { tips: () => tips.value, path: () => path.value, all: () => [...nodes.keys()] }[which.value]();
    if (query.value.trim() === "") return pool;
    return pool.filter((id) => {
      const node = nodes.get(id);
      return node && contains(query.value, id, node.localId, fullText(node));
    });
  });
  const tree = index.value;
  if (!tree) return null;
  const { length } = found.value;
  return (
    <div class="flex min-w-0 flex-1 flex-col gap-1.5 pt-2.5">
      <div class="grid grid-cols-[1fr_auto] gap-1.5 px-4">
        <SearchField label="Search the nodes" placeholder="Search text or id" query={query} />
        <label for="which-nodes" class="sr-only">
          Which nodes
        </label>
        <Select<Which> id="which-nodes" options={WHICH} {...bound(which)} />
      </div>
      <p class="hint px-4" role="status">
        {length === 0 ? "No node matches." : `${plural(length, "node")}. Choose one to assemble from it.`}
      </p>
      <Windowed
        key={which.value}
        label="Nodes"
        role="list"
        class="found-nodes flex-1 border-t border-line"
        count={length}
        estimate={() => HEIGHT}
        overscan={12}
        itemProps={(at) => ({ role: "listitem", "aria-setsize": length, "aria-posinset": at + 1 })}
        item={(at) => {
          const id = found.value[at] ?? "";
          const node = tree.node.get(id);
          const fate = rows.value.get(id)?.fate;
          return (
            <button
              type="button"
              data-pick={id}
              aria-current={id === tip.value ? "true" : undefined}
              onClick={() => pickTip(id)}
              onFocus={() => (cursor.value = id)}
            >
              <span class={`author dot m-0 ${authorClass(tree, id)}`} aria-hidden="true" />
              <code class="text-xs">{nodeName(node, id)}</code>
              <span class="truncate text-ink-2">{snippet(node, 80)}</span>
              {fate ? <span class={`fate-word fate-${fate}`}>{FATES[fate]}</span> : null}
            </button>
          );
        }}
      />
    </div>
  );
}
