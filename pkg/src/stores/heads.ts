/** Heads: names for commits. The value counts how often it was set, so that no value recurs. */

import type { StoreHead } from "../types/stores.js";
import type { StoreCalls } from "./calls.js";
import { headName, HEADS } from "./keys.js";

/** The value of a head. */
export interface HeadValue {
  text: string;
  count: number;
  commit: string | undefined;
}

export function headValue(text: string): HeadValue {
  const [count = "0", commit] = text.split(" ");
  return { text, count: Number(count), commit };
}

export function nextValue({ count }: HeadValue, commit: string | undefined): string {
  return [count + 1, ...(commit === undefined ? [] : [commit])].join(" ");
}

/**
 * The value of a head. A missing head is first created without a commit, so that a garbage collection knows it before
 * anything depends on it.
 */
export async function madeHead(calls: StoreCalls, key: string): Promise<HeadValue> {
  return headValue((await calls.update(key, (text) => text ?? "0")) ?? "0");
}

/** All heads that have a commit. */
export async function* allHeads(calls: StoreCalls): AsyncGenerator<StoreHead> {
  for await (const keys of calls.keys(HEADS)) {
    for (const key of keys) {
      const commit = headValue((await calls.text(key)) ?? "0").commit;
      if (commit !== undefined) yield { name: headName(key), commit };
    }
  }
}
