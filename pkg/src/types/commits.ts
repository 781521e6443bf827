/**
 * Context commits. Requests and records are snake_case, because agents and stored files use them that way; plans and
 * results are camelCase like the rest of the library. docs/commits.md describes the model.
 */

import type { Diagnostic, Limits } from "./common.js";
import type { PlatformAbortSignal, PlatformReadableStream } from "./platform.js";
import type { TranscriptFormat } from "./transcripts.js";

/**
 * Content of a commit's artifact: the messages since the parent, a summary that replaces them, or the whole
 * conversation.
 */
export type CommitType = "delta" | "compaction" | "snapshot";

/** Why a commit was made. */
export type CheckpointTrigger = "turn_boundary" | "tool_call" | "compaction" | "session_end" | "explicit";

/** A known format. Records may name others. */
export type CommitFormat = TranscriptFormat | (string & {});

/** A format that is not built in; see `registerFormat`. */
export interface CustomFormat {
  /** The name that records have in `format`. */
  name: string;
  /**
   * How deltas are joined: by appending bytes, without or with a newline between two deltas if it is missing, or by
   * splicing the items of arrays into one array.
   */
  join: "bytes" | "lines" | "cbor-array" | "json-array";
  /**
   * The built-in format whose reader applies to joined deltas; for a JSON array and a format of lines, to its items.
   * Without it, deltas are joined, but neither read nor translated.
   */
  like?: TranscriptFormat | undefined;
}

/** Where a commit comes from. */
export interface Provenance {
  /** The kind of agent. */
  template?: string | undefined;
  /** The user or service that ran it. */
  principal?: string | undefined;
  /** The machine it ran on. */
  machine?: string | undefined;
  session_id?: string | undefined;
  ticket_id?: string | undefined;
  thread_id?: string | undefined;
}

/** The record of a commit. Unknown fields are kept unchanged. */
export interface CommitRecord extends Provenance {
  /** `ctx-` and 16 hex digits; foreign records have other forms. */
  id: string;
  /** 1. Records of later versions can be read but not changed. */
  version: number;
  /** The previous commit; absent for the root of a conversation. */
  parent?: string | undefined;
  /** Later versions may have more types. */
  commit_type: CommitType | (string & {});
  /** The blob: `blake3:` and 64 hex digits. Imported records may have the short form, or a ref of another store. */
  artifact_ref: string;
  /** The format of the blob. */
  format: CommitFormat;
  /** Later versions may have more triggers. */
  checkpoint?: CheckpointTrigger | (string & {}) | undefined;
  /** Summary of the agent's understanding, for people. Mutable. */
  summary?: string | undefined;
  /** Labels for searching. Mutable. */
  tags?: string[] | undefined;
  /** Number of messages in the blob. */
  message_count?: number | undefined;
  /** Tokens of the blob, approximately. */
  token_count?: number | undefined;
  /** Time of creation, RFC 3339. */
  created_at: string;
  /** Fields of later versions and custom fields. */
  [field: string]: unknown;
}

/** Input of a commit. Its id is derived from `parent`, `artifact_ref`, `created_at` and `template`. */
export interface CheckpointRequest {
  /** Only for a record that already has an id; it must equal the derived one. */
  id?: string | undefined;
  version?: number | undefined;
  /** Absent, null or empty for the root of a conversation. */
  parent?: string | null | undefined;
  /** Default `delta`. */
  commit_type?: CommitType | (string & {}) | undefined;
  /** The full ref, or the short form of a ref in the graph. */
  artifact_ref: string;
  format: CommitFormat;
  template?: string | null | undefined;
  principal?: string | null | undefined;
  machine?: string | null | undefined;
  session_id?: string | null | undefined;
  /** Default `explicit`. */
  checkpoint?: CheckpointTrigger | (string & {}) | null | undefined;
  ticket_id?: string | null | undefined;
  thread_id?: string | null | undefined;
  summary?: string | null | undefined;
  tags?: readonly string[] | null | undefined;
  message_count?: number | null | undefined;
  token_count?: number | null | undefined;
  /** RFC 3339 with an offset or `Z`, a `Date`, or milliseconds as `Date.now()` gives them. */
  created_at: string | number | Date;
  /** Stored unchanged. */
  [field: string]: unknown;
}

/** Result of `checkpoint`. */
export interface CheckpointResult {
  id: string;
  record: CommitRecord;
  /** Present if something was repaired, or if the commit already exists with another summary or other tags. */
  diagnostics?: Diagnostic[];
}

/** Mutable fields of a commit; null removes a field. */
export interface MetadataUpdate {
  summary?: string | null | undefined;
  tags?: readonly string[] | null | undefined;
}

