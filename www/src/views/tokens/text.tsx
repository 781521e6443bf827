import { computed, signal } from "@preact/signals";
import { Fragment, type ComponentChildren, type VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { firstWhere } from "../../ui/binary-search.js";
import { plural } from "../../ui/format.js";
import { Find, matchesIn } from "../../ui/search.js";
import { Windowed } from "../../ui/windowed.js";
import { sliceOf } from "../../ui/text-edits.js";
import { LARGE, partAt, partRange } from "../../ui/text-parts.js";
import { blockAt, heatOf, type Blocks, type Boxes } from "./layout.js";
import type { Mark, Marks, Stretch } from "./marks.js";
import { blocks, boxes, marks, part, remote, settings, settled, spans, tokenizer } from "./state.js";

/** Estimated characters per line, until a block is rendered. */
const IN_A_LINE = 70;
const LINE = 27;

/** The searched words, and the shown match. */
const query = signal("");
const at = signal(-1);
const found = computed(() => matchesIn(settled.value, query.value));
const foundPlace = computed<Stretch | undefined>(() => {
  const start = found.value[at.value];
  return start === undefined ? undefined : { start, end: start + query.value.length, kind: "found" };
});

/** The block with the shown match or chosen in the heat map; another object for each jump. */
const inSight = signal<{ block: number } | undefined>(undefined);

/** The text, box by box. Only visible blocks are rendered, so that a megabyte is as fast as a line. */
export function TokenText() {
  const text = settled.value;
  const all = blocksInPart();
  // A block that was rendered is not rendered again while the list scrolls.
  const rendered = useMemo(
    () => new Map<number, VNode>(),
    [text, part.value, boxes.value, blocks.value, marks.value, settings.value, foundPlace.value],
  );
  const { colours, ids, shown } = settings.value;
  const drawn = shown === "tokens" && foundPlace.value ? { marks: [], stretches: [foundPlace.value] } : marks.value;
  if (text === "") return remote.isBusy.value ? <p class="loading">Counting…</p> : <p class="empty">No text.</p>;
  const at = (block: number): [number, number] => [all[block] as number, all[block + 1] as number];
  const ends = boxes.value.ends;
  const estimate = (block: number): number => {
    const [from, to] = at(block);
    const characters = (ends[to - 1] as number) - (from === 0 ? 0 : (ends[from - 1] as number));
    return Math.max(1, Math.ceil(characters / IN_A_LINE)) * LINE;
  };
  const block = (number: number): VNode => {
    const made = rendered.get(number) ?? <Block range={at(number)} boxes={boxes.value} marks={drawn} />;
    rendered.set(number, made);
    return made;
  };
  return (
    <div class="token-area">
      <Windowed
        // A new text or width invalidates all measured heights.
        key={`${text.length > LARGE ? part.value : text.length} ${all.length} ${tokenizer.value} ${ids} ${shown}`}
        class={`token-text by-${shown === "tokens" ? colours : "tokens"}`}
        label="The text with its tokens"
        count={all.length - 1}
        estimate={estimate}
        inSight={inSight.value?.block}
        again={inSight.value}
        item={block}
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

/** The tokens of one block. */
function Block({ range: [from, to], boxes, marks }: { range: [number, number]; boxes: Boxes; marks: Marks }) {
  const { ids: withIds } = settings.value;
  const text = settled.value;
  const drawn: ComponentChildren[] = [];
  let start = from === 0 ? 0 : (boxes.ends[from - 1] as number);
  const begin = start;
  let mark = firstWhere(marks.marks, ({ at }) => at >= begin);
  let stretch = firstWhere(marks.stretches, ({ end }) => end > begin);
  const last = boxes.ends[to - 1] as number;
  const written = sliceOf(text, begin, last);
  const isLast = last === text.length;
  for (let box = from; box < to; box++) {
    const end = boxes.ends[box] as number;
    const ids = idsOf(boxes, box);
    const cost = boxes.ids ? (boxes.tokens[box + 1] as number) - (boxes.tokens[box] as number) : 0;
    const look = boxes.ids ? `tok box-${box % 4} heat-${heatOf(end - start, cost)}` : "tok plain";
    const title = ids.length > 0 ? `${ids.join(" ")}: ${plural(end - start, "character")}` : undefined;
    let at = start;
    while (at < end) {
      while (marks.marks[mark]?.at === at)
        drawn.push(<MarkLabel key={`mark ${mark}`} mark={marks.marks[mark++] as Mark} />);
      while ((marks.stretches[stretch]?.end ?? Infinity) <= at) stretch += 1;
      const over: Stretch | undefined = marks.stretches[stretch];
      const inside = over !== undefined && over.start <= at;
      const stop = Math.min(end, marks.marks[mark]?.at ?? end, over ? (inside ? over.end : over.start) : end);
      drawn.push(
        token(at, {
          text: written.slice(at - begin, stop - begin),
          look: inside ? `${look} ${over.kind}` : look,
          title,
          ids: withIds && stop === end ? ids : undefined,
        }),
      );
      at = stop;
    }
    start = end;
  }
  if (isLast) {
    for (; mark < marks.marks.length; mark++)
      drawn.push(<MarkLabel key={`mark ${mark}`} mark={marks.marks[mark] as Mark} />);
  }
  return <div class="token-block">{drawn}</div>;
}

function idsOf({ ids, tokens }: Boxes, box: number): readonly number[] {
  return ids ? [...ids.subarray(tokens[box] as number, tokens[box + 1] as number)] : [];
}

interface Token {
  text: string;
  look: string;
  title: string | undefined;
  ids: readonly number[] | undefined;
}

/** Signs for invisible characters; the sign for a line end comes before the line end. Not a component: there are many. */
function token(key: number, { text, look, title, ids }: Token): VNode {
  if (!ids && !text.includes("\n")) return <span key={key} class={look} title={title} children={text} />;
  // A box with ids is not broken across lines: its line ends come after it.
  const ends = ids ? (/\n+$/.exec(text)?.[0] ?? "") : "";
  const lines = text.slice(0, text.length - ends.length).split("\n");
  return (
    <Fragment key={key}>
      <span class={look} title={title}>
        {lines.flatMap((line, at) => (at === 0 ? [line] : [lineEnd(at), "\n", line]))}
        {[...ends].map((_, at) => lineEnd(`end ${at}`))}
        {ids ? (
          <small class="token-ids" data-ids={ids.join(" ")}>
            {ids.join(" ")}
          </small>
        ) : null}
      </span>
      {ends}
    </Fragment>
  );
}

const lineEnd = (key: number | string): VNode => (
  <span key={key} class="line-end" aria-hidden="true">
    ↵
  </span>
);

function MarkLabel({ mark }: { mark: Mark }) {
  return (
    <span class={`mark-label ${mark.kind}`} data-mark={mark.at}>
      {mark.text}
    </span>
  );
}

/** Number of stripes: enough to see expensive parts. */
const STRIPES = 120;

/** Tokens per character over the length of the text; a click scrolls there. */
function HeatMap() {
  const tokens = spans.value;
  if (!tokens) return null;
  const { ends } = tokens;
  const stripes = Array.from({ length: STRIPES }, (_, at) => {
    const from = Math.floor((at * ends.length) / STRIPES);
    const to = Math.floor(((at + 1) * ends.length) / STRIPES);
    const characters = (ends[to - 1] ?? 0) - (ends[from - 1] ?? 0);
    return { level: heatOf(characters, to - from), characters, tokens: to - from };
  });
  return (
    <div
      class="heat-map"
      aria-hidden="true"
      title="Tokens per character over the length of the text: click to go there"
      onClick={(event) => {
        const { top, height } = event.currentTarget.getBoundingClientRect();
        const ratio = (event.clientY - top) / height;
        const place = ends[Math.min(Math.floor(ratio * ends.length), ends.length - 1)] ?? 0;
        show(place);
      }}
    >
      {stripes.map(({ level, characters, tokens }, at) => (
        <span
          key={at}
          class={`heat-${level}`}
          title={`${plural(tokens, "token")}, ${plural(characters, "character")}`}
        />
      ))}
    </div>
  );
}
