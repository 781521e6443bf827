import { computed } from "@preact/signals";
import { Chat, countChatTokens } from "ctxweave/chat";
import type { FitReport } from "ctxweave/chat";
import type { Read } from "./parts.js";
import { chatOf, messagesOf, systemOf, toolList } from "./request.js";
import { counting, given, marked, marks, options, outcome, remote } from "./state.js";

/** Providers cache no shorter prefix; some models require two or four times as much. */
export const SHORTEST = 1024;

/** Maximum number of turns; of longer conversations the last ones are shown. */
const MAX_TURNS = 400;

/** A request of the conversation: each answer of the model was one. */
export interface Turn {
  /** Number of messages before the answer. */
  length: number;
  /** Tokens of the request. */
  total: number;
  /** Tokens at its beginning shared with the previous request, so that they are cached. */
  cached: number;
  /** Whether the cut moved, so that everything after it differs. */
  moved: boolean;
}

const isModels = ({ role }: Read): boolean => role === "assistant";

/** The length of each request: before each answer, and at the end unless that is an answer. */
function ends(messages: readonly Read[]): number[] {
  const found: number[] = [];
  for (const [place, read] of messages.entries()) {
    const before = messages[place - 1];
    if (place > 0 && isModels(read) && before && !isModels(before)) found.push(place);
  }
  const last = messages.at(-1);
  if (last && !isModels(last)) found.push(messages.length);
  return found;
}

/** The last turns and the number of earlier ones, or why they cannot be computed. */
export type Turns = { list: readonly Turn[]; skipped: number } | { problem: string };

/** The conversation turn by turn, each request fitted with the current settings and compared with the previous one. */
export const turns = computed((): Turns => {
  if (remote.isUsed.value) return remote.results.value?.turns ?? { list: [], skipped: 0 };
  const all = given.value;
  if (all.kind === "error" || !marked.value) return { list: [], skipped: 0 };
  const { request, places: left } = marked.value;
  const messages = messagesOf(request);
  const places = ends(left.flatMap((place) => all.read[place] ?? []));
  const { others } = chatOf(request);
  const system = systemOf(request);
  const tools = toolList(request);
  const format = all.report.format;
  const pinned = new Set(marks.value.pinned.map((place) => left.indexOf(place)));
  try {
    const chat = new Chat({
      ...options.value,
      format,
      ...(system === undefined ? {} : { system }),
      ...(tools.length > 0 ? { tools } : {}),
      ...others,
      ...(pinned.size > 0 ? { pinned: (_: unknown, place: number) => pinned.has(place) } : {}),
    });
    try {
      return follow(chat, messages, places, (message) => countChatTokens([message], { ...counting.value, format }));
    } finally {
      chat.free();
    }
  } catch (error) {
    return { problem: (error as Error).message };
  }
});

function follow(
  chat: Chat,
  messages: readonly unknown[],
  places: readonly number[],
  count: (message: unknown) => number,
): { list: readonly Turn[]; skipped: number } {
  const list: Turn[] = [];
  const skipped = Math.max(places.length - MAX_TURNS, 0);
  let said = 0;
  let before: readonly unknown[] | undefined;
  for (const length of places.slice(skipped)) {
    chat.append(...messages.slice(said, length));
    said = length;
    const { messages: fitted, report } = chat.fit() as { messages: readonly unknown[]; report: FitReport };
    const costs = costsOf(fitted, report, count);
    const { total } = report.tokens;
    const overhead = total - costs.reduce((sum, one) => sum + one, 0);
    const shared = before ? sharedLength(before, fitted) : 0;
    const tokens = overhead + costs.slice(0, shared).reduce((sum, one) => sum + one, 0);
    const cached = before && tokens >= SHORTEST ? tokens : 0;
    list.push({ length, total, cached, moved: before !== undefined && shared < before.length });
    before = fitted;
  }
  return { list, skipped };
}

/** Token costs of the resulting messages. */
function costsOf(fitted: readonly unknown[], report: FitReport, count: (message: unknown) => number): number[] {
  const costs: number[] = [];
  for (const { fate, tokens } of report.messages) {
    if (costs.length === report.added?.index) costs.push(report.added.tokens);
    if (fate === "kept") costs.push(tokens);
    // A request costs 3 tokens in addition to its messages.
    else if (fate === "changed") costs.push(count(fitted[costs.length]) - 3);
  }
  if (costs.length === report.added?.index) costs.push(report.added.tokens);
  return costs;
}

/** Number of messages that both begin with. */
function sharedLength(before: readonly unknown[], after: readonly unknown[]): number {
  const same = (one: unknown, other: unknown): boolean =>
    one === other || JSON.stringify(one) === JSON.stringify(other);
  const most = Math.min(before.length, after.length);
  for (let place = 0; place < most; place++) if (!same(before[place], after[place])) return place;
  return most;
}

/** Sums over all turns. */
export const sums = computed(() => {
  const now = turns.value;
  const list = "list" in now ? now.list : [];
  const total = list.reduce((sum, turn) => sum + turn.total, 0);
  const cached = list.reduce((sum, turn) => sum + turn.cached, 0);
  return { total, cached, moved: list.filter(({ moved }) => moved).length };
});

/** Tokens before and after a change at a message: everything after it is sent again. */
export function behind(place: number): { before: number; after: number } {
  const now = outcome.value;
  if (now.kind === "error") return { before: 0, after: 0 };
  const kept = now.rows.flatMap((row) =>
    row.kind === "message" && row.row.fate !== "cut" && row.row.index >= place ? [row.row.tokens] : [],
  );
  const after = kept.reduce((sum, one) => sum + one, 0);
  return { before: Math.max(now.report.tokens.total - after, 0), after };
}
