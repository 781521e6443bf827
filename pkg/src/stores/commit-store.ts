/** Commits in a store: the order of writes, and reading them back. */

import { checkedSignal, raceAbort } from "../api/abort.js";
import { checkedFunction, checkedOptions, invalid } from "../api/checked.js";
import { checkedBytes, checkWhole } from "../api/commits/bytes.js";
import { Verification, verification } from "../api/commits/verification.js";
import { materializeStream, materializeWith, shortRef } from "../entries/commits.js";
import { CtxweaveError } from "../error.js";
import { guarded } from "../source.js";
import type {
  Bytes,
  CheckpointRequest,
  CommitRecord,
  MaterializationPlan,
  MaterializationRequest,
  Materialized,
  MaterializeStreamOptions,
  MaterializeWithOptions,
  MetadataUpdate,
  SnapshotFields,
  VerifyArtifact,
} from "../types/commits.js";
import type { Diagnostic, DriverOptions } from "../types/common.js";
import type { PlatformAbortSignal } from "../types/platform.js";
import type {
  CommitStoreOptions,
  ForkedHead,
  GarbageOptions,
  Store,
  StoreCheckpoint,
  StoreCheckpointOptions,
  StoredCommit,
  StoredStream,
  StoreHead,
  StoreHistoryOptions,
  StoreReadOptions,
  StoreSnapshotOptions,
} from "../types/stores.js";
import { StoreCalls } from "./calls.js";
import { condemned, garbage, keysOf } from "./collection.js";
import { allHeads, headValue, madeHead, nextValue } from "./heads.js";
import { blobKey, headKey, type Index, isFullRef, isShortRef, mayBeShortRef, resultKey } from "./keys.js";
import { lacksSummary, Records, refOf, type Sealed } from "./records.js";

/** The calls and the records of one operation, which end when its signal is aborted. */
interface Access {
  calls: StoreCalls;
  records: Records;
  signal: PlatformAbortSignal | undefined;
}

/** Number of attempts to move a head while other writers are faster or its keys are being collected. */
const TRIES = 200;
/** Characters of a result that is kept, without its bytes. */
const LONGEST_RESULT = 10_000;
const TRIES_WHILE_COLLECTED = 12;

/**
 * Commits in a store of the host. A checkpoint writes its blob, its record, then its head. It is stored once the head
 * leads to it, and by then everything that it needs is stored. A failure before that changes nothing and can be
 * retried. See docs/stores.md.
 *
 * Call `init` first.
 */
export class CommitStore {
  readonly #calls: StoreCalls;
  readonly #records: Records;
  readonly #isCaching: boolean;

  constructor(store: Store, options: CommitStoreOptions = {}) {
    const known = ["retries", "delay", "timeout", "pageSize", "cache", "limits"] as const;
    const checked = checkedOptions(options, known);
    const { retries = 3, delay = 20, timeout = 30_000, pageSize = 256, cache = false, limits } = checked;
    for (const name of ["get", "put", "compareAndSet", "list"] as const) {
      if (typeof guarded("store", () => (store as Partial<Store> | undefined)?.[name]) !== "function") {
        throw invalid("store", `an object with a function \`${name}\``);
      }
    }
    checkWhole(retries, "options.retries", 0);
    checkWhole(delay, "options.delay", 0);
    checkWhole(timeout, "options.timeout", 1);
    checkWhole(pageSize, "options.pageSize", 1);
    if (typeof cache !== "boolean") throw invalid("options.cache", "true or false");
    this.#isCaching = cache;
    this.#calls = new StoreCalls(store, { retries, delay, timeout });
    this.#records = new Records(this.#calls, { pageSize, limits });
  }

  /** The commit of a head; undefined for a missing head. */
  async head(name: string, options: DriverOptions = {}): Promise<string | undefined> {
    const { calls } = this.#within(checkedOptions(options, ["signal"]).signal);
    return headValue((await calls.text(headKey(name))) ?? "0").commit;
  }

