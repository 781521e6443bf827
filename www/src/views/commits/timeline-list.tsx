import { useMemo } from "preact/hooks";
import { plural, tokens } from "../../ui/format.js";
import { Windowed, type ItemProps } from "../../ui/windowed.js";
import { detailsOf, timeOf } from "./details.js";
import type { OpenSession } from "./session.js";
import { choose, chosen, steps, timeline } from "./state.js";
import type { Branch, Row } from "./timeline.js";

const HEIGHT = 58;
const LANE = 16;
const MIDDLE = 20;

const KINDS: Record<string, string> = {
  compaction: "Compaction",
  snapshot: "Snapshot",
  branch: "Branch",
  agent: "Another agent",
  conversation: "Conversation",
};

/** The session from its first commit to its last. Choose a commit by click or arrow keys. */
export function TimelineList({ open }: { open: OpenSession }) {
  const rows = timeline.value;
  const at = rows.findIndex(({ record }) => record.id === chosen.value);
  const branches = useMemo(() => [...new Set(rows.map(({ branch }) => branch))], [rows]);
  const width = branches.reduce((widest, branch) => Math.max(widest, middleOf(branch)), 0) + 10;
  const most = useMemo(() => rows.reduce((most, { record }) => Math.max(most, record.token_count ?? 0), 1), [rows]);
  const looks = new Map(steps.value.map(({ id, included }) => [id, included ? LOOKS.included : LOOKS.leftOut]));
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
  return (
    <Windowed
      class="min-h-48 flex-1 border-b border-line"
      role="listbox"
      label="Commits, from the first to the last"
      count={rows.length}
      estimate={() => HEIGHT}
      inSight={at < 0 ? undefined : at}
      outer={{ onKeyDown: move, "aria-activedescendant": at < 0 ? undefined : `commit-${at}` }}
      itemProps={(row) => {
        const { record } = rows[row] as Row;
        return {
          role: "option",
          id: `commit-${row}`,
          class: "group flex cursor-pointer pe-4 hover:bg-sunken aria-selected:bg-accent-soft",
          "aria-selected": row === at,
          "aria-setsize": rows.length,
          "aria-posinset": row + 1,
          "data-commit": record.id,
          onClick: () => choose(record.id),
        } as ItemProps;
      }}
      item={(at) => {
        const row = rows[at] as Row;
        const look = looks.get(row.record.id) ?? LOOKS.other;
        return (
          <>
            <Graph row={row} at={at} branches={branches} width={width} look={look} />
            <Words open={open} row={row} most={most} />
          </>
        );
      }}
    />
  );
}

/** The dot of a commit that is part of the result, of one that is left out of it, and of any other. */
const LOOKS = {
  included: "fill-accent stroke-accent",
  leftOut: "fill-surface stroke-cut",
  other: "fill-surface stroke-line-strong",
};

const STROKES = ["stroke-line-strong", "stroke-model-0", "stroke-model-2", "stroke-model-1"];

const middleOf = ({ lane }: Branch): number => lane * LANE + 14;

/** The dot of a commit, and the branches in its row. */
function Graph(props: { row: Row; at: number; branches: readonly Branch[]; width: number; look: string }) {
  const { row, at, branches, width, look } = props;
  const passing = branches.filter(({ from, first, last }) => (from ?? first) <= at && at <= last);
  return (
    <svg class="shrink-0" width={width} height={HEIGHT} aria-hidden="true">
      {passing.map((branch, key) => (
        <path key={key} class={`fill-none stroke-[1.5] ${STROKES[branch.lane % 4]}`} d={pathOf(branch, at)} />
      ))}
      <rect
        class={`stroke-2 ${look}`}
        x={middleOf(row.branch) - 5}
        y={MIDDLE - 5}
        width={10}
        height={10}
        rx={row.record.commit_type === "delta" ? 5 : 1.5}
      />
    </svg>
  );
}

/** A branch in a row: a line down its lane, or where it branches off a bend between two lanes. */
function pathOf(branch: Branch, at: number): string {
  const { from, parent, first, last } = branch;
  const x = middleOf(branch);
  if (parent && at === from) {
    const start = middleOf(parent);
    return `M${start} ${MIDDLE}C${start} ${HEIGHT - 14} ${x} ${MIDDLE + 14} ${x} ${HEIGHT}`;
  }
  return `M${x} ${at === first && !parent ? MIDDLE : 0}V${at === last ? MIDDLE : HEIGHT}`;
}

/** The words of a commit, by their author. */
const WORDS = {
  user: "font-semibold",
  assistant: "",
  tool: "text-ink-2 italic",
  summary: "text-ink-2 italic",
};

function Words({ open, row: { record, begins }, most }: { open: OpenSession; row: Row; most: number }) {
  const { words, by, tools } = detailsOf(open, record);
  const isSummary = record.commit_type === "compaction";
  const kind = KINDS[record.commit_type] ?? KINDS[begins ?? ""];
  const cost = record.token_count ?? 0;
  const calls = Array.from(tools, ([name, times]) => (times === 1 ? name : `${name} ×${times}`));
  const facts = [timeOf(record), plural(record.message_count ?? 0, "message"), tokens(cost), calls.join(", ")];
  return (
    <span class="grid min-w-0 flex-1 content-start gap-px pt-[9px]">
      <span class="flex min-w-0 items-baseline gap-1.5 text-s">
        {kind ? <span class={`tag shrink-0 ${isSummary ? "bg-skipped-soft text-skipped" : ""}`}>{kind}</span> : null}
        <span class={`truncate ${WORDS[by]}`}>{words}</span>
      </span>
      <span class="truncate text-xs text-ink-3 group-aria-selected:text-ink-2">
        {facts.filter(Boolean).join(" · ")}
      </span>
      <span
        class="h-0.5 bg-accent/55"
        aria-hidden="true"
        style={{ inlineSize: `${Math.max((100 * cost) / most, 0.5)}%` }}
      />
    </span>
  );
}
