import { useComputed, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { bound } from "../../ui/bound.js";
import { optionsOf, Select } from "../../ui/fields.js";
import { plural } from "../../ui/format.js";
import { contains, SearchField } from "../../ui/search.js";
import { Windowed } from "../../ui/windowed.js";
import { FATES } from "../../ui/words.js";
import { cursor, index, path, pickTip, rows, tip } from "./state.js";
import { fullText, nodeName, snippet } from "./tree-index.js";
import { authorClass } from "./authors.js";

/** Height of a row in pixels. */
const HEIGHT = 31;
type Which = "tips" | "path" | "all";
const WHICH = optionsOf({ tips: "Tips", path: "Current path", all: "All nodes" });

/** The tree as a searchable list, as an alternative to the drawing. */
export function NodeList() {
  const query = useSignal("");
  const which = useSignal<Which>("tips");
  const whichId = useId();
  const found = useComputed(() => {
    const tree = index.value;
    if (!tree) return [];
    const pool =
      which.value === "tips" ? tree.tips : which.value === "path" ? path.value : tree.tree.nodes.map((n) => n.id);
    if (query.value.trim() === "") return pool;
    return pool.filter((id) => {
      const node = tree.node.get(id);
      return node && contains(query.value, id, node.localId, fullText(node));
    });
  });
  const tree = index.value;
  if (!tree) return null;
  return (
    <div class="node-list">
      <div class="node-list-head">
        <SearchField label="Search the nodes" placeholder="Search text or id" query={query} />
        <label for={whichId} class="sr-only">
          Which nodes
        </label>
        <Select<Which> id={whichId} options={WHICH} {...bound(which)} />
      </div>
      <p class="hint" role="status">
        {found.value.length === 0
          ? "No node matches."
          : `${plural(found.value.length, "node")}. Choose one to assemble from it.`}
      </p>
      <Windowed
        key={which.value}
        label="Nodes"
        role="list"
        class="found-nodes"
        count={found.value.length}
        estimate={() => HEIGHT}
        overscan={12}
        itemProps={(at) => ({ role: "listitem", "aria-setsize": found.value.length, "aria-posinset": at + 1 })}
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
              <span class={`author dot ${authorClass(tree, id)}`} aria-hidden="true" />
              <code>{nodeName(node, id)}</code>
              <span class="truncate list-text">{snippet(node, 80)}</span>
              {fate ? <span class={`fate-word fate-${fate}`}>{FATES[fate]}</span> : null}
            </button>
          );
        }}
      />
    </div>
  );
}
