/**
 * Context commits. Requests and records are snake_case, since agents and stored files use them so; plans and results are
 * camelCase, as the rest of the library.
 */

import type { Diagnostic, Limits } from "./common.js";
import type { PlatformAbortSignal, PlatformReadableStream } from "./platform.js";

/** What the artifact of a commit is: what is new since the parent, a summary in its place, or all of it. */
export type CommitType = "delta" | "compaction" | "snapshot";

/** Why a commit was made. */
export type CheckpointTrigger = "turn_boundary" | "tool_call" | "compaction" | "session_end" | "explicit";

/** A format that is known; records may name others. */
export type CommitFormat =
  "bureau-agent-v1" | "claude-code-v1" | "codex-v0" | "codex-v1" | "gemini-v1" | "generic-v1" | (string & {});

/** The record of a commit. Fields that are not listed stay what they are. */
export interface CommitRecord {
  /** `ctx-` and 16 hex digits; records from elsewhere have other forms. */
  id: string;
  /** 1; records of later versions can be read, not changed. */
  version: number;
  /** The commit before it; absent for the root of a conversation. */
  parent?: string;
  /** A later version may have more. */
  commit_type: CommitType | (string & {});
  /** The blob: `blake3:` and 64 hex digits. */
  artifact_ref: string;
  /** The format of the blob. */
  format: CommitFormat;
  /** What kind of agent it is. */
  template?: string;
  /** Who executed it. */
  principal?: string;
  /** Where it ran. */
  machine?: string;
  session_id?: string;
  /** A later version may have more. */
  checkpoint?: CheckpointTrigger | (string & {});
  ticket_id?: string;
  thread_id?: string;
  /** What the agent understood, for people. May be changed. */
  summary?: string;
  /** Words to find it by. May be changed. */
  tags?: string[];
  /** Messages in the blob. */
  message_count?: number;
  /** Tokens of the blob, approximately. */
  token_count?: number;
  /** When it was made, RFC 3339. */
  created_at: string;
  /** Fields of later versions, and of those who have fields of their own. */
  [field: string]: unknown;
}

/** What a commit is made of. Its id follows from `parent`, `artifact_ref`, `created_at` and `template`. */
export interface CheckpointRequest {
  /** Only of a record that was made before; it must be the id that follows. */
  id?: string;
  version?: number;
  /** Absent, null or empty for the root of a conversation. */
  parent?: string | null;
  /** Default `delta`. */
  commit_type?: CommitType | (string & {});
  /** The full ref, or the short form of one that the graph knows. */
  artifact_ref: string;
  format: CommitFormat;
  template?: string | null;
  principal?: string | null;
  machine?: string | null;
  session_id?: string | null;
  /** Default `explicit`. */
  checkpoint?: CheckpointTrigger | (string & {}) | null;
  ticket_id?: string | null;
  thread_id?: string | null;
  summary?: string | null;
  tags?: readonly string[] | null;
  message_count?: number | null;
  token_count?: number | null;
  /** RFC 3339 with an offset or `Z`, a `Date`, or milliseconds as `Date.now()` gives them. */
  created_at: string | number | Date;
  /** Kept as it is. */
  [field: string]: unknown;
}

/** What `checkpoint` gives. */
export interface CheckpointResult {
  id: string;
  record: CommitRecord;
  /** Where something had to be repaired, or the commit was there already with another summary or other tags. */
  diagnostics?: Diagnostic[];
}

/** What may change of a commit; null takes away. */
export interface MetadataUpdate {
  summary?: string | null;
  tags?: readonly string[] | null;
}

/** How `importJsonl` brings two records of one commit together. */
export interface ImportJsonlOptions {
  /**
   * Which summary and tags stay where they differ, which is `metadata_conflict` in any case. `merge`, the default: what is
   * there wins over what is not, and of two the one that sorts last, so that the order of imports does not matter. `keep`:
   * those of the record that was there first. `replace`: those of the record that came last. With these two a record without
   * a summary has that to say: a summary that was deleted stays deleted (`keep`), or is deleted (`replace`).
   */
  metadata?: "merge" | "keep" | "replace";
}

/** How `exportJsonl` writes. */
export interface ExportJsonlOptions {
  /**
   * Adds a last line, `{ "digest": … }`: the artifact ref of the lines before it. `importJsonl` checks it, whatever was done
   * to the white space, and `digest_mismatch` says that a record was altered, added or lost. Default false.
   */
  digest?: boolean;
}

/** What `importJsonl` did. */
export interface ImportReport {
  /** Ids of the commits that are new, sorted. */
  added: string[];
  /** Records that were there already. */
  unchanged: number;
  /** Records whose summary or tags were taken over. */
  updated: number;
  /** Records that are what a digest says they were; absent where there was none, or none that agreed. */
  verified?: number;
  diagnostics: Diagnostic[];
}

/**
 * How far back: to the nearest compaction or snapshot, which is the beginning of the result; to the root, with all deltas
 * and without the compactions that summarise them; or to a commit, by its id, which is the beginning of the result.
 */
export type Stop = "compaction" | "root" | (string & {});

/** What to materialise. */
export interface MaterializationRequest {
  /** A tip resumes, any other commit forks, none starts afresh. */
  commit?: string | null;
  /** Default `compaction`. */
  stop?: Stop;
  /** The format of the result. By default that of the commit, and `generic-v1` without one. */
  format?: CommitFormat;
  /** What becomes of the turns of another family of formats: a narrative (default), or turns of the format asked for. */
  crossFamily?: "render" | "transcode";
  /**
   * Whether the kinds of the records are looked at where blobs are joined as they are, so that those that are not known,
   * and damaged lines, are diagnostics. Default true; false is faster.
   */
  inspect?: boolean;
}

