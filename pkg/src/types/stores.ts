/** Stores of commits: the host's interface, and the types built on it. */

import type {
  CheckpointRequest,
  CommitRecord,
  MaterializationPlan,
  MaterializedStream,
  MaterializeStreamOptions,
  VerifyArtifact,
} from "./commits.js";
import type { Diagnostic, DriverOptions, Limits } from "./common.js";

/**
 * Storage for blobs, records and heads. A completed call is visible to every later one. A call may fail, possibly after
 * it took effect; it is then retried. docs/stores.md has the contract.
 *
 * Keys are ASCII, and sort as by JavaScript's `<`. They have at most 2,500 characters: a head with the longest name has
 * 2,310, the others less than 300 unless ids are longer than those of this package. Keys of blobs begin with `blobs/`; a
 * blob has any size, other values are short texts.
 */
export interface Store {
  /** The value of a key: the bytes that were put, or the UTF-8 of the text that was set. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Sets bytes unconditionally. Such a value is never compared. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Sets a text if the current value is `expected` (undefined if missing); returns whether it did. Must be atomic. */
  compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean>;
  /**
   * Keys with a prefix, sorted, after `cursor`, which is any text that begins with the prefix. Returns one page: its
   * `cursor` is the last key, or absent at the end. More than `limit` keys are not used.
   */
  list(prefix: string, cursor?: string, limit?: number): Promise<StorePage>;
  /**
   * The record of a commit and its ancestors, newest first, at most `limit`, one record per line: the values of
   * `get("records/…")` in one call. Without it a chain costs one call per commit.
   */
  ancestors?: ((id: string, limit: number) => Promise<string>) | undefined;
}

/** A page of keys. */
export interface StorePage {
  keys: string[];
  cursor?: string;
}

/** A store that can be cleaned up. */
export interface DeletingStore extends Store {
  /** Deletes a key. A missing key is not an error. */
  delete(key: string): Promise<void>;
}

/** Options of a store. */
export interface CommitStoreOptions {
  /** Number of retries of a failed call. Default 3. */
  retries?: number | undefined;
  /** Milliseconds before the first retry; each later one waits about twice as long, with jitter. Default 20. */
  delay?: number | undefined;
  /** Milliseconds after which a pending call counts as failed. Default 30,000. */
  timeout?: number | undefined;
  /** Number of records of a chain per request, if the store has `ancestors`. Default 256. */
  pageSize?: number | undefined;
  /**
   * Whether results of `materialize` are kept in the store by `cacheKey`, until garbage is collected. Default false.
   */
  cache?: boolean | undefined;
  limits?: Limits | undefined;
}

/** Options of a history. */
export interface StoreHistoryOptions extends DriverOptions {
  /** Number of records. Default: all; 0 is no limit. */
  depth?: number | undefined;
}

/** How to read a blob. */
export interface StoreReadOptions extends DriverOptions {
  /** Verifies a blob with a ref of another store. */
  verifyArtifact?: VerifyArtifact | undefined;
}

/** How to read the blobs of a snapshot. */
export type StoreSnapshotOptions = MaterializeStreamOptions;

/** Result of `fork`. */
export interface ForkedHead {
  /** Present if the blob of the commit has a ref of another store and was not verified. */
  diagnostics?: Diagnostic[];
}

/**
 * The summary of a commit; undefined leaves it without one. `blob` is the content of the commit, `signal` that of the
 * driver.
 */
export type Summarize = (
  record: CommitRecord,
  blob: Uint8Array,
  options?: DriverOptions,
) => string | undefined | Promise<string | undefined>;

/** Options of `summarizeMissing`. */
export interface SummarizeMissingOptions extends StoreReadOptions {
  /** Maximum number of commits to summarize. Default: all. */
  limit?: number | undefined;
}

/** The result of `summarizeMissing`. */
export interface SummarizedCommits {
  /** The commits that have a summary now. */
  summarized: string[];
  /** The commits that were left without one. */
  skipped: string[];
}

/** A checkpoint to store; its ref is derived from the blob. */
export type StoreCheckpoint = Omit<CheckpointRequest, "artifact_ref"> & { artifact_ref?: string | undefined };

/** Options of one checkpoint. */
export interface StoreCheckpointOptions extends DriverOptions {
  /**
   * How to handle a delta if another writer was faster: store it after the other's commit (`rebase`, the default), or
   * throw `head_conflict`. Compactions and snapshots are never rebased, because they would hide commits that they do
   * not cover.
   */
  onConflict?: "rebase" | "error" | undefined;
}

/** A stored commit that a head leads to. */
export interface StoredCommit {
  id: string;
  record: CommitRecord;
  /** Another writer was faster: the commit follows the other's, so its id differs from the expected one. */
  rebased?: true;
  diagnostics?: Diagnostic[];
}

/** A name for a commit, moved as commits are added. */
export interface StoreHead {
  name: string;
  commit: string;
}

/** A conversation of a store as a stream. */
export interface StoredStream extends MaterializedStream {
  plan: MaterializationPlan;
}

/** Options for listing garbage. */
export interface GarbageOptions extends DriverOptions {
  /** Number of keys per page. Default 500. */
  batch?: number | undefined;
  /** Milliseconds after which an unfinished collection is taken over. Default: one hour. */
  patience?: number | undefined;
}
