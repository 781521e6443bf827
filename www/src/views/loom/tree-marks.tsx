import type { NodeReport } from "ctxweave/loom";
import { FATES } from "../../ui/words.js";
import { bow, curve, type Layout } from "./layout.js";
import { domId } from "./tree-graph.js";
import { nodeName, snippet, type Link, type TreeIndex } from "./tree-index.js";

/** Everything about a tree that does not depend on the assembly. */
export function StaticTree({ index, layout }: { index: TreeIndex; layout: Layout }) {
  return (
    <>
      <g class="links" role="presentation">
        {index.links.map((link, i) => (
          <path key={i} class={`link ${link.kind}`} d={shapeOf(link, index, layout)} />
        ))}
      </g>
      <g class="marks" role="presentation">
        {index.tree.nodes.map((node) => (
          <StaticMark key={node.id} id={node.id} index={index} layout={layout} />
        ))}
      </g>
    </>
  );
}

function shapeOf(link: Link, index: TreeIndex, layout: Layout): string {
  const from = layout.at.get(link.from);
  const to = layout.at.get(link.to);
  if (!from || !to) return "";
  return index.parent.get(link.to) === link.from ? curve(from, to) : bow(from, to);
}

function StaticMark({ id, index, layout }: { id: string; index: TreeIndex; layout: Layout }) {
  const node = index.node.get(id);
  const at = layout.at.get(id);
  if (!node || !at) return null;
  const excluded = node.metadata?.excluded === true;
  const pruned = node.metadata?.pruned === true;
  const annotation = index.annotations.has(id);
  const notes = [
    node.authorType === "human" ? "human" : (node.authorAgentId ?? "model"),
    annotation ? "annotation" : "",
    node.editedFrom ? "edit" : "",
    excluded ? "excluded" : "",
    pruned ? "pruned" : "",
  ].filter(Boolean);
  return (
    <g
      id={domId(id)}
      data-node={id}
      role="treeitem"
      aria-level={(index.depth.get(id) ?? 0) + 1}
      aria-selected="false"
      aria-label={`${nodeName(node, id)}, ${notes.join(", ")}: ${snippet(node, 60)}`}
      transform={`translate(${at.x},${at.y})`}
      class={`mark ${authorClass(index, id)}${annotation ? " is-annotation" : ""}${excluded ? " is-excluded" : ""}${pruned ? " is-pruned" : ""}`}
    >
      <circle class="hit" r={14} />
      {node.editedFrom ? <Shape id={id} index={index} grow={3.5} class="edit-ring" /> : null}
      <Shape id={id} index={index} class="body" />
      {excluded || pruned ? (
        <path class="strike" d={pruned ? "M-4,-4L4,4M4,-4L-4,4" : "M-4.500,4.500L4.500,-4.500"} />
      ) : null}
      {node.metadata?.bookmarked ? <path class="bookmark" d="M5,-10h5v8l-2.500,-2l-2.500,2z" /> : null}
    </g>
  );
}

/** Humans are round and models square, so that nobody needs the colour. */
function Shape(props: { id: string; index: TreeIndex; grow?: number; class: string }) {
  const node = props.index.node.get(props.id);
  const base = props.index.annotations.has(props.id) ? 4.5 : 6;
  const r = base + (props.grow ?? 0);
  return node?.authorType === "human" ? (
    <circle class={props.class} r={r} />
  ) : (
    <rect class={props.class} x={-r} y={-r} width={2 * r} height={2 * r} rx={r * 0.4} />
  );
}

/** One class for humans, and one each for the first three agents; further ones share the last. */
export function authorClass(index: TreeIndex, id: string): string {
  const node = index.node.get(id);
  if (!node || node.authorType === "human") return "by-human";
  const at = Math.max(0, index.agents.indexOf(node.authorAgentId ?? ""));
  return `by-model by-model-${Math.min(at, 2)}`;
}

/** What an assembly says about the tree: the path, each node's fate, and where one is. */
export function TreeOverlay(props: {
  index: TreeIndex;
  layout: Layout;
  path: string[];
  rows: Map<string, NodeReport>;
  tip: string | undefined;
  cursor: string | undefined;
  hovered: string | undefined;
  failed: boolean;
}) {
  const { index, layout, rows } = props;
  const on = new Set(props.path);
  const used = index.links.filter((link) => on.has(link.to) && (on.has(link.from) || rows.has(link.from)));
  const shown = props.failed ? props.path : [...rows.keys()];
  const ring = (id: string | undefined, name: string, r: number) => {
    const at = id === undefined ? undefined : layout.at.get(id);
    return at ? <circle class={name} cx={at.x} cy={at.y} r={r} /> : null;
  };
  return (
    <g class="overlay" aria-hidden="true">
      {used.map((link) => (
        <path key={`${link.edge.id} ${link.from}`} class={`link used ${link.kind}`} d={shapeOf(link, index, layout)} />
      ))}
      {shown.map((id) => {
        const at = layout.at.get(id);
        const fate = rows.get(id)?.fate;
        if (!at) return null;
        return (
          <g
            key={id}
            transform={`translate(${at.x},${at.y})`}
            data-fate={fate}
            class={`fate ${authorClass(index, id)} ${fate ? `fate-${fate}` : "fate-none"}`}
          >
            {fate ? <title>{FATES[fate]}</title> : null}
            <Shape id={id} index={index} grow={2.5} class="halo" />
            <Shape id={id} index={index} class="body" />
            {fate === "cut" ? <path class="glyph" d="M-3.500,0h7" /> : null}
            {fate === "excluded" ? <path class="glyph" d="M-3,-3l6,6M3,-3l-6,6" /> : null}
            {fate === "skipped" ? <circle class="glyph" r={1.6} /> : null}
          </g>
        );
      })}
      {ring(props.hovered, "hover-ring", 13)}
      {ring(props.tip, "tip-ring", 12)}
      {ring(props.cursor, props.cursor === props.tip ? "cursor-ring at-tip" : "cursor-ring", 15.5)}
    </g>
  );
}