  /** All heads. */
  async *heads(options: DriverOptions = {}): AsyncGenerator<StoreHead> {
    yield* allHeads(this.#within(checkedOptions(options, ["signal"]).signal).calls);
  }

  /**
   * Stores a commit and moves the head to it. Without `parent` it follows the head's commit, and a missing head is
   * created. With `parent` the call is idempotent: a commit that is already stored is returned.
   *
   * If another writer was faster, a delta is stored after that writer's commit; see `onConflict`.
   *
   * @throws {CtxweaveError} `head_conflict` if another writer was faster, for a compaction or a snapshot and, with
   *   `onConflict: "error"`, for a delta, and for a `parent` that is not an ancestor of the head; `store_failed`,
   *   `store_busy`, and those of `CommitGraph.checkpoint`. The head then does not lead to the commit, unless the store
   *   could not report whether it does
   */
  async checkpoint(
    head: string,
    request: StoreCheckpoint,
    blob: Bytes,
    options: StoreCheckpointOptions = {},
  ): Promise<StoredCommit> {
    const { onConflict = "rebase", signal } = checkedOptions(options, ["onConflict", "signal"]);
    const access = this.#within(signal);
    const { calls, records } = access;
    if (onConflict !== "rebase" && onConflict !== "error") throw invalid("options.onConflict", "`rebase` or `error`");
    if (typeof request !== "object" || request === null) throw invalid("request", "an object");
    const key = headKey(head);
    // A copy: it is stored later, and the caller may change the buffer.
    const bytes = checkedBytes(blob, "blob").slice();
    const fields = guarded("request", () => ({ ...request }));
    const asked = { ...fields, artifact_ref: refOf(bytes, fields.artifact_ref) } as CheckpointRequest;
    let first: { parent: string | undefined; id: string } | undefined;
    let sealed: Sealed | undefined;
    // The parent of the last attempt: a commit that it stored comes after this one.
    let until: string | undefined;
    let written: string | undefined | null = null;
    for (let tries = 0, collected = 0; tries < TRIES; tries += 1) {
      if (tries > 0) await calls.pause(Math.min(tries, 4));
      // Reads the head before the collection: see collection.ts.
      const at = await madeHead(calls, key);
      const collection = await condemned(calls);
      const from = first ? first.parent : asked.parent === undefined ? at.commit : asked.parent || undefined;
      let parent = from;
      if (at.commit !== from) {
        const like = sealed ?? records.seal({ ...asked, parent: null, id: undefined } as never, undefined);
        const there = await this.#since(access, at.commit, sealed ? until : from, like.record);
        if (there === "elsewhere" || (!there && !canFollow(like.record, onConflict))) {
          const id = first?.id ?? like.id;
          throw headConflict(head, at.commit, from === undefined || sealed ? id : from);
        }
        if (there) return stored({ ...like, id: there.id, record: there }, from);
        if (sealed && sealed.record.parent !== at.commit) await records.list(sealed.record, "-");
        parent = at.commit;
      }
      const moved = {
        ...asked,
        parent: parent ?? null,
        ...(parent !== from && { id: undefined }),
      } as CheckpointRequest;
      sealed = records.seal(moved, parent === undefined ? undefined : (await records.read(parent)).text);
      first ??= { parent: from, id: sealed.id };
      until = parent;
      const keys = keysOf(sealed.record, records);
      if (keys.some((key) => collection.keys.has(key))) {
        if ((collected += 1) > TRIES_WHILE_COLLECTED) throw beingCollected(head, keys);
        continue;
      }
      // A collection in between may have deleted the keys written before.
      if (written !== collection.value) {
        await Promise.all([calls.put(blobKey(asked.artifact_ref), bytes), records.list(sealed.record, "+")]);
      } else await records.list(sealed.record, "+");
      written = collection.value;
      sealed = await records.store(sealed, moved);
      if (await calls.compareAndSet(key, at.text, nextValue(at, sealed.id))) return stored(sealed, from);
    }
    throw headConflict(head, await this.head(head, { signal }), first?.id ?? "");
  }

  /**
   * Creates a head at an existing commit, after checking its whole chain. Idempotent.
   *
   * @throws {CtxweaveError} `commit_not_found` for the commit or one of its ancestors, `blob_missing` or `blob_mismatch`
   *   for its blob, `head_conflict` if the head is at another commit, `store_busy`, `store_failed`
   */
  async fork(commit: string, head: string, options: StoreReadOptions = {}): Promise<ForkedHead> {
    const { signal, verifyArtifact } = checkedOptions(options, ["signal", "verifyArtifact"]);
    const access = this.#within(signal);
    const { calls, records } = access;
    if (checkedText(commit, "commit") === "") throw invalid("commit", "the id of a commit");
    const key = headKey(head);
    for (let tries = 0, collected = 0; tries < TRIES; tries += 1) {
      if (tries > 0) await calls.pause(Math.min(tries, 4));
      const at = await madeHead(calls, key);
      if (at.commit === commit) return {};
      if (at.commit !== undefined) throw headConflict(head, at.commit, commit);
      const collection = await condemned(calls);
      let tip: CommitRecord | undefined;
      let isCollected = false;
      for await (const record of records.history(commit)) {
        tip ??= record;
        isCollected ||= keysOf(record, records).some((key) => collection.keys.has(key));
      }
      if (isCollected) {
        if ((collected += 1) > TRIES_WHILE_COLLECTED) throw beingCollected(head, [commit]);
        continue;
      }
      let diagnostics: Diagnostic[] = [];
      if (tip) {
        ({ diagnostics } = await this.#readBlob(access, tip, verifyArtifact));
        await records.list(tip, "+");
      }
      if (await calls.compareAndSet(key, at.text, nextValue(at, commit))) return reported({}, diagnostics);
    }
    throw headConflict(head, await this.head(head, { signal }), commit);
  }

  /** Deletes a head. Its commits remain until they are collected, unless another head leads to them. */
  async dropHead(head: string, options: DriverOptions = {}): Promise<void> {
    const { calls } = this.#within(checkedOptions(options, ["signal"]).signal);
    await calls.update(headKey(head), (text) => {
      if (text === undefined) return undefined;
      const value = headValue(text);
      return value.commit === undefined ? undefined : nextValue(value, undefined);
    });
  }

  /**
   * The record of a commit.
   *
   * @throws {CtxweaveError} `commit_not_found`, `record_mismatch`, `store_failed`
   */
  async show(id: string, options: DriverOptions = {}): Promise<CommitRecord> {
    const { records } = this.#within(checkedOptions(options, ["signal"]).signal);
    return (await records.read(id)).record;
  }

  /**
   * The records from a commit towards its root, or the first `depth` of them. One page is in memory at a time; the
   * `parent` of the last one is where to continue.
   *
   * @throws {CtxweaveError} those of `CommitGraph.history`, `record_mismatch`, `store_failed`
   */
  async *history(id: string, options: StoreHistoryOptions = {}): AsyncGenerator<CommitRecord> {
    const { depth, signal } = checkedOptions(options, ["depth", "signal"]);
    const { records } = this.#within(signal);
    checkWhole(depth, "options.depth", 0);
    // 0 is no limit, as in a graph.
    let left = depth || Infinity;
    for await (const record of records.history(id)) {
      yield record;
      left -= 1;
      if (left === 0) return;
    }
  }

  /**
   * The latest commit of a principal at or before a time, as in a graph.
   *
   * @throws {CtxweaveError} `ambiguous_commit`, `store_failed`
   */
  async resolve(
    principal: string,
    time: string | number | Date,
    options: DriverOptions = {},
  ): Promise<CommitRecord | undefined> {
    return this.#within(checkedOptions(options, ["signal"]).signal).records.resolve(principal, time);
  }

  /** Changes the summary or the tags of a commit; returns its record. */
  async updateMetadata(id: string, fields: MetadataUpdate, options: DriverOptions = {}): Promise<CommitRecord> {
    const { records } = this.#within(checkedOptions(options, ["signal"]).signal);
    // A commit without a summary is listed whatever fails: before its summary is removed, or after it was set.
    const summary = guarded("fields", () => fields?.summary);
    const before = summary === undefined ? undefined : await records.find(id);
    if (before) await records.markSummary(before.record, "+");
    const record = await records.update(id, (graph) => graph.updateMetadata(id, fields));
    if (before && !lacksSummary(record)) {
      await records.markSummary(record, "-");
      // Another writer may have removed it again.
      if (lacksSummary((await records.read(id)).record)) await records.markSummary(record, "+");
    }
    return record;
  }

  /** The commits of a ticket, by time, then id. A page is in memory at a time. */
  byTicket(ticketId: string, options?: DriverOptions): AsyncGenerator<CommitRecord> {
    return this.#indexed("ticket", checkedText(ticketId, "ticketId"), (it) => it.ticket_id === ticketId, options);
  }

  /** The commits of a thread, by time, then id. */
  byThread(threadId: string, options?: DriverOptions): AsyncGenerator<CommitRecord> {
    return this.#indexed("thread", checkedText(threadId, "threadId"), (it) => it.thread_id === threadId, options);
  }

  /** The commits of a session, by time, then id. */
  bySession(sessionId: string, options?: DriverOptions): AsyncGenerator<CommitRecord> {
    const isOf = (record: CommitRecord): boolean => record.session_id === sessionId;
    return this.#indexed("session", checkedText(sessionId, "sessionId"), isOf, options);
  }

  /** The commits without a summary, by time, then id. `summarizeMissing` gives them one. */
  lackingSummary(options?: DriverOptions): AsyncGenerator<CommitRecord> {
    return this.#indexed("unsummarized", "-", lacksSummary, options);
  }

  /**
   * The direct children of a commit, by time, then id.
   *
   * @throws {CtxweaveError} `commit_not_found`, `store_failed`
   */
  async *children(id: string, options: DriverOptions = {}): AsyncGenerator<CommitRecord> {
    await this.show(id, options);
    yield* this.#indexed("parent", id, ({ parent }) => parent === id, options);
  }

  /** The tips of the branches: the commits of heads that have no children, each once. */
  async *tips(options: DriverOptions = {}): AsyncGenerator<CommitRecord> {
    const seen = new Set<string>();
    for await (const { commit } of this.heads(options)) {
      if (seen.has(commit)) continue;
      seen.add(commit);
      const child = await this.children(commit, options).next();
      if (child.done) yield await this.show(commit, options);
    }
  }

  /**
   * Stores the conversation of a head as a snapshot commit, and moves the head to it. Fields default to those of the
   * head's commit. The diagnostics include those of the materialization, such as `artifact_unverified`.
   *
   * @throws {CtxweaveError} `invalid_input` for a missing head; those of `materialize` and `checkpoint`
   */
  async snapshot(head: string, fields: SnapshotFields, options: StoreSnapshotOptions = {}): Promise<StoredCommit> {
    const { signal } = checkedOptions(options, ["concurrency", "retries", "signal", "verifyArtifact"]);
    const given = guarded("fields", () => ({ ...fields }));
    const commit = await this.head(head, { signal });
    if (commit === undefined) throw invalid("head", "the name of a head with a commit");
    const { bytes, format, messageCount, tokenCount, diagnostics } = await this.materialize({ commit }, options);
    const { template, principal, machine, session_id, ticket_id, thread_id } = await this.show(commit, { signal });
    const provenance = { template, principal, machine, session_id, ticket_id, thread_id };
    const known = Object.fromEntries(Object.entries(provenance).filter(([, value]) => value !== undefined));
    const request = { ...known, checkpoint: "explicit", ...given, commit_type: "snapshot", format, parent: commit };
    const counted = { ...request, message_count: messageCount, token_count: tokenCount };
    const stored = await this.checkpoint(head, counted as StoreCheckpoint, bytes, { signal });
    return reported(stored, [...diagnostics, ...(stored.diagnostics ?? [])]);
  }

  /**
   * Plans a materialization, with only the records of the chain in memory.
   *
   * @throws {CtxweaveError} those of `CommitGraph.planMaterialization`, `record_mismatch`, `store_failed`
   */
  async planMaterialization(
    request: MaterializationRequest,
    options: DriverOptions = {},
  ): Promise<MaterializationPlan> {
    const { records } = this.#within(checkedOptions(options, ["signal"]).signal);
    const walk = await records.walked(request);
    try {
      return walk.planMaterialization(request);
    } finally {
      walk.free();
    }
  }

  /**
   * Materializes a conversation; see `materializeWith`.
   *
   * @throws {CtxweaveError} those of `planMaterialization`, `blob_missing`, `blob_mismatch`; the signal's reason when
   *   it is aborted
   */
  async materialize(request: MaterializationRequest, options: MaterializeWithOptions = {}): Promise<Materialized> {
    const checked = checkedOptions(options, ["concurrency", "retries", "onProgress", "signal", "verifyArtifact"]);
    const { calls, records } = this.#within(checked.signal);
    const walk = await records.walked(request);
    try {
      const key = this.#isCaching ? keptKey(walk.planMaterialization(request)) : undefined;
      const known = key === undefined ? undefined : await cached(calls, key);
      if (known) return known;
      const made = await materializeWith(walk, request, (ref) => records.blob(ref), checked);
      if (key !== undefined) await keep(calls, key, made);
      return made;
    } finally {
      walk.free();
    }
  }

  /**
   * Materializes a conversation as a stream, and returns its plan; see `materializeStream`.
   *
   * @throws {CtxweaveError} those of `planMaterialization`; later, from the stream, `blob_missing`, `blob_mismatch`
   */
  async materializeStream(
    request: MaterializationRequest,
    options: MaterializeStreamOptions = {},
  ): Promise<StoredStream> {
    const checked = checkedOptions(options, ["concurrency", "retries", "signal", "verifyArtifact"]);
    const { records } = this.#within(checked.signal);
    const walk = await records.walked(request);
    try {
      const plan = walk.planMaterialization(request);
      return { plan, ...materializeStream(walk, request, (ref) => records.blob(ref), checked) };
    } finally {
      walk.free();
    }
  }

  /**
   * The blob of a commit, verified: one with a ref of another store only with `verifyArtifact`.
   *
   * @throws {CtxweaveError} `blob_missing`, `blob_mismatch`, `commit_not_found`, `store_failed`
   */
  async blob(id: string, options: StoreReadOptions = {}): Promise<Uint8Array> {
    const { signal, verifyArtifact } = checkedOptions(options, ["signal", "verifyArtifact"]);
    const access = this.#within(signal);
    const { record } = await access.records.read(id);
    const { blob, diagnostics } = await this.#readBlob(access, record, verifyArtifact);
    // Bytes cannot carry a diagnostic.
    if (diagnostics.length > 0) throw mismatch(record, refOf(blob, undefined), verifyArtifact);
    return blob;
  }

  /**
   * Lists the keys that no head leads to: records, their list entries, blobs. Delete each batch before requesting the
   * next: until then writers that need one of its keys wait. Only one collection can run at a time.
   *
   * @throws {CtxweaveError} `store_busy` while another one runs; those of `history` if a chain is damaged, because then
   *   garbage cannot be determined
   */
  async *garbage(options: GarbageOptions = {}): AsyncGenerator<string[], void, undefined> {
    const { batch = 500, patience = 3_600_000, signal } = checkedOptions(options, ["batch", "patience", "signal"]);
    const { calls, records } = this.#within(signal);
    checkWhole(batch, "options.batch", 1);
    checkWhole(patience, "options.patience", 0);
    yield* garbage(calls, records, { batch, patience });
  }

  /**
   * Searches the chain from `commit` back to `until` for a commit that equals `like` except for its parent: an earlier
   * attempt stored it. Returns `elsewhere` if `until` is not in the chain.
   */
  async #since(
    { records }: Access,
    commit: string | undefined,
    until: string | undefined,
    like: CommitRecord,
  ): Promise<CommitRecord | "elsewhere" | undefined> {
    if (commit === undefined) return until === undefined ? undefined : "elsewhere";
    const wanted = said(like);
    for await (const record of records.history(commit)) {
      if (record.id === until) return undefined;
      if (record.artifact_ref === like.artifact_ref && said(record) === wanted) return record;
    }
    return until === undefined ? undefined : "elsewhere";
  }

  /**
   * The blob of a record. One with a ref of another store is verified by the caller's function; without it, a diagnostic
   * is reported.
   */
  async #readBlob(
    { records, signal }: Access,
    record: CommitRecord,
    verifyArtifact: VerifyArtifact | undefined,
  ): Promise<{ blob: Uint8Array; diagnostics: Diagnostic[] }> {
    checkedFunction(verifyArtifact, "options.verifyArtifact");
    const { id, artifact_ref: artifactRef } = record;
    for (let tries = 0; ; tries += 1) {
      const blob = await records.blob(artifactRef).catch((cause: unknown) => {
        checkedSignal(signal);
        if (cause instanceof CtxweaveError) throw cause;
        const message = `the blob \`${artifactRef}\` of commit \`${id}\` is not in the store`;
        throw new CtxweaveError("blob_missing", message, { commitId: id, artifactRef });
      });
      const actualRef = refOf(blob, undefined);
      const isVerified = isShortRef(artifactRef)
        ? shortRef(actualRef) === artifactRef
        : blobKey(actualRef) === blobKey(artifactRef);
      if (isVerified) return { blob, diagnostics: [] };
      if (!isFullRef(artifactRef)) {
        if (verifyArtifact) {
          const result = await raceAbort(verification(verifyArtifact, artifactRef, blob.slice()), signal);
          if (result === Verification.Confirmed) return { blob, diagnostics: [] };
        } else if (!mayBeShortRef(artifactRef)) return { blob, diagnostics: [unverified(artifactRef)] };
      }
      if (tries > 0) throw mismatch(record, actualRef, verifyArtifact);
    }
  }

