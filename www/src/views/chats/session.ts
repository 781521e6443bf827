import type { SessionTurn, SessionTurns } from "../../reader/session-turns.js";
import { dollars, type Price } from "./prices.js";
import { messagesOf, withMessages, type Request } from "./request.js";

/** An open session, and the request that is shown. */
export interface OpenTurns extends SessionTurns {
  turn: number;
}

/** What the model saw in the shown request. */
export function requestAt({ segments, turns, turn }: OpenTurns): Request {
  const { segment = 0, length = 0 } = turns[turn] ?? {};
  const { body } = segments[segment] ?? { body: [] };
  return withMessages(body, messagesOf(body).slice(0, length));
}

/** Whether a request is the first one after a compaction. */
export const isCompacted = (turns: readonly SessionTurn[], at: number): boolean =>
  at > 0 && turns[at]?.segment !== turns[at - 1]?.segment;

/** The cost of a request and its answer if the provider caches the prefix that it shares with the previous one. */
export const costOf = (turn: SessionTurn, price: Price): number =>
  dollars(turn.cached, price.cached) + dollars(turn.tokens - turn.cached, price.write) + costOfAnswer(turn, price);

/** The cost of an answer; 0 if the price of the output is unknown. */
export const costOfAnswer = ({ answer }: { answer: number }, { output = 0 }: Price): number => dollars(answer, output);

export const costOfAll = (turns: readonly SessionTurn[], price: Price): number =>
  turns.reduce((sum, turn) => sum + costOf(turn, price), 0);

/** The cost of all requests, by their sums, if nothing were cached. */
export const costWithoutCache = ({ tokens, answers }: ReturnType<typeof sumsOf>, price: Price): number =>
  dollars(tokens, price.input) + costOfAnswer({ answer: answers }, price);

/** Sums over all requests. */
export function sumsOf(turns: readonly SessionTurn[]): { tokens: number; cached: number; answers: number } {
  const sum = (of: (turn: SessionTurn) => number): number => turns.reduce((all, turn) => all + of(turn), 0);
  return {
    tokens: sum(({ tokens }) => tokens),
    cached: sum(({ cached }) => cached),
    answers: sum(({ answer }) => answer),
  };
}
