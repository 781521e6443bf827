/** The index of the first element, from `from`, for which a monotonic predicate holds; the length if there is none. */
export function firstWhere<T>(list: readonly T[], holds: (one: T) => boolean, from = 0): number {
  let low = from;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
