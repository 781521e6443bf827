import { batch, computed, signal } from "@preact/signals";
import { measureMessages } from "ctxweave/chat";
import type { FitReport } from "ctxweave/chat";
import { plural, tokens } from "../../ui/format.js";
import { textOf } from "./parts.js";
import { messagesOf, systemOf, toolsOf, type Request } from "./request.js";
import { compared, counted, marks, modelName, outcome, pins, remote, sent, settings, tab } from "./state.js";
import type { OpenChat, Settings } from "./state.js";
import { STRATEGIES } from "./words.js";

type Diff = typeof import("diff");

/** A result, to compare with others. */
export interface Snapshot {
  id: string;
  name: string;
  /** Absent on the page for a large chat: its worker has it. */
  request?: Request;
  tokens: number;
  /** Number of messages by fate. */
  fates: Record<"kept" | "changed" | "cut", number>;
  /** The model of its settings. */
  model: string | undefined;
  /** The document and settings of a pinned result of a large chat. */
  source?: { document: OpenChat; settings: Settings };
}

/** Both sides, and the settings of the comparison. */
export interface Compared {
  left: string | undefined;
  right: string;
  /** Whether to compare the JSON instead of the readable texts. */
  asJson: boolean;
  onlyChanges: boolean;
}

const ORIGINAL = "original";
const NOW = "now";

export function change(fields: Partial<Compared>): void {
  compared.value = { ...compared.peek(), ...fields };
}

function snapshot(id: string, name: string, request: Request, { tokens: cost, messages }: FitReport): Snapshot {
  const of = (fate: string): number => messages.filter((row) => row.fate === fate).length;
  const fates = { kept: of("kept"), changed: of("changed"), cut: of("cut") };
  return { id, name, request, tokens: cost.total, fates, model: modelName.value };
}

/** The current result, named after its settings. */
const current = computed(() => {
  if (!outcome.value.ok || !sent.value) return undefined;
  const { report } = outcome.value.value;
  const done = Object.keys(marks.value.edits).length + marks.value.pinned.length;
  const { strategy, results, as } = settings.value;
  const name = [
    modelName.value,
    tokens(report.limit),
    STRATEGIES[strategy],
    results === "all" ? undefined : `old results cleared except ${results}`,
    as && `as ${as}`,
    done > 0 ? plural(done, "change") : undefined,
  ];
  return snapshot(NOW, `Now: ${name.filter(Boolean).join(", ")}`, sent.value.request, report);
});

/** In the worker: the requests of pinned results. */
const pinnedRequests = new WeakMap<Snapshot, Request | undefined>();

/** Computes the requests of pinned results from their documents and settings. */
export function computePinned(all: readonly Snapshot[]): void {
  for (const pin of all) {
    if (!pin.source || pinnedRequests.has(pin)) continue;
    const { document, settings: asked } = pin.source;
    batch(() => ([remote.received.value, settings.value] = [document, asked]));
    pinnedRequests.set(pin, current.peek()?.request);
  }
}

/** The choices for either side: the original request, the current result, and pinned ones. */
export const candidates = remote.result<readonly Snapshot[]>(
  "candidates",
  [],
  () => {
    if (tab.value !== "compare" || !counted.value.ok) return [];
    const { request: original, report } = counted.value.value;
    const pinned = pins.value.flatMap((pin) => {
      const request = pin.request ?? pinnedRequests.get(pin);
      return request ? [{ ...pin, request }] : [];
    });
    return [snapshot(ORIGINAL, "As given", original, report), ...pinned, ...(current.value ? [current.value] : [])];
  },
  (all) => all.map(({ request: _, source: __, ...one }) => one),
);

/** Pins the current result. */
export function pinResult(): void {
  const now = candidates.peek().find(({ id }) => id === NOW);
  if (!now) return;
  const number = pins.peek().length + 1;
  const name = `${number}: ${now.name.slice("Now: ".length)}`;
  // Of a large chat: the document and settings of the shown results, which may be older than those of the page.
  const from = remote.isUsed.peek() ? remote.inputs.peek() : undefined;
  const source = from && { document: from.document, settings: from.settings };
  pins.value = [...pins.peek(), { ...now, id: `pin-${number}`, name, ...(source ? { source } : {}) }];
}

const found = (id: string | undefined): Snapshot | undefined => candidates.value.find((one) => one.id === id);

/** The left side: the chosen result, otherwise the last pinned one, otherwise the original request. */
export const left = computed(() => found(compared.value.left) ?? found(pins.value.at(-1)?.id) ?? found(ORIGINAL));
export const right = computed(() => found(compared.value.right) ?? found(NOW) ?? found(ORIGINAL));

/** A part of a request that is compared as a unit. */
interface Block {
  head: string;
  text: string;
}