  /** The records with a property. */
  async *#indexed(
    index: Index,
    value: string,
    has: (record: CommitRecord) => boolean,
    options: DriverOptions = {},
  ): AsyncGenerator<CommitRecord> {
    yield* this.#within(checkedOptions(options, ["signal"]).signal).records.indexed(index, value, has);
  }

  #within(given: unknown): Access {
    const signal = checkedSignal(given);
    return { calls: this.#calls.within(signal), records: this.#records.within(signal), signal };
  }
}

/**
 * The key of the result of a plan; undefined if it must not be kept, because it depends on `verifyArtifact` whether the
 * caller gets it.
 */
function keptKey({ refs, cacheKey }: MaterializationPlan): string | undefined {
  return refs.every(isFullRef) ? resultKey(cacheKey) : undefined;
}

/** A result that was kept, unless it was evicted or damaged. */
async function cached(calls: StoreCalls, key: string): Promise<Materialized | undefined> {
  const text = await calls.text(key);
  if (text === undefined) return undefined;
  const kept = JSON.parse(text) as Omit<Materialized, "bytes">;
  const bytes = await calls.get(blobKey(kept.artifactRef));
  return bytes && refOf(bytes, undefined) === kept.artifactRef ? { ...kept, bytes } : undefined;
}

/** Keeps a result: its bytes as a blob, and the rest under the cache key. */
async function keep(calls: StoreCalls, key: string, { bytes, ...rest }: Materialized): Promise<void> {
  const text = JSON.stringify(rest);
  // Values other than blobs are short.
  if (text.length > LONGEST_RESULT) return;
  await calls.put(blobKey(rest.artifactRef), bytes);
  await calls.update(key, () => text);
}

