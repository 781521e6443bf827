/** Comparison of JSON values, and of lists of them. */

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Whether two JSON values are the same, with their fields in the same order. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  const isSameField = (name: string, at: number): boolean =>
    name === others[at] && isSame((one as never)[name], (other as never)[name]);
  return names.length === others.length && names.every(isSameField);
}

/** Replaces `removed` elements of a list at `at`. */
export interface ListChange<T = unknown> {
  at: number;
  removed: number;
  added: readonly T[];
}

/** The change between two lists: everything from the first to the last element that differs. */
export function listChange<T>(before: readonly T[], after: readonly T[]): ListChange<T> {
  const shorter = Math.min(before.length, after.length);
  let at = 0;
  while (at < shorter && isSame(before[at], after[at])) at += 1;
  let end = 0;
  while (end < shorter - at && isSame(before.at(-1 - end), after.at(-1 - end))) end += 1;
  return { at, removed: before.length - at - end, added: after.slice(at, after.length - end) };
}

export const withListChange = <T>(list: readonly T[], { at, removed, added }: ListChange<T>): T[] => [
  ...list.slice(0, at),
  ...added,
  ...list.slice(at + removed),
];
