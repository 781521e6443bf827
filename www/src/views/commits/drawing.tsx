import { hierarchy, tree as tidyTree } from "d3-hierarchy";
import { useMemo } from "preact/hooks";
import type { CommitRecord } from "ctxweave/commits";
import { choose, chosen, plan, records } from "./state.js";

const COLUMN = 150;
const ROW = 46;
const EDGE = 24;

interface Drawn {
  at: Map<string, { x: number; y: number }>;
  width: number;
  height: number;
}

/** From the top down; the roots stand side by side. */
function layout(all: readonly CommitRecord[]): Drawn {
  const known = new Set(all.map(({ id }) => id));
  const children = new Map<string, string[]>();
  for (const { id, parent } of all) {
    const under = parent !== undefined && known.has(parent) ? parent : "";
    children.set(under, [...(children.get(under) ?? []), id]);
  }
  const root = tidyTree<string>().nodeSize([COLUMN, ROW])(hierarchy("", (id) => children.get(id)));
  const at = new Map<string, { x: number; y: number }>();
  let left = 0;
  let right = 0;
  let bottom = 0;
  root.each(({ data, x, y }) => {
    if (data === "") return;
    at.set(data, { x, y: y - ROW });
    left = Math.min(left, x);
    right = Math.max(right, x);
    bottom = Math.max(bottom, y - ROW);
  });
  for (const point of at.values()) {
    point.x += EDGE - left;
    point.y += EDGE;
  }
  return { at, width: right - left + COLUMN + EDGE, height: bottom + 2 * EDGE };
}

export const KINDS: Record<string, string> = {
  delta: "what was new",
  compaction: "a summary in place of what came before",
  snapshot: "everything up to there",
};

/** The graph of commits. Those that are part of the result are filled. */
export function Drawing() {
  const all = records.value;
  const drawn = useMemo(() => layout(all), [all]);
  const planned = plan.value;
  const steps = new Map(planned?.ok ? planned.value.steps.map((step) => [step.id, step]) : []);
  return (
    <div class="commit-scroll" tabIndex={0} role="region" aria-label="Drawing of the commits">
      <div class="commit-graph" style={{ width: `${drawn.width}px`, height: `${drawn.height}px` }}>
        <svg width={drawn.width} height={drawn.height} aria-hidden="true">
          {all.map(({ id, parent }) => {
            const to = drawn.at.get(id);
            const from = parent === undefined ? undefined : drawn.at.get(parent);
            if (!from || !to) return null;
            const middle = (from.y + to.y) / 2;
            const used = steps.get(id)?.included && steps.has(parent as string);
            return (
              <path
                key={id}
                class={used ? "used" : ""}
                d={`M${from.x} ${from.y}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`}
              />
            );
          })}
        </svg>
        <ul>
          {all.map((record) => {
            const { x, y } = drawn.at.get(record.id) ?? { x: 0, y: 0 };
            const step = steps.get(record.id);
            const state = step ? (step.included ? "included" : "left-out") : "other";
            return (
              <li key={record.id} style={{ left: `${x}px`, top: `${y}px` }}>
                <button
                  type="button"
                  class={`commit ${record.commit_type}`}
                  data-commit={record.id}
                  data-state={state}
                  aria-pressed={chosen.value === record.id}
                  title={`${record.commit_type}: ${KINDS[record.commit_type] ?? ""}`}
                  onClick={() => choose(record.id)}
                >
                  <span class="dot" />
                  <span class="name">{record.id.slice(4, 12)}</span>
                  {record.commit_type === "delta" ? null : <span class="kind">{record.commit_type}</span>}
                </button>
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}
