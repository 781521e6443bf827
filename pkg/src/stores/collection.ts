/**
 * Garbage, listed so that nobody deletes what somebody is about to need.
 *
 * What is to go is announced first: a list of keys, and a value that says that it counts. A writer looks at it after it has read
 * its head and before it writes, and waits where the list has a key of its own. Whoever read the head before has not seen the
 * list; so every head is set again, and such a writer finds that its head has changed and begins again. What heads lead to by
 * then is taken off the list, and the rest can go.
 */

import { CtxweaveError } from "../error.js";
import type { CommitRecord } from "../types/commits.js";
import type { StoreCalls } from "./calls.js";
import { headValue, nextValue } from "./heads.js";
import {
  blobKey,
  BLOBS,
  COLLECTION,
  COLLECTIONS,
  HEADS,
  principalEntry,
  PRINCIPALS,
  recordKey,
  RECORDS,
} from "./keys.js";
import type { Records } from "./records.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What is being collected: the value that says so, and the keys. */
export interface Condemned {
  value: string | undefined;
  keys: ReadonlySet<string>;
}

/** The value: how often it was set, and while a collection is under way its list and when it began. */
interface CollectionValue {
  count: number;
  list: string | undefined;
  began: number;
}

function collectionValue(text: string | undefined): CollectionValue {
  const [count = "0", list, began = "0"] = (text ?? "").split(" ");
  return { count: Number(count), list, began: Number(began) };
}

/** What is being collected now. */
export async function condemned(calls: StoreCalls): Promise<Condemned> {
  for (;;) {
    const value = await calls.text(COLLECTION);
    const { list } = collectionValue(value);
    if (list === undefined) return { value, keys: new Set() };
    const bytes = await calls.get(COLLECTIONS + list);
    if (bytes) return { value, keys: new Set(JSON.parse(decoder.decode(bytes)) as string[]) };
    // It ended in the meantime, and its list is gone; else it is not to be trusted.
    if ((await calls.text(COLLECTION)) === value) {
      throw new CtxweaveError("store_failed", `\`${COLLECTIONS}${list}\` is not there, and the collection needs it`, {
        operation: "get",
        key: COLLECTIONS + list,
      });
    }
  }
}

/** What the heads lead to. It grows: what was reachable once counts as such until the collection is over. */
class Reachable {
  readonly ids = new Set<string>();
  readonly blobs = new Set<string>();

  constructor(
    private readonly calls: StoreCalls,
    private readonly records: Records,
  ) {}

  /** Follows all heads, as far as they lead to something new; `touch` sets each again first. */
  async look(touch: boolean): Promise<void> {
    for await (const keys of this.calls.keys(HEADS)) {
      for (const key of keys) {
        const change = (text: string | undefined): string | undefined => {
          if (text === undefined || !touch) return undefined;
          const value = headValue(text);
          return nextValue(value, value.commit);
        };
        const { commit } = headValue((await this.calls.update(key, change)) ?? "0");
        if (commit !== undefined) await this.follow(commit);
      }
    }
  }

  private async follow(commit: string): Promise<void> {
    if (this.ids.has(commit)) return;
    const fresh: CommitRecord[] = [];
    for await (const record of this.records.history(commit)) {
      if (this.ids.has(record.id)) break;
      fresh.push(record);
    }
    for (const { id, artifact_ref } of fresh) {
      this.ids.add(id);
      this.keep(artifact_ref);
    }
  }

  /** Notes that a blob is needed. A short ref keeps all that begin so. */
  keep(ref: string): void {
    this.blobs.add(ref.startsWith("art-") ? ref.slice("art-".length) : blobKey(ref));
  }

  needsBlob(key: string): boolean {
    return this.blobs.has(key) || this.blobs.has(key.slice(BLOBS.length, BLOBS.length + 12));
  }
}

/** Lists what no head leads to, some keys at a time: see `CommitStore.garbage`. */
export async function* garbage(
  calls: StoreCalls,
  records: Records,
  { batch, patience }: { batch: number; patience: number },
): AsyncGenerator<string[], void, undefined> {
  // One that was begun and never ended is over.
  const before = await calls.text(COLLECTION);
  const { count, list, began } = collectionValue(before);
  if (list !== undefined) {
    if (Date.now() - began < patience || !(await calls.compareAndSet(COLLECTION, before, `${count + 1}`))) {
      throw underWay();
    }
  }
  const reachable = new Reachable(calls, records);
  await reachable.look(false);
  const idOf = (key: string): string => decodeURIComponent(key.slice(RECORDS.length));
  const isGarbage = {
    [RECORDS]: (key: string) => !reachable.ids.has(idOf(key)),
    [PRINCIPALS]: (key: string) => !reachable.ids.has(principalEntry(key).id),
    [BLOBS]: (key: string) => !reachable.needsBlob(key),
  };
  const listed = async function* (prefix: keyof typeof isGarbage): AsyncGenerator<string[], void, undefined> {
    let found: string[] = [];
    for await (const keys of calls.keys(prefix)) {
      for (const key of keys) {
        if (isGarbage[prefix](key)) found.push(key);
        if (found.length < batch) continue;
        yield* announced(calls, reachable, found, isGarbage[prefix]);
        found = [];
      }
    }
    if (found.length > 0) yield* announced(calls, reachable, found, isGarbage[prefix]);
  };
  // Records before what they are listed under, and before their blobs: what is still there is whole.
  yield* listed(RECORDS);
  yield* listed(PRINCIPALS);
  for await (const keys of calls.keys(RECORDS)) {
    for (const key of keys) {
      const id = idOf(key);
      if (reachable.ids.has(id)) continue;
      // One that is damaged keeps nothing: nothing could be made of it.
      const there = await records.find(id).catch(() => undefined);
      if (there) reachable.keep(there.record.artifact_ref);
    }
  }
  yield* listed(BLOBS);
  const now = collectionValue(await calls.text(COLLECTION)).list;
  for await (const keys of calls.keys(COLLECTIONS)) {
    const old = keys.filter((key) => key !== COLLECTIONS + (now ?? ""));
    if (old.length > 0) yield old;
  }
}

/** Announces keys, sees which of them are garbage still, gives these, and says when it is over. */
async function* announced(
  calls: StoreCalls,
  reachable: Reachable,
  keys: string[],
  isGarbage: (key: string) => boolean,
): AsyncGenerator<string[], void, undefined> {
  const before = await calls.text(COLLECTION);
  const { count, list } = collectionValue(before);
  if (list !== undefined) throw underWay();
  const name = `${count + 1}-${Math.random().toString(36).slice(2)}`;
  await calls.put(COLLECTIONS + name, encoder.encode(JSON.stringify(keys)));
  const open = `${count + 1} ${name} ${Date.now()}`;
  if (!(await calls.compareAndSet(COLLECTION, before, open))) throw underWay();
  try {
    await reachable.look(true);
    const found = keys.filter(isGarbage);
    if (found.length > 0) yield found;
  } finally {
    await calls.compareAndSet(COLLECTION, open, `${count + 2}`);
  }
}

function underWay(): CtxweaveError {
  const message = "garbage is being collected already; go on when that is over";
  return new CtxweaveError("store_busy", message, { keys: [COLLECTION] });
}

/** The keys of a commit that a collection may have on its list. */
export function keysOf(record: CommitRecord, records: Records): string[] {
  return [blobKey(record.artifact_ref), recordKey(record.id), ...records.listKey(record)];
}