/** How `importJsonl` merges two records of one commit. */
export interface ImportJsonlOptions {
  /**
   * Which summary and tags win if they differ; `metadata_conflict` is reported in any case. `merge` (the default): a
   * value wins over a missing one, and of two values the one that sorts last, so that the order of imports does not
   * matter. `keep`: those of the record already in the graph. `replace`: those of the imported record. With `keep` and
   * `replace` a missing summary counts as a value: a deleted summary stays deleted (`keep`), or is deleted (`replace`).
   */
  metadata?: "merge" | "keep" | "replace" | undefined;
}

/** How `exportJsonl` writes. */
export interface ExportJsonlOptions {
  /**
   * Appends a line `{ "digest": … }`: the artifact ref of the lines before it. `importJsonl` verifies it, ignoring
   * white space, and reports `digest_mismatch` if a record was altered, added or lost. Default false.
   */
  digest?: boolean | undefined;
}

/** Result of `importJsonl`. */
export interface ImportReport {
  /** Ids of the new commits, sorted. */
  added: string[];
  /** Number of records that already existed. */
  unchanged: number;
  /** Number of records whose summary or tags were taken over. */
  updated: number;
  /** Number of records verified by a digest; absent if the input had none or none matched. */
  verified?: number;
  diagnostics: Diagnostic[];
}

/**
 * How far back to go: to the nearest compaction or snapshot, which begins the result; to the root, with all deltas and
 * without the compactions that summarize them; or to the commit with this id, which begins the result.
 */
export type Stop = "compaction" | "root" | (string & {});

/** What to materialize. */
export interface MaterializationRequest {
  /** A tip resumes, any other commit forks; without a commit the conversation is empty. */
  commit?: string | null | undefined;
  /** Default `compaction`. */
  stop?: Stop | undefined;
  /** Format of the result. Defaults to the commit's, without a commit to `generic-v1`. */
  format?: CommitFormat | undefined;
  /** How to write turns of another family of formats: as a narrative (default), or as turns of the requested format. */
  crossFamily?: "render" | "transcode" | undefined;
  /**
   * Whether to inspect the records of blobs that are joined unchanged, so that unknown kinds and damaged lines are
   * reported. Default true; false is faster.
   */
  inspect?: boolean | undefined;
}

/** A commit of the chain, and its role in the plan. */
export interface PlanStep {
  id: string;
  artifactRef: string;
  commitType: CommitType | (string & {});
  format: CommitFormat;
  /** Whether its blob is part of the result. */
  included: boolean;
  /**
   * Why it is included or not: it is a delta; the result starts with it; its deltas are included themselves, so that it
   * only summarizes or repeats them.
   */
  reason: "delta" | "start" | "summarised" | "repeated";
}

/** The inputs and steps of a materialization. */
export interface MaterializationPlan extends MaterializationRequest {
  stop: Stop;
  format: CommitFormat;
  /** The blobs to fetch, each once, in order of first use. */
  refs: string[];
  /** From the first visited commit to the requested one. */
  steps: PlanStep[];
  /** Cache key for the result: equal for all requests that give the same bytes. */
  cacheKey: string;
  diagnostics: Diagnostic[];
}

/**
 * Fidelity of a result, best first: joined unchanged, mapped to another version, rewritten as turns (on request),
 * narrated, or as found.
 */
export type Tier = "native" | "fields" | "transcode" | "rendering" | "raw";

/** A materialized conversation. */
export interface Materialized {
  bytes: Uint8Array<ArrayBuffer>;
  /** The ref of the bytes. */
  artifactRef: string;
  /** The requested format; `markdown` if that cannot be written. */
  format: CommitFormat;
  tier: Tier;
  /** Commits whose blobs it consists of. */
  commitCount: number;
  /** From the records; counted if one does not state it. */
  messageCount: number;
  /** Approximate. From the records; estimated if one does not state it. */
  tokenCount: number;
  diagnostics: Diagnostic[];
}

/** Fields of a snapshot. Missing ones are taken from the materialized commit. */
export interface SnapshotFields extends Provenance {
  /** Time of creation: RFC 3339, a `Date`, or milliseconds as `Date.now()` returns them. */
  created_at: string | number | Date;
  summary?: string | undefined;
  tags?: readonly string[] | undefined;
  /** Default `explicit`. */
  checkpoint?: CheckpointTrigger | undefined;
  /** Stored unchanged. */
  [field: string]: unknown;
}

/** Bytes in a buffer or a view. */
export type Bytes = ArrayBuffer | ArrayBufferView;

/** Blobs by ref, as listed by a plan. */
export type Blobs = ReadonlyMap<string, Bytes>;

/** Options of `CommitGraph.checkpoint`. */
export interface GraphCheckpointOptions {
  /**
   * The caller's store has the parent, so the graph does not need its record. Chains end there until it is imported.
   * Default false.
   */
  parentStored?: boolean | undefined;
}