/** A commit of the chain, and what becomes of it. */
export interface PlanStep {
  id: string;
  artifactRef: string;
  commitType: CommitType | (string & {});
  format: CommitFormat;
  /** Whether its blob is part of the result. */
  included: boolean;
  /**
   * Why, or why not: it holds what was new; the result begins with it; the deltas that it summarises, or repeats, are
   * there themselves.
   */
  reason: "delta" | "start" | "summarised" | "repeated";
}

/** What a materialisation needs, and of what it is made. */
export interface MaterializationPlan extends MaterializationRequest {
  stop: Stop;
  format: CommitFormat;
  /** The blobs to fetch, each once, in the order in which they are needed first. */
  refs: string[];
  /** From the first commit that was looked at to the one that was asked for. */
  steps: PlanStep[];
  /** The same for everything that gives the same bytes: a result can be cached under it. */
  cacheKey: string;
  diagnostics: Diagnostic[];
}

/**
 * How close a result is to what was stored: joined as it was, mapped to another version, written again as turns (on demand),
 * narrated, or as found.
 */
export type Tier = "native" | "fields" | "transcode" | "rendering" | "raw";

/** A conversation, materialised. */
export interface Materialized {
  bytes: Uint8Array<ArrayBuffer>;
  /** The ref of the bytes. */
  artifactRef: string;
  format: CommitFormat;
  tier: Tier;
  /** As the records say, and counted where one does not say. */
  messageCount: number;
  /** Approximately; as the records say, and estimated where one does not say. */
  tokenCount: number;
  diagnostics: Diagnostic[];
}

/** What a snapshot has for itself. What it does not say is as in the commit that was materialised. */
export interface SnapshotFields {
  /** When it is: RFC 3339, a `Date`, or milliseconds as `Date.now()` gives them. */
  created_at: string | number | Date;
  summary?: string;
  tags?: readonly string[];
  /** Default `explicit`. */
  checkpoint?: CheckpointTrigger;
  template?: string;
  principal?: string;
  machine?: string;
  session_id?: string;
  ticket_id?: string;
  thread_id?: string;
  /** Kept as it is. */
  [field: string]: unknown;
}

/** Bytes, however they are held. */
export type Bytes = ArrayBuffer | ArrayBufferView;

/** Blobs by their ref, as a plan lists it. */
export type Blobs = ReadonlyMap<string, Bytes>;

/** Options of a graph. */
export interface CommitGraphOptions {
  limits?: Limits;
}

/** How blobs are fetched. */
export interface MaterializeWithOptions {
  /** How many at a time. Default 8. */
  concurrency?: number;
  /** How often a fetch that failed, or whose blob is not the right one, is repeated. Default 1. */
  retries?: number;
  /** Told after each blob. */
  onProgress?: (progress: MaterializeProgress) => void;
  /** Ends it all. */
  signal?: PlatformAbortSignal;
}

/** How blobs of a stream are fetched. */
export interface MaterializeStreamOptions {
  /** How many at a time. Default 4. */
  concurrency?: number;
  /** How often a fetch that failed, or whose blob is not the right one, is repeated. Default 1. */
  retries?: number;
  /** Ends it all. */
  signal?: PlatformAbortSignal;
}

/** A conversation as a stream. */
export interface MaterializedStream {
  /** The bytes. It fails where something is missing or damaged. */
  stream: PlatformReadableStream;
  /** What is known of it once it was read to its end. */
  done: Promise<Omit<Materialized, "bytes">>;
}

/** Which chain to walk. */
export interface ChainWalkOptions {
  /** Where it begins; without one there is nothing to walk. */
  commit?: string | null;
  /** How far it goes. Default `compaction`. */
  stop?: Stop;
  /** Whether only the records that `push` gives are of interest: then no more than their ids are kept, and nothing can be planned. */
  passing?: boolean;
  limits?: Limits;
}

/** How far it is. */
export interface MaterializeProgress {
  /** Blobs that are in the result. */
  done: number;
  /** Blobs that will be. */
  total: number;
  /** Bytes of those that are. */
  bytes: number;
}

/** Brings a blob: bytes, whose buffer must not be transferred afterwards. `undefined` and a failure are tried again. */
export type FetchBlob = (artifactRef: string, options: { signal: PlatformAbortSignal }) => Promise<Bytes> | Bytes;

/** What every commit of a session has in common, and when one is due. */
export interface CheckpointerOptions {
  /** The format of the messages. */
  format: CommitFormat;
  /** The commit that the session continues; none starts afresh. */
  parent?: string | null;
  /** After how many turns a commit is due. Default 1. */
  every?: number;
  /** Whether one is due after each tool result too. Default false. */
  tool_calls?: boolean;
  template?: string;
  principal?: string;
  machine?: string;
  session_id?: string;
  ticket_id?: string;
  thread_id?: string;
  limits?: Limits;
}

/** What one checkpoint has for itself. */
export interface CheckpointFields {
  /** When it is: RFC 3339, a `Date`, or milliseconds as `Date.now()` gives them. */
  created_at: string | number | Date;
  summary?: string;
  tags?: readonly string[];
}

/** What one compaction has for itself. */
export interface CompactionFields extends CheckpointFields {
  /** The `position` when the summary was begun. Default: all messages. Later ones stay pending and come after it. */
  covered?: number;
}

/** A commit for the host to store: first the blob, then the record. */
export interface OfferedCommit {
  id: string;
  record: CommitRecord;
  artifactRef: string;
  blob: Uint8Array<ArrayBuffer>;
  /** Where something was found. */
  diagnostics?: Diagnostic[];
}