/** A result with its diagnostics, if there are any. */
function reported<Result extends object>(
  result: Result,
  diagnostics: Diagnostic[],
): Result & { diagnostics?: Diagnostic[] } {
  return { ...result, ...(diagnostics.length > 0 && { diagnostics }) };
}

function unverified(artifactRef: string): Diagnostic {
  const message = `the ref \`${artifactRef}\` is of another store, so its blob was used unverified; pass \`verifyArtifact\``;
  return { code: "artifact_unverified", severity: "warning", message };
}

function mismatch(
  { id, artifact_ref: artifactRef }: CommitRecord,
  actualRef: string,
  verifyArtifact: VerifyArtifact | undefined,
): CtxweaveError {
  const canVerify = isFullRef(artifactRef) || verifyArtifact !== undefined;
  const advice = canVerify
    ? "it was damaged, or it is another blob"
    : "pass `verifyArtifact` if the ref is of another store";
  const message = `the blob for commit \`${id}\` has the ref \`${actualRef}\`, not \`${artifactRef}\`; ${advice}`;
  return new CtxweaveError("blob_mismatch", message, { commitId: id, artifactRef, actualRef });
}

function checkedText(value: unknown, path: string): string {
  if (typeof value !== "string") throw invalid(path, "a string");
  return value;
}

