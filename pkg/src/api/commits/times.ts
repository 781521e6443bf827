/** Moments as keys. */

import { callJson } from "../../call.js";

/**
 * 22 digits that sort as moments do, later ones first: in a store whose keys are listed upwards, the latest at or before a time
 * is the first one from the key of the time on. `time` is RFC 3339, a date or milliseconds.
 */
export function timeKey(time: string | number | Date): string {
  return callJson("timeKey", { time }) as string;
}
