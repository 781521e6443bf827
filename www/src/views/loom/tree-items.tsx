import { useMemo } from "preact/hooks";
import { FATES } from "../../ui/words.js";
import type { TreeLayout, Placed } from "./layout.js";
import { cursor, index as indexSignal, layout as layoutSignal, rows, tip } from "./state.js";
import { nodeName, snippet, type TreeIndex } from "./tree-index.js";

/** Above this number of nodes only those around the current one have elements. */
const MAX_LISTED_NODES = 400;
const AROUND = 12;

/** An id that is valid in the document, whatever the node's id contains. */
export function domId(nodeId: string): string {
  return `node-${encodeURIComponent(nodeId)}`;
}

/** The nodes for screen readers: tree items at the positions where the nodes are painted. They paint nothing. */
export function TreeItems() {
  const index = indexSignal.value as TreeIndex;
  const layout = layoutSignal.value as TreeLayout;
  const all = useMemo(() => (layout.at.size > MAX_LISTED_NODES ? undefined : [...layout.at.values()]), [layout]);
  return (
    <>
      {(all ?? around(index, layout)).map((placed) => (
        <Item key={placed.id} placed={placed} />
      ))}
    </>
  );
}

/** The tip, and the surroundings of the cursor: ancestors, neighbours, children. */
function around(index: TreeIndex, layout: TreeLayout): Placed[] {
  const found = new Set<Placed>();
  for (const id of [tip.value, cursor.value]) {
    const at = layout.at.get(id ?? "");
    if (!at) continue;
    for (let up: Placed | undefined = at, steps = 0; up && steps <= AROUND; up = up.parent, steps++) found.add(up);
    const level = layout.levels[at.depth] ?? [];
    for (const near of level.slice(Math.max(0, at.slot - AROUND), at.slot + AROUND + 1)) found.add(near);
    for (const child of (index.children.get(at.id) ?? []).slice(0, 2 * AROUND)) {
      found.add(layout.at.get(child) as Placed);
    }
  }
  return [...found].sort((a, b) => a.y - b.y || a.x - b.x);
}

function Item({ placed }: { placed: Placed }) {
  const index = indexSignal.value as TreeIndex;
  const layout = layoutSignal.value as TreeLayout;
  const { id, x, y, depth, slot, parent } = placed;
  const node = index.node.get(id);
  const fate = rows.value.get(id)?.fate;
  const selected = id === tip.value;
  // Most items are unchanged when the cursor moves; memoized elements are not compared.
  return useMemo(() => {
    const siblings = index.children.get(parent?.id) ?? [];
    const first = layout.at.get(siblings[0] ?? id) as Placed;
    const isExcluded = node?.metadata?.excluded === true;
    const notes = [
      node?.authorType === "human" ? "human" : (node?.authorAgentId ?? "model"),
      index.annotations.has(id) && "annotation",
      node?.editedFrom && "edit",
      isExcluded && "excluded",
      node?.metadata?.pruned === true && "pruned",
      fate && !(fate === "excluded" && isExcluded) && FATES[fate].toLowerCase(),
    ].filter(Boolean);
    return (
      <div
        id={domId(id)}
        class="absolute -m-3.5 size-7"
        data-node={id}
        data-fate={fate}
        role="treeitem"
        aria-level={depth + 1}
        aria-setsize={siblings.length}
        aria-posinset={slot - first.slot + 1}
        aria-selected={selected}
        aria-label={`${nodeName(node, id)}, ${notes.join(", ")}: ${snippet(node, 60)}`}
        style={{ translate: `${x}px ${y}px` }}
      />
    );
  }, [placed, node, fate, selected]);
}
