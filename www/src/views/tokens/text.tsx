import { computed, signal } from "@preact/signals";
import { Fragment, type VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { firstWhere } from "../../ui/binary-search.js";
import { plural } from "../../ui/format.js";
import { Find, matchesIn } from "../../ui/search.js";
import { Windowed } from "../../ui/windowed.js";
import { sliceOf } from "../../ui/text-edits.js";
import { LARGE, partAt, partRange } from "../../ui/text-parts.js";
import { blockAt, heatOf, startOf, type Blocks } from "./layout.js";
import type { Mark } from "./marks.js";
import { asked, blocks, boxes, marks, part, remote, settings, settled, spans } from "./state.js";

/** Estimated characters per line, until a block is rendered. */
const IN_A_LINE = 70;
const LINE = 27;

/** Colours of boxes: neighbours differ. */
const COLOURS = ["bg-human/20", "bg-skipped/22", "bg-model-0/20", "bg-kept/20"] as const;
/** Colours of costs, from that of a cheap token. */
export const HEAT_COLOURS = ["", "bg-cut/10", "bg-cut/20", "bg-cut/32", "bg-cut/48"] as const;

const isHeat = computed(() => settings.value.shown === "tokens" && settings.value.colours === "heat");

/** The searched words, and the shown match. */
const query = signal("");
const at = signal(-1);
const found = computed(() => matchesIn(settled.value, query.value));

/** The shown match, or the result's marks, in text order. */
const drawn = computed<readonly Mark[]>(() => {
  const start = found.value[at.value];
  if (start === undefined || settings.value.shown !== "tokens") return marks.value;
  return [{ start, end: start + query.value.length, kind: "found" }];
});

/** The block with the shown match or chosen in the heat map; another object for each jump. */
const inSight = signal<{ block: number } | undefined>(undefined);

/** The text, box by box. Only visible blocks are rendered, so that a megabyte is as fast as a line. */
export function TokenText() {
  const text = settled.value;
  const all = blocksInPart();
  // A block that was rendered is not rendered again while the list scrolls.
  const rendered = useMemo((): VNode[] => [], [text, part.value, boxes.value, drawn.value, settings.value]);
  const { ids, shown, tokenizer } = asked.value;
  if (text === "") return remote.isBusy.value ? <p class="loading">Counting…</p> : <p class="empty">No text.</p>;
  const begin = (block: number): number => startOf(boxes.value, all[block] as number);
  return (
    <div class="flex min-h-0 flex-1">
      <Windowed
        // A new text or width invalidates all measured heights.
        key={`${text.length > LARGE ? part.value : text.length} ${all.length} ${tokenizer} ${ids} ${shown}`}
        class={`token-text flex-1 px-4 py-3 font-mono text-m/[27px] [tab-size:4] ${isHeat.value ? "by-heat" : ""}`}
        label="The text with its tokens"
        count={all.length - 1}
        estimate={(block) => Math.ceil((begin(block + 1) - begin(block)) / IN_A_LINE) * LINE}
        inSight={inSight.value?.block}
        again={inSight.value}
        item={(block) => (rendered[block] ??= <Block from={all[block] as number} to={all[block + 1] as number} />)}
      />
      {blocks.value.length > 3 ? <HeatMap /> : null}
    </div>
  );
}

/** Goes to the places of the text that contain words. */
export function SearchText() {
  useEffect(() => () => void (query.value = ""), []);
  return (
    <Find
      label="Search the text"
      query={query}
      found={found.value.length}
      at={at}
      onGo={(match) => {
        show(found.value[match] ?? 0);
        reveal(3);
      }}
    />
  );
}

/** Scrolls to the mark within its block, which is rendered in one of the next frames. */
function reveal(frames: number): void {
  requestAnimationFrame(() => {
    const mark = document.querySelector(".token-text .found");
    if (mark) mark.scrollIntoView({ block: "nearest" });
    else if (frames > 1) reveal(frames - 1);
  });
}

/** Scrolls to the block of a place. */
function show(place: number): void {
  if (settled.value.length > LARGE) part.value = partAt(place);
  inSight.value = { block: blockAt(boxes.value, blocksInPart(), place) };
}

/** The blocks of the text, or of the shown part of a large one. */
function blocksInPart(): Blocks {
  const all = blocks.value;
  const text = settled.value;
  if (text.length <= LARGE) return all;
  const [from, to] = partRange(text, part.value);
  return all.slice(blockAt(boxes.value, all, from), blockAt(boxes.value, all, Math.max(to - 1, from)) + 2);
}

/** The boxes of one block, cut into pieces at the marks. */
function Block({ from, to }: { from: number; to: number }) {
  const all = boxes.value;
  const [first, last] = [startOf(all, from), startOf(all, to)];
  const text = sliceOf(settled.value, first, last);
  const within = drawn.value.slice(
    firstWhere(drawn.value, ({ end }) => end >= first),
    firstWhere(drawn.value, ({ start }) => start >= last),
  );
  const edges = [...new Set(within.flatMap(({ start, end }) => [start, end]))].toSorted((a, b) => a - b);
  const pieces: VNode[] = [];
  for (let box = from; box < to; box++) {
    const [start, end] = [startOf(all, box), startOf(all, box + 1)];
    const ids = [...(all.ids?.subarray(all.tokens[box], all.tokens[box + 1]) ?? [])];
    const title = ids.length > 0 ? `${ids.join(" ")}: ${plural(end - start, "character")}` : undefined;
    const colour = isHeat.value ? HEAT_COLOURS[heatOf(end - start, ids.length)] : COLOURS[box % COLOURS.length];
    let at = start;
    for (const stop of [...edges.filter((edge) => edge > start && edge < end), end]) {
      const kind = within.find((mark) => mark.start <= at && at < mark.end)?.kind ?? "";
      pieces.push(
        ...within.filter((mark) => mark.start === at && mark.label).map(label),
        token(at, {
          text: text.slice(at - first, stop - first),
          look: `tok ${kind} ${!all.ids ? "plain" : kind === "cut" ? "" : colour}`,
          title,
          ids: settings.value.ids && stop === end ? ids.join(" ") : "",
        }),
      );
      at = stop;
    }
  }
  return <div class="token-block whitespace-pre-wrap wrap-anywhere">{pieces}</div>;
}

/** Signs for invisible characters; the sign for a line end comes before the line end. Not a component: there are many. */
function token(key: number, of: { text: string; look: string; title: string | undefined; ids: string }): VNode {
  const { text, look, title, ids } = of;
  if (!ids && !text.includes("\n")) return <span key={key} class={look} title={title} children={text} />;
  // A box with ids is not broken across lines: its line ends come after it.
  const ends = ids ? (/\n+$/.exec(text)?.[0] ?? "") : "";
  const lines = text.slice(0, text.length - ends.length).split("\n");
  return (
    <Fragment key={key}>
      <span class={look} title={title}>
        {lines.flatMap((line, at) => (at === 0 ? [line] : [lineEnd(at), "\n", line]))}
        {[...ends].map((_, at) => lineEnd(at))}
        {ids ? (
          <small class="block text-[0.66rem]/[1.2] text-ink-2 tabular-nums" data-ids={ids}>
            {ids}
          </small>
        ) : null}
      </span>
      {ends}
    </Fragment>
  );
}

const lineEnd = (key: number): VNode => (
  <span key={key} class="text-[0.8em] text-ink-3 select-none" aria-hidden="true">
    ↵
  </span>
);

const label = ({ start, kind, label }: Mark): VNode => (
  <span
    key={`label ${start}`}
    class={`tag bg-accent-soft whitespace-pre-wrap text-accent ${kind === "overlap" ? "my-1 block w-fit" : ""}`}
    data-mark={start}
  >
    {label}
  </span>
);

/** Number of stripes: enough to see expensive parts. */
const STRIPES = 120;

/** Tokens per character over the length of the text; a click scrolls there. */
function HeatMap() {
  const ends = spans.value?.ends;
  if (!ends) return null;
  const tokenAt = (ratio: number): number => Math.floor(ratio * ends.length);
  return (
    <div
      class="heat-map flex w-3.5 shrink-0 cursor-pointer flex-col border-l border-line"
      aria-hidden="true"
      title="Tokens per character over the length of the text: click to go there"
      onClick={(event) => {
        const { top, height } = event.currentTarget.getBoundingClientRect();
        show(ends[Math.min(tokenAt((event.clientY - top) / height), ends.length - 1)] ?? 0);
      }}
    >
      {Array.from({ length: STRIPES }, (_, at) => {
        const [from, to] = [tokenAt(at / STRIPES), tokenAt((at + 1) / STRIPES)];
        const characters = (ends[to - 1] ?? 0) - (ends[from - 1] ?? 0);
        return (
          <span
            key={at}
            class={`flex-1 ${HEAT_COLOURS[heatOf(characters, to - from)]}`}
            title={`${plural(to - from, "token")}, ${plural(characters, "character")}`}
          />
        );
      })}
    </div>
  );
}