/** Options of a graph. */
export interface CommitGraphOptions {
  limits?: Limits | undefined;
}

/**
 * Verifies a blob whose ref is that of another store: returns whether it belongs to the ref. Refs of the form `blake3:`
 * are always verified by hash; a short one is passed here if its blob has another hash.
 */
export type VerifyArtifact = (artifactRef: string, bytes: Uint8Array) => boolean | Promise<boolean>;

/** Options of `CommitGraph.materialize`. */
export interface MaterializeOptions {
  /**
   * Verifies refs of other stores. Without it, their blobs are used and reported as `artifact_unverified`; blobs of
   * `art-` refs, which may be damaged short refs, throw `blob_mismatch`.
   */
  verifyArtifact?: ((artifactRef: string, bytes: Uint8Array) => boolean) | undefined;
}

/** How to fetch blobs. */
export interface MaterializeWithOptions {
  /**
   * Verifies refs of other stores. Without it, their blobs are used and reported as `artifact_unverified`; blobs of
   * `art-` refs, which may be damaged short refs, throw `blob_mismatch`.
   */
  verifyArtifact?: VerifyArtifact | undefined;
  /** Maximum number of concurrent fetches. Default 8. */
  concurrency?: number | undefined;
  /** Number of retries of a fetch that failed or returned the wrong blob. Default 1. */
  retries?: number | undefined;
  /** Called after each blob. */
  onProgress?: ((progress: MaterializeProgress) => void) | undefined;
  /** Aborts the materialization. */
  signal?: PlatformAbortSignal | undefined;
}

/** How to fetch the blobs of a stream. */
export interface MaterializeStreamOptions {
  /**
   * Verifies refs of other stores. Without it, their blobs are used and reported as `artifact_unverified`; blobs of
   * `art-` refs, which may be damaged short refs, throw `blob_mismatch`.
   */
  verifyArtifact?: VerifyArtifact | undefined;
  /** Maximum number of concurrent fetches. Default 4. */
  concurrency?: number | undefined;
  /** Number of retries of a fetch that failed or returned the wrong blob. Default 1. */
  retries?: number | undefined;
  /** Aborts the stream. */
  signal?: PlatformAbortSignal | undefined;
}

/** A conversation as a stream. */
export interface MaterializedStream {
  /** The bytes. Fails if a blob is missing or damaged. */
  stream: PlatformReadableStream;
  /** Resolves when the stream has been read to its end. */
  done: Promise<Omit<Materialized, "bytes">>;
}

/** The chain to walk. */
export interface ChainWalkOptions {
  /** First commit; without one the walk is empty. */
  commit?: string | null | undefined;
  /** How far to walk. Default `compaction`. */
  stop?: Stop | undefined;
  /** Keeps only the ids of the records that `push` returns, so that nothing can be planned afterwards. */
  passing?: boolean | undefined;
  limits?: Limits | undefined;
}

/** Progress of a materialization. */
export interface MaterializeProgress {
  /** Blobs already in the result. */
  done: number;
  /** Total number of blobs. */
  total: number;
  /** Bytes of the blobs already in the result. */
  bytes: number;
}

/**
 * Fetches a blob. The buffer of the returned bytes must not be transferred afterwards. `undefined` and rejections are
 * retried.
 */
export type FetchBlob = (artifactRef: string, options: { signal: PlatformAbortSignal }) => Promise<Bytes> | Bytes;

/** Fields common to all commits of a session, and when a commit is due. */
export interface CheckpointerOptions extends Provenance {
  /** The format of the messages. */
  format: CommitFormat;
  /** The commit that the session continues; without it the session begins a new history. */
  parent?: string | null | undefined;
  /** Number of turns after which a commit is due. Default 1. */
  every?: number | undefined;
  /** Whether a commit is also due after each tool result. Default false. */
  tool_calls?: boolean | undefined;
  limits?: Limits | undefined;
}

/** Fields of one checkpoint. */
export interface CheckpointFields {
  /** Time of creation: RFC 3339, a `Date`, or milliseconds as `Date.now()` returns them. */
  created_at: string | number | Date;
  summary?: string | undefined;
  tags?: readonly string[] | undefined;
}

/** Fields of one compaction. */
export interface CompactionFields extends CheckpointFields {
  /**
   * The `position` when the summary was begun. Default: all messages. Later messages stay pending and come after the
   * compaction.
   */
  covered?: number | undefined;
}

/** A commit for the host to store: the blob first, then the record. */
export interface OfferedCommit {
  id: string;
  record: CommitRecord;
  artifactRef: string;
  blob: Uint8Array<ArrayBuffer>;
  /** Present if there are any. */
  diagnostics?: Diagnostic[];
}
