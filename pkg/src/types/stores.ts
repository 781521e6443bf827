/** Stores of commits: what a host brings, and what is made of it. */

import type { CheckpointRequest, CommitRecord, MaterializationPlan, MaterializedStream } from "./commits.js";
import type { Diagnostic, Limits } from "./common.js";

/**
 * Where blobs, records and heads are kept. A call that has ended is seen by every later one. A call may fail, or be carried out
 * though it failed; it is then made again.
 *
 * Keys are ASCII, of at most about 1000 characters, and sort as JavaScript's `<` does. Those of blobs begin with `blobs/`; a blob
 * has any size, other values are small texts.
 */
export interface Store {
  /** The value of a key: the bytes that were put, or the UTF-8 of the text that was set. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Sets bytes, whatever there was. What is put is never compared. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Sets a text if the value is the one expected, undefined for none, and says whether it was. No other call comes between. */
  compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean>;
  /**
   * Keys with a prefix, in their order, beginning after `cursor`, which is any text that begins with the prefix. A page at a
   * time: `cursor` in the answer is the last key, or absent at the end. No more than `limit` keys are of use.
   */
  list(prefix: string, cursor?: string, limit?: number): Promise<StorePage>;
  /**
   * The record of a commit and of those before it, newest first, up to `limit` of them, a record on each line: what
   * `get("records/…")` gives one by one, in one call. Without it a chain costs a call for each commit.
   */
  ancestors?(id: string, limit: number): Promise<string>;
}

/** A page of keys. */
export interface StorePage {
  keys: string[];
  cursor?: string;
}

/** A store that can be cleaned up. */
export interface DeletingStore extends Store {
  /** Takes a key away; one that is not there is fine. */
  delete(key: string): Promise<void>;
}

/** How a store is used. */
export interface CommitStoreOptions {
  /** How often a call that failed is made again. Default 3. */
  retries?: number;
  /** Milliseconds before the first of them; each later one waits twice as long, a little more or less. Default 20. */
  delay?: number;
  /** Milliseconds after which a call that has not answered counts as failed. Default 30,000. */
  timeout?: number;
  /** How many records of a chain are asked for at a time, where the store has `ancestors`. Default 256. */
  pageSize?: number;
  limits?: Limits;
}

/** What is to be stored; the ref follows from the blob. */
export type StoreCheckpoint = Omit<CheckpointRequest, "artifact_ref"> & { artifact_ref?: string };

/** How one checkpoint is stored. */
export interface StoreCheckpointOptions {
  /**
   * What becomes of a delta when another writer was faster: it is stored after what that one wrote (`rebase`, the default), or
   * that is `head_conflict`. Compactions and snapshots are never moved, since they would hide what they do not know.
   */
  onConflict?: "rebase" | "error";
}

/** A commit that is stored: its head leads to it. */
export interface StoredCommit {
  id: string;
  record: CommitRecord;
  /** Another writer was faster: it comes after what that one wrote, and so its id is not the one that was to be expected. */
  rebased?: true;
  diagnostics?: Diagnostic[];
}

/** A name for a commit, which moves as commits are added. */
export interface StoreHead {
  name: string;
  commit: string;
}

/** A conversation of a store as a stream. */
export interface StoredStream extends MaterializedStream {
  plan: MaterializationPlan;
}

/** How garbage is listed. */
export interface GarbageOptions {
  /** How many keys at a time. Default 500. */
  batch?: number;
  /** Milliseconds after which a collection that was begun and not ended is taken over. Default an hour. */
  patience?: number;
}
