import type { NodeReport } from "ctxweave/loom";
import { useMemo } from "preact/hooks";
import { FATES } from "../../ui/words.js";
import type { TreeLayout, Placed } from "./layout.js";
import { nodeName, snippet, type TreeIndex } from "./tree-index.js";

/** Above this number of nodes only those around the current one have elements. */
const MAX_LISTED_NODES = 400;
const AROUND = 12;

/** An id that is valid in the document, whatever the node's id contains. */
export function domId(nodeId: string): string {
  return `node-${encodeURIComponent(nodeId)}`;
}

/** The nodes for screen readers: tree items at the positions where the nodes are painted. They paint nothing. */
export function TreeItems(props: {
  index: TreeIndex;
  layout: TreeLayout;
  rows: Map<string, NodeReport>;
  tip: string | undefined;
  cursor: string | undefined;
}) {
  const { index, layout, rows, tip, cursor } = props;
  const all = useMemo(() => (layout.at.size > MAX_LISTED_NODES ? undefined : [...layout.at.values()]), [layout]);
  const shown = all ?? around(index, layout, tip, cursor);
  return (
    <>
      {shown.map((placed) => (
        <Item
          key={placed.id}
          index={index}
          layout={layout}
          placed={placed}
          fate={rows.get(placed.id)?.fate}
          selected={placed.id === tip}
        />
      ))}
    </>
  );
}

/** The tip, and the surroundings of the cursor: ancestors, neighbours, children. */
function around(index: TreeIndex, layout: TreeLayout, tip: string | undefined, cursor: string | undefined): Placed[] {
  const found = new Set<Placed>();
  for (const id of [tip, cursor]) {
    const at = id === undefined ? undefined : layout.at.get(id);
    if (!at) continue;
    for (let up: Placed | undefined = at, steps = 0; up && steps <= AROUND; up = up.parent, steps++) found.add(up);
    const level = layout.levels[index.depth.get(at.id) ?? 0] ?? [];
    for (const near of level.slice(Math.max(0, at.slot - AROUND), at.slot + AROUND + 1)) found.add(near);
    for (const child of (index.children.get(at.id) ?? []).slice(0, 2 * AROUND)) {
      const placed = layout.at.get(child);
      if (placed) found.add(placed);
    }
  }
  return [...found].sort((a, b) => a.y - b.y || a.x - b.x);
}

function Item(props: {
  index: TreeIndex;
  layout: TreeLayout;
  placed: Placed;
  fate: NodeReport["fate"] | undefined;
  selected: boolean;
}) {
  const { index, layout, placed, fate, selected } = props;
  const { id, x, y, parent } = placed;
  const node = index.node.get(id);
  // Most items are unchanged when the cursor moves; memoized elements are not compared.
  return useMemo(() => {
    const siblings = parent ? (index.children.get(parent.id) ?? []) : index.roots;
    const first = layout.at.get(siblings[0] ?? id);
    const notes = [
      node?.authorType === "human" ? "human" : (node?.authorAgentId ?? "model"),
      index.annotations.has(id) ? "annotation" : "",
      node?.editedFrom ? "edit" : "",
      node?.metadata?.excluded === true ? "excluded" : "",
      node?.metadata?.pruned === true ? "pruned" : "",
      fate && !(fate === "excluded" && node?.metadata?.excluded === true) ? FATES[fate].toLowerCase() : "",
    ].filter(Boolean);
    return (
      <div
        id={domId(id)}
        data-node={id}
        data-fate={fate}
        role="treeitem"
        aria-level={(index.depth.get(id) ?? 0) + 1}
        aria-setsize={siblings.length}
        aria-posinset={placed.slot - (first?.slot ?? placed.slot) + 1}
        aria-selected={selected}
        aria-label={`${nodeName(node, id)}, ${notes.join(", ")}: ${snippet(node, 60)}`}
        style={{ translate: `${x}px ${y}px` }}
      />
    );
  }, [index.links, layout, placed, node, fate, selected]);
}
