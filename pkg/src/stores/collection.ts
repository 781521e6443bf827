/**
 * Garbage collection that never deletes keys that a writer is about to need.
 *
 * A collection first announces its candidates: it stores a list of keys, then a value that refers to the list. A writer
 * reads that value after its head and before it writes, and waits if one of its keys is on the list. A writer that read
 * its head before the announcement has not seen the list. Therefore the collection sets every head again, so that such
 * a writer finds its head changed and starts over. Keys that heads lead to by then are taken off the list; the others
 * can be deleted.
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
  INDEXES,
  isResultKey,
  isShortRef,
  principalEntry,
  PRINCIPALS,
  recordKey,
  RECORDS,
} from "./keys.js";
import type { Records } from "./records.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The keys being collected, and the value that announces them. */
export interface Condemned {
  value: string | undefined;
  keys: ReadonlySet<string>;
}

/** The value: a counter, and during a collection its list and when it began. */
interface CollectionValue {
  count: number;
  list: string | undefined;
  began: number;
}

function collectionValue(text: string | undefined): CollectionValue {
  const [count = "0", list, began = "0"] = (text ?? "").split(" ");
  return { count: Number(count), list, began: Number(began) };
}

/** Reads the current collection. */
export async function condemned(calls: StoreCalls): Promise<Condemned> {
  for (;;) {
    const value = await calls.text(COLLECTION);
    const { list } = collectionValue(value);
    if (list === undefined) return { value, keys: new Set() };
    const bytes = await calls.get(COLLECTIONS + list);
    if (bytes) return { value, keys: new Set(JSON.parse(decoder.decode(bytes)) as string[]) };
    // If the value changed, the collection has ended and its list is gone; otherwise the store is damaged.
    if ((await calls.text(COLLECTION)) === value) {
      throw new CtxweaveError(
        "store_failed",
        `\`${COLLECTIONS}${list}\` is missing, but the garbage collection needs it`,
        {
          operation: "get",
          key: COLLECTIONS + list,
        },
      );
    }
  }
}

/** Keys that the heads lead to. Only grows: keys reachable at any time count as reachable until the collection ends. */
class Reachable {
  readonly ids = new Set<string>();
  readonly blobs = new Set<string>();

  constructor(
    private readonly calls: StoreCalls,
    private readonly records: Records,
  ) {}

  /** Follows all heads to commits that are not yet included; `touch` sets each head again first. */
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

  /** Marks a blob as needed. A short ref marks all that it can stand for. */
  keep(ref: string): void {
    this.blobs.add(isShortRef(ref) ? ref.slice("art-".length) : blobKey(ref));
  }

  needsBlob(key: string): boolean {
    return this.blobs.has(key) || this.blobs.has(key.slice(BLOBS.length, BLOBS.length + 12));
  }
}

/** Lists keys that no head leads to, one batch at a time; see `CommitStore.garbage`. */
export async function* garbage(
  calls: StoreCalls,
  records: Records,
  { batch, patience }: { batch: number; patience: number },
): AsyncGenerator<string[], void, undefined> {
  // Takes over an unfinished collection.
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
    // Results of materializations can be made again.
    [INDEXES]: (key: string) => isResultKey(key) || !reachable.ids.has(principalEntry(key).id),
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
  // Records come before the lists and blobs that they refer to, so that a remaining record is complete.
  yield* listed(RECORDS);
  yield* listed(PRINCIPALS);
  yield* listed(INDEXES);
  for await (const keys of calls.keys(RECORDS)) {
    for (const key of keys) {
      const id = idOf(key);
      if (reachable.ids.has(id)) continue;
      // A damaged record keeps nothing, because it cannot be used.
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

/** Announces keys, finds those that are still garbage, yields these, and ends the collection. */
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
    // An aborted collection ends as well, but nobody waits for it.
    const ended = calls.within(undefined).compareAndSet(COLLECTION, open, `${count + 2}`);
    if (calls.signal?.aborted) ended.catch(() => undefined);
    else await ended;
  }
}

function underWay(): CtxweaveError {
  const message = "another garbage collection is running; try again when it has ended";
  return new CtxweaveError("store_busy", message, { keys: [COLLECTION] });
}

/** The keys of a commit that a collection may list. */
export function keysOf(record: CommitRecord, records: Records): string[] {
  return [blobKey(record.artifact_ref), recordKey(record.id), ...records.listKeys(record)];
}
