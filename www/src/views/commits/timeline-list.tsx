import { useMemo } from "preact/hooks";
import { plural, tokens } from "../../ui/format.js";
import { Windowed } from "../../ui/windowed.js";
import { detailsOf, timeOf } from "./details.js";
import type { OpenSession } from "./session.js";
import { choose, chosen, plan, session, timeline } from "./state.js";
import type { Edge, Row } from "./timeline.js";

const HEIGHT = 58;
const LANE = 16;
const MIDDLE = 20;

const KINDS: Record<string, string> = {
  compaction: "Compaction",
  snapshot: "Snapshot",
};

const BEGINS = {
  branch: "Branch",
  agent: "Another agent",
  conversation: "Conversation",
} as const;

/** The session from its first commit to its last. Choose a commit by click or arrow keys. */
export function TimelineList() {
  const open = session.value;
  const rows = timeline.value;
  const at = rows.findIndex(({ record }) => record.id === chosen.value);
  const lanes = useMemo(
    () => 1 + rows.reduce((most, { edges }) => Math.max(most, ...edges.map(({ lane }) => lane)), 0),
    [rows],
  );
  const most = useMemo(() => rows.reduce((sum, { record }) => Math.max(sum, record.token_count ?? 0), 1), [rows]);
  const planned = plan.value;
  const steps = new Map(planned?.ok ? planned.value.steps.map((step) => [step.id, step.included]) : []);
  const move = (event: KeyboardEvent): void => {
    const to = {
      ArrowUp: at - 1,
      ArrowDown: at + 1,
      PageUp: at - 10,
      PageDown: at + 10,
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = rows[Math.min(Math.max(to, 0), rows.length - 1)];
    if (next) choose(next.record.id);
  };
  if (!open) return null;
  return (
    <Windowed
      class="timeline"
      role="listbox"
      label="Commits, from the first to the last"
      count={rows.length}
      estimate={() => HEIGHT}
      inSight={at < 0 ? undefined : at}
      outer={{ onKeyDown: move, "aria-activedescendant": at < 0 ? undefined : `commit-${at}` }}
      itemProps={(row) => {
        const { record, begins } = rows[row] as Row;
        const included = steps.get(record.id);
        return {
          role: "option",
          id: `commit-${row}`,
          class: `commit ${record.commit_type}${begins ? " begins" : ""}`,
          "aria-selected": row === at,
          "aria-setsize": rows.length,
          "aria-posinset": row + 1,
          "data-commit": record.id,
          "data-state": included === undefined ? "other" : included ? "included" : "left-out",
          onClick: () => choose(record.id),
        } as Record<string, unknown>;
      }}
      item={(row) => <Line open={open} row={rows[row] as Row} lanes={lanes} most={most} />}
    />
  );
}

function Line({ open, row, lanes, most }: { open: OpenSession; row: Row; lanes: number; most: number }) {
  const { record, begins, lane, edges } = row;
  const { words, by, tools } = detailsOf(open, record);
  const kind = KINDS[record.commit_type] ?? (begins ? BEGINS[begins] : undefined);
  const cost = record.token_count ?? 0;
  const calls = tools.map(([name, times]) => (times === 1 ? name : `${name} ×${times}`));
  const facts = [
    ...[timeOf(record)].filter(Boolean),
    plural(record.message_count ?? 0, "message"),
    tokens(cost),
    ...(calls.length > 0 ? [calls.join(", ")] : []),
  ];
  return (
    <>
      <svg width={lanes * LANE + 8} height={HEIGHT} aria-hidden="true">
        {edges.map((edge, at) => (
          <path key={at} class={`lane-${edge.lane % 4}`} d={pathOf(edge)} />
        ))}
        <Dot kind={record.commit_type} x={middleOf(lane)} />
      </svg>
      <span class="commit-words">
        <span class={`commit-first by-${by}`}>
          {kind ? <span class="tag">{kind}</span> : null}
          <span class="truncate words">{words}</span>
        </span>
        <span class="truncate commit-facts">{facts.join(" · ")}</span>
        <span class="commit-cost" aria-hidden="true" style={{ inlineSize: `${Math.max((100 * cost) / most, 0.5)}%` }} />
      </span>
    </>
  );
}

const middleOf = (lane: number): number => lane * LANE + 14;

function Dot({ kind, x }: { kind: string; x: number }) {
  if (kind === "delta") return <circle class="dot" cx={x} cy={MIDDLE} r={5} />;
  return <rect class="dot" x={x - 5} y={MIDDLE - 5} width={10} height={10} rx={1.5} />;
}

function pathOf({ lane, part, from = lane }: Edge): string {
  const x = middleOf(lane);
  if (part === "bend") {
    const start = middleOf(from);
    return `M${start} ${MIDDLE}C${start} ${HEIGHT - 14} ${x} ${MIDDLE + 14} ${x} ${HEIGHT}`;
  }
  return `M${x} ${part === "below" ? MIDDLE : 0}V${part === "above" ? MIDDLE : HEIGHT}`;
}
