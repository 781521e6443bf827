import { andThen, type Attempt } from "../../ui/attempt.js";
import { answersIn, MIN_CACHED_TOKENS } from "./parts.js";
import { messagesOf } from "./request.js";
import { chatFor } from "./resident.js";
import { fitCall, counted, remote, rows, shown, tab, type FitCall } from "./state.js";

/** Tokens that a request costs in addition to its messages. */
const REQUEST_TOKENS = 3;

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

/** The last turns, and the number of earlier ones. */
interface Turns {
  list: readonly Turn[];
  skipped: number;
}

const NO_TURNS: Attempt<Turns> = { ok: true, value: { list: [], skipped: 0 } };

/** The conversation turn by turn, each request fitted with the current settings and compared with the previous one. */
export const turns = remote.result("turns", NO_TURNS, () =>
  tab.value === "cache" ? andThen(fitCall.value, turnsOf) : NO_TURNS,
);

function turnsOf({ request, places, pinned, options }: FitCall): Turns {
  const read = counted.value.ok ? counted.value.value.read : [];
  const left = places.flatMap((place) => read[place] ?? []);
  // A request before each answer, and one at the end unless that is an answer.
  const lengths = answersIn(left).filter((at) => at > 0);
  if (left.length > 0 && left.at(-1)?.role !== "assistant") lengths.push(left.length);
  const skipped = Math.max(lengths.length - MAX_TURNS, 0);
  const messages = messagesOf(request);
  const chat = chatFor(request, { ...options, pinned: (_, place) => pinned.includes(place) });
  try {
    const list = lengths.slice(skipped).map((length): Turn => {
      chat.append(...messages.slice(chat.length, length));
      const { tokens, prefix } = chat.fit().report;
      const shared = (prefix?.tokens ?? 0) + REQUEST_TOKENS;
      const isFirst = prefix?.reason === "first";
      const cached = !isFirst && shared >= MIN_CACHED_TOKENS ? shared : 0;
      return { length, total: tokens.total, cached, moved: !isFirst && !prefix?.stable };
    });
    return { list, skipped };
  } finally {
    chat.free();
  }
}

/** Tokens before and after a change at a message: everything after it is sent again. */
export function tokensAround(place: number): { before: number; after: number } {
  const total = shown.value.ok ? shown.value.value.report.tokens.total : 0;
  const kept = rows.value.flatMap((row) =>
    row.kind === "message" && row.row.fate !== "cut" && row.row.index >= place ? [row.row.tokens] : [],
  );
  const after = kept.reduce((sum, one) => sum + one, 0);
  return { before: Math.max(total - after, 0), after };
}
