import { computed, signal } from "@preact/signals";
import { measureMessages } from "ctxweave/chat";
import type { FitReport } from "ctxweave/chat";
import { plural, tokens } from "../../ui/format.js";
import { roleOf, textOf } from "./parts.js";
import { chatOf, messagesOf, systemOf, toolsOf } from "./request.js";
import {
  compared,
  given,
  marks,
  modelName,
  outcome,
  pins,
  remote,
  sent,
  settings,
  type OpenChat,
  type Settings,
} from "./state.js";
import { STRATEGIES } from "./words.js";

type Diff = typeof import("diff");

/** A result, to compare with others. */
export interface Snapshot {
  id: string;
  name: string;
  /** Absent on the page for a large chat: its worker has it. */
  request?: unknown;
  tokens: number;
  /** Number of messages by fate. */
  fates: Record<"kept" | "changed" | "cut", number>;
  /** The model of its settings. */
  model: string | undefined;
  /** The document and settings of a pinned result of a large chat. */
  source?: { opened: OpenChat; settings: Settings };
}

/** Both sides, and the settings of the comparison. */
export interface Compared {
  left: string | undefined;
  right: string;
  /** Whether to compare the JSON instead of the readable texts. */
  asJson: boolean;
  onlyChanges: boolean;
}

const GIVEN = "given";
const NOW = "now";

export function change(fields: Partial<Compared>): void {
  compared.value = { ...compared.peek(), ...fields };
}

function snapshot(id: string, name: string, request: unknown, { tokens: cost, messages }: FitReport): Snapshot {
  const of = (fate: string): number => messages.filter((row) => row.fate === fate).length;
  const fates = { kept: of("kept"), changed: of("changed"), cut: of("cut") };
  return { id, name, request, tokens: cost.total, fates, model: modelName.value };
}

/** The current result. */
const current = computed(() => {
  const result = outcome.value;
  if (result.kind !== "fitted" || !sent.value) return undefined;
  return snapshot(NOW, `Now: ${setting.value}`, sent.value.request, result.report);
});

/** The choices for either side: the original request, the current result, and pinned ones. */
export const candidates = computed<readonly Snapshot[]>(() => {
  if (remote.isUsed.value) return remote.results.value?.comparison?.candidates ?? [];
  const all = given.value;
  const before = all.kind === "chat" ? snapshot(GIVEN, "As given", all.request, all.report) : undefined;
  return [before, ...pins.value, current.value].filter((one) => one?.request !== undefined) as Snapshot[];
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
  const pin = {
    ...now,
    id: `pin-${pinned}`,
    name: `${pinned}: ${now.name.slice("Now: ".length)}`,
    ...sourceOfResults(),
  };
  pins.value = [...pins.peek(), pin];
}

/** Of a large chat: the document and settings of the shown results, which may be older than those of the page. */
function sourceOfResults(): Pick<Snapshot, "source"> {
  const from = remote.isUsed.peek() ? remote.inputs.peek() : undefined;
  if (!from) return {};
  const { text, marks, session, settings } = from;
  return { source: { opened: { text, marks, ...(session ? { session } : {}) }, settings } };
}

const found = (id: string | undefined): Snapshot | undefined => candidates.value.find((one) => one.id === id);

/** The left side: the chosen result, otherwise the last pinned one, otherwise the original request. */
export const left = computed(() => found(compared.value.left) ?? found(pins.value.at(-1)?.id) ?? found(GIVEN));
export const right = computed(() => found(compared.value.right) ?? found(NOW) ?? found(GIVEN));

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
function differences(
  { diffArrays, diffWordsWithSpace }: Diff,
  [before, after]: readonly [unknown, unknown],
  asJson: boolean,
): Difference[] {
  const [a, b] = [blocksOf(before, asJson), blocksOf(after, asJson)];
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

/** A difference, or a number of equal parts. */
export type Row = { at: number; row?: Difference; same?: number };

/** The comparison of both sides. */
export interface Comparison {
  candidates: readonly Snapshot[];
  /** Undefined until the differences are computed. */
  found?: { rows: readonly Row[]; many: Record<Difference["kind"], number> } | undefined;
}

const library = signal<Diff | undefined>(undefined);

/** Loads the code that compares. */
export async function loadDiff(): Promise<void> {
  library.value ??= await import("diff");
}

const compute = computed((): Comparison["found"] => {
  const [one, other, diff] = [left.value, right.value, library.value];
  if (!diff || !one || !other) return undefined;
  const list = differences(diff, [one.request, other.request], compared.value.asJson);
  const many = { same: 0, left: 0, right: 0, changed: 0 };
  for (const { kind } of list) many[kind] += 1;
  return { rows: rowsOf(list, compared.value.onlyChanges), many };
});

/** The differences, and the current result. */
export const comparison = {
  found: computed(() => (remote.isUsed.value ? remote.results.value?.comparison?.found : compute.value)),
  now: () => current.peek(),
};

function rowsOf(list: readonly Difference[], onlyChanges: boolean): Row[] {
  const rows: Row[] = [];
  for (const [at, row] of list.entries()) {
    const last = rows.at(-1);
    if (!onlyChanges || row.kind !== "same") rows.push({ at, row });
    else if (last?.same) last.same += 1;
    else rows.push({ at, same: 1 });
  }
  return rows;
}

/** Maximum length of a shown text. */
const MAX_SHOWN_LETTERS = 1200;

export const cut = (text: string): string =>
  text.length > MAX_SHOWN_LETTERS ? `${text.slice(0, MAX_SHOWN_LETTERS)}…` : text;

/** Shortens text that is the same on both sides, around the differences. */
export const short = (text: string): string =>
  text.length > 600 ? `${text.slice(0, 280)}\n…\n${text.slice(-280)}` : text;

/** In the worker: the comparison with the parts of texts that are shown. */
export function shortenedComparison(): Comparison {
  const block = (one: Block | undefined): Block | undefined => one && { ...one, text: cut(one.text) };
  const piece = ({ text, side }: Piece): Piece => ({ side, text: side === "both" ? short(text) : cut(text) });
  const difference = ({ left: before, right: after, pieces, kind }: Difference): Difference => {
    const [one, other] = [block(before), block(after)];
    return {
      kind,
      ...(one ? { left: one } : {}),
      ...(other ? { right: other } : {}),
      ...(pieces ? { pieces: pieces.map(piece) } : {}),
    };
  };
  const all = compute.value;
  const rows = all?.rows.map((row) => (row.row ? { ...row, row: difference(row.row) } : row));
  return {
    candidates: candidates.value.map(({ request: _, source: __, ...one }) => one),
    found: all && rows && { ...all, rows },
  };
}