function blocksOf(request: Request, json: boolean): Block[] {
  const contentOf = (value: unknown): string => (json ? JSON.stringify(value, null, 2) : textOf(value));
  const system = systemOf(request);
  const { messages: rows } = measureMessages(request);
  return [
    ...(system === undefined ? [] : [{ head: "system", text: contentOf(system) }]),
    ...toolsOf(request).map(({ name, value }) => ({ head: `tool ${name}`, text: JSON.stringify(value, null, 2) })),
    ...messagesOf(request).map((message, place) => {
      const { parts = [], role = "message" } = rows[place] ?? {};
      const isResult = parts.some(({ kind }) => kind === "result" || kind === "callAndResult");
      return { head: isResult ? "tool result" : role, text: contentOf(message) };
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
  head: string;
  pieces: readonly Piece[];
}

/** Milliseconds after which a comparison is aborted; the texts are then shown as wholly different. */
const TIMEOUT = 400;

/** The differences between two requests, by block, and within changed blocks by word. */
function differences(
  { diffArrays, diffWordsWithSpace }: Diff,
  [before, after]: readonly [Request, Request],
  asJson: boolean,
): Difference[] {
  const [a, b] = [blocksOf(before, asJson), blocksOf(after, asJson)];
  const same = (one: Block, other: Block): boolean => one.head === other.head && one.text === other.text;
  const changes = diffArrays(a, b, { comparator: same, timeout: TIMEOUT }) ?? [
    { value: a, removed: true, added: false },
    { value: b, removed: false, added: true },
  ];
  const list: Difference[] = [];
  const add = (kind: Exclude<Difference["kind"], "changed">, { head, text }: Block): void => {
    list.push({ kind, head, pieces: [{ text, side: kind === "same" ? "both" : kind }] });
  };
  let unmatched: Block[] = [];
  for (const { value, removed, added } of changes) {
    if (removed) {
      unmatched = unmatched.concat(value);
      continue;
    }
    for (const block of value) {
      // An earlier block with the same head and a similar text is the same block, changed.
      const at = added ? unmatched.findIndex((other) => isLike(other, block)) : -1;
      const before = unmatched[at];
      for (const other of unmatched.splice(0, before ? at + 1 : unmatched.length))
        if (other !== before) add("left", other);
      if (before) list.push({ kind: "changed", head: block.head, pieces: pieces(before.text, block.text) });
      else add(added ? "right" : "same", block);
    }
  }
  for (const other of unmatched) add("left", other);
  return list;

  function pieces(one: string, other: string): Piece[] {
    const words = diffWordsWithSpace(one, other, { timeout: TIMEOUT }) ?? [];
    const common = words.filter(({ removed, added }) => !removed && !added);
    const length = common.reduce((sum, { value }) => sum + value.trim().length, 0);
    // Texts with few common words count as different texts.
    if (words.length === 0 || length < 0.3 * Math.min(one.length, other.length))
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

const library = signal<Diff | undefined>(undefined);

/** Loads the code that compares. */
export async function loadDiff(): Promise<void> {
  library.value ??= await import("diff");
}

/** The comparison of both sides. */
interface Comparison {
  rows: readonly Row[];
  many: Record<Difference["kind"], number>;
}

/** The differences; undefined until they are computed. */
export const comparison = remote.result<Comparison | undefined>("comparison", undefined, () => {
  const [one, other, diff] = [left.value?.request, right.value?.request, library.value];
  if (!diff || !one || !other) return undefined;
  const list = differences(diff, [one, other], compared.value.asJson);
  const many = { same: 0, left: 0, right: 0, changed: 0 };
  for (const { kind } of list) many[kind] += 1;
  return { rows: rowsOf(list, compared.value.onlyChanges), many };
});

function rowsOf(list: readonly Difference[], onlyChanges: boolean): Row[] {
  const rows: Row[] = [];
  for (const [at, row] of list.entries()) {
    const last = rows.at(-1);
    if (!onlyChanges || row.kind !== "same") rows.push({ at, row: shortened(row) });
    else if (last?.same) last.same += 1;
    else rows.push({ at, same: 1 });
  }
  return rows;
}

/** Maximum length of a shown text. */
const MAX_SHOWN_LETTERS = 1200;

const cut = (text: string): string => (text.length > MAX_SHOWN_LETTERS ? `${text.slice(0, MAX_SHOWN_LETTERS)}…` : text);

/** Shortens text that is the same on both sides, around the differences. */
const short = (text: string): string => (text.length > 600 ? `${text.slice(0, 280)}\n…\n${text.slice(-280)}` : text);

/** A difference with the parts of its texts that are shown: long texts would fill the page. */
const shortened = ({ kind, head, pieces }: Difference): Difference => {
  const shorten = (side: Piece["side"]) => (kind === "changed" && side === "both" ? short : cut);
  return { kind, head, pieces: pieces.map(({ text, side }) => ({ side, text: shorten(side)(text) })) };
};
