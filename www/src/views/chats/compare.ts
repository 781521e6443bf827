import { computed, signal } from "@preact/signals";
import { measureMessages } from "ctxweave/chat";
import type { FitReport } from "ctxweave/chat";
import { plural, tokens } from "../../ui/format.js";
import { roleOf, textOf } from "./parts.js";
import { chatOf, messagesOf, systemOf, toolsOf } from "./request.js";
import { given, marks, modelName, outcome, sent, settings } from "./state.js";
import { STRATEGIES } from "./words.js";

type Diff = typeof import("diff");

/** An earlier result, to compare with others. */
export interface Snapshot {
  id: string;
  name: string;
  request: unknown;
  report: FitReport;
  /** The model of its settings. */
  model: string | undefined;
}

/** Pinned results; kept until the page is closed. */
export const pins = signal<readonly Snapshot[]>([]);

const GIVEN = "given";
const NOW = "now";

/** The choices for either side: the original request, the current result, and pinned ones. */
export const candidates = computed<readonly Snapshot[]>(() => {
  const all = given.value;
  const result = outcome.value;
  const forModel = modelName.value;
  return [
    ...(all.kind === "chat"
      ? [{ id: GIVEN, name: "As given", request: all.request, report: all.report, model: forModel }]
      : []),
    ...pins.value,
    ...(result.kind === "fitted" && sent.value
      ? [
          {
            id: NOW,
            name: `Now: ${setting.value}`,
            request: sent.value.request,
            report: result.report,
            model: forModel,
          },
        ]
      : []),
  ];
});

/** The current settings, in a few words. */
const setting = computed(() => {
  const result = outcome.value;
  const done = Object.keys(marks.value.edits).length + marks.value.pinned.length;
  const { strategy, results, as } = settings.value;
  return [
    modelName.value,
    result.kind === "fitted" ? tokens(result.report.limit) : undefined,
    STRATEGIES[strategy],
    results === "all" ? undefined : `old results cleared except ${results}`,
    as && `as ${as}`,
    done > 0 ? plural(done, "change") : undefined,
  ]
    .filter(Boolean)
    .join(", ");
});

let pinned = 0;

/** Pins the current result. */
export function pinResult(): void {
  const now = candidates.peek().find(({ id }) => id === NOW);
  if (!now) return;
  pinned += 1;
  pins.value = [...pins.peek(), { ...now, id: `pin-${pinned}`, name: `${pinned}: ${setting.peek()}` }];
}

const chosenLeft = signal<string | undefined>(undefined);
const chosenRight = signal<string>(NOW);

const found = (id: string | undefined): Snapshot | undefined => candidates.value.find((one) => one.id === id);

/** The left side: the chosen result, otherwise the last pinned one, otherwise the original request. */
export const left = computed(() => found(chosenLeft.value) ?? pins.value.at(-1) ?? found(GIVEN));
export const right = computed(() => found(chosenRight.value) ?? found(NOW) ?? found(GIVEN));

export function choose(side: "left" | "right", id: string): void {
  if (side === "left") chosenLeft.value = id;
  else chosenRight.value = id;
}

/** Whether to compare the JSON instead of the readable texts. */
export const asJson = signal(false);

/** A part of a request that is compared as a unit. */
interface Block {
  head: string;
  text: string;
}

function blocksOf(request: unknown, json: boolean): Block[] {
  const said = (value: unknown): string => (json ? JSON.stringify(value, null, 2) : textOf(value));
  const system = systemOf(request);
  const { messages: rows } = measureMessages(chatOf(request).chat);
  return [
    ...(system === undefined ? [] : [{ head: "system", text: said(system) }]),
    ...toolsOf(request).map(({ name, value }) => ({ head: `tool ${name}`, text: JSON.stringify(value, null, 2) })),
    ...messagesOf(request).map((message, place) => {
      const isResult = rows[place]?.parts.some(({ kind }) => kind === "result" || kind === "callAndResult");
      return { head: isResult ? "tool result" : roleOf(message), text: said(message) };
    }),
  ];
}

/** A piece of a text that is on one side only, or on both. */
export interface Piece {
  text: string;
  side: "left" | "right" | "both";
}

export interface Difference {
  kind: "same" | "left" | "right" | "changed";
  left?: Block;
  right?: Block;
  /** For a changed text: its pieces. */
  pieces?: readonly Piece[];
}

/** Milliseconds after which a comparison is aborted; the texts are then shown as wholly different. */
const TIMEOUT = 400;

/** The differences between two requests, by block, and within changed blocks by word. */
export function differences({ diffArrays, diffWordsWithSpace }: Diff, before: unknown, after: unknown): Difference[] {
  const [a, b] = [blocksOf(before, asJson.value), blocksOf(after, asJson.value)];
  const same = (one: Block, other: Block): boolean => one.head === other.head && one.text === other.text;
  const changes = diffArrays(a, b, { comparator: same, timeout: TIMEOUT }) ?? [
    { value: a, removed: true, added: false },
    { value: b, removed: false, added: true },
  ];
  const list: Difference[] = [];
  let gone: Block[] = [];
  const flush = (): void => {
    for (const block of gone) list.push({ kind: "left", left: block });
    gone = [];
  };
  for (const { value, removed, added } of changes) {
    if (removed) {
      gone = [...gone, ...value];
      continue;
    }
    for (const block of value) {
      // An earlier block with the same head and a similar text is the same block, changed.
      const at = added ? gone.findIndex((other) => isLike(other, block)) : -1;
      const before = gone[at];
      if (before) {
        for (const other of gone.slice(0, at)) list.push({ kind: "left", left: other });
        gone = gone.slice(at + 1);
        list.push({ kind: "changed", left: before, right: block, pieces: pieces(before.text, block.text) });
      } else {
        flush();
        list.push(added ? { kind: "right", right: block } : { kind: "same", left: block, right: block });
      }
    }
  }
  flush();
  return list;

  function pieces(one: string, other: string): Piece[] {
    const words = diffWordsWithSpace(one, other, { timeout: TIMEOUT });
    const common = words?.reduce(
      (sum, { value, removed, added }) => sum + (removed || added ? 0 : value.trim().length),
      0,
    );
    // Texts with few common words count as different texts.
    if (!words || (common ?? 0) < 0.3 * Math.min(one.length, other.length))
      return [
        { text: one, side: "left" },
        { text: other, side: "right" },
      ];
    return words.map(({ value, removed, added }) => ({
      text: value,
      side: removed ? "left" : added ? "right" : "both",
    }));
  }
}

/** Whether one block may be a changed version of the other: both begin alike, or a result was cleared. */
function isLike(one: Block, other: Block): boolean {
  if (one.head !== other.head) return false;
  const start = 24;
  const [a, b] = [one.text.trimStart(), other.text.trimStart()];
  return a.slice(0, start) === b.slice(0, start) || one.head === "tool result" || one.head === "system";
}
