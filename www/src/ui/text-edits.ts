/**
 * Edits of a large text. An edited text is a concatenation, which the engine copies when it is sliced or sent; so the
 * pieces of the last one, and the edits since a worker received it, are kept here.
 */

/** Replaces `removed` UTF-16 code units at `at`. */
export interface TextEdit {
  at: number;
  removed: number;
  inserted: string;
}

interface Logged extends TextEdit {
  before: string;
  after: string;
  pieces: readonly [string, string, string];
}

/** Maximum number of edits sent instead of a text. */
const MAX_EDITS = 100;

let log: Logged[] = [];

/** Puts a piece between the texts around it, which were cut from `before`. */
export function join(before: string, pieces: readonly [string, string, string]): string {
  const [head, inserted, tail] = pieces;
  const after = head + inserted + tail;
  const removed = before.length - head.length - tail.length;
  const last = log.at(-1);
  // The edits of a field follow each other. After another change, such as an undo, the log begins again.
  if (last && last.after !== before) log = [];
  log = [...log.slice(-MAX_EDITS + 1), { at: head.length, removed, inserted, before, after, pieces }];
  return after;
}

/** A part of a text. */
export function sliceOf(text: string, from: number, to: number): string {
  const pieces = log.findLast(({ after }) => after === text)?.pieces ?? [text];
  let start = 0;
  let part = "";
  for (const piece of pieces) {
    part += piece.slice(Math.max(from - start, 0), Math.max(to - start, 0));
    start += piece.length;
  }
  return part;
}

/** The place, or the next one if it is within a pair of surrogates. */
export function wholePlace(text: string, place: number): number {
  return /[\uD800-\uDBFF]/.test(sliceOf(text, place - 1, place)) ? place + 1 : place;
}

/** The edits that lead from one text to another, if they are known. */
export function editsBetween(before: string, after: string): TextEdit[] | undefined {
  const last = log.at(-1);
  if (!last || last.after !== after) return undefined;
  const first = log.findLastIndex((edit) => edit.before === before);
  return first < 0 ? undefined : log.slice(first).map(({ at, removed, inserted }) => ({ at, removed, inserted }));
}

export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduce((now, { at, removed, inserted }) => now.slice(0, at) + inserted + now.slice(at + removed), text);
}
