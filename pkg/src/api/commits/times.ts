/** Times as sort keys. */

import { callJson } from "../../call.js";

/**
 * Converts a time into 22 digits that sort in reverse order: in a store that lists keys in ascending order, the latest
 * entry at or before a time is the first one from the key of that time on. `time` is RFC 3339, a `Date`, or
 * milliseconds.
 */
export function timeKey(time: string | number | Date): string {
  return callJson("timeKey", { time }) as string;
}