/** Whether a commit may be stored after another writer's commit. */
function canFollow(record: CommitRecord, onConflict: "rebase" | "error"): boolean {
  return onConflict === "rebase" && record.commit_type === "delta";
}

/** The content of a commit, without mutable fields and its position. */
function said(record: CommitRecord): string {
  const changing = ["id", "parent", "summary", "tags"];
  return JSON.stringify(Object.entries(record).filter(([name]) => !changing.includes(name)));
}

function stored({ id, record, diagnostics }: Sealed, from: string | undefined): StoredCommit {
  return {
    id,
    record,
    ...(record.parent !== from && { rebased: true as const }),
    ...(diagnostics.length > 0 && { diagnostics }),
  };
}

function headConflict(head: string, actual: string | undefined, commitId: string): CtxweaveError {
  const place = actual === undefined ? "not set" : `at \`${actual}\``;
  const message = `the head \`${head}\` is ${place}, and \`${commitId}\` is not based on it; read the head and try again, or fork`;
  return new CtxweaveError("head_conflict", message, { head, commitId, ...(actual !== undefined && { actual }) });
}

function beingCollected(head: string, keys: string[]): CtxweaveError {
  const message = `commits of \`${head}\` are being collected as garbage; try again when the collection has ended`;
  return new CtxweaveError("store_busy", message, { head, keys });
}
