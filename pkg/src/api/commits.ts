/// <reference lib="esnext.disposable" preserve="true" />
/** Context commits: the graph of records, materialisation, checkpoints. */

import { CtxweaveError } from "../error.js";
import type * as glue from "../glue.js";
import { call, instance } from "../runtime.js";
import { asBytes } from "../source.js";
import type {
  Blobs,
  Bytes,
  CheckpointerOptions,
  CheckpointFields,
  CheckpointRequest,
  CheckpointResult,
  CheckpointTrigger,
  CommitGraphOptions,
  CommitRecord,
  CompactionFields,
  FetchBlob,
  ImportReport,
  MaterializationPlan,
  MaterializationRequest,
  Materialized,
  MaterializeWithOptions,
  MetadataUpdate,
  OfferedCommit,
  SnapshotFields,
} from "../types/commits.js";
import { checkedText, invalid } from "./checked.js";

/** The ref of a blob: `blake3:` and the 64 hex digits of its BLAKE3 hash. */
export function artifactRef(blob: Bytes): string {
  return call((raw) => raw.artifactRef(checkedBytes(blob, "blob")));
}

/** The short form of a ref, for people: `art-` and the first 12 of its digits. */
export function shortRef(artifactRef: string): string {
  return call((raw) => raw.shortRef(checkedText(artifactRef, "artifactRef")));
}

/**
 * The records of commits, and what can be asked of them. It lives in the wasm: call `free` when it is done with, or leave
 * that to the garbage collector.
 */
export class CommitGraph {
  constructor(options?: CommitGraphOptions) {
    hold(
      this,
      call((raw) => new raw.CommitGraph(options)),
    );
  }

  /** How many commits there are. */
  get size(): number {
    return ask(this, (graph) => graph.size);
  }

  /**
   * Adds a commit. Asking twice is harmless: what is there already is given back.
   *
   * @throws {CtxweaveError} `id_collision` when the id is that of a commit that says something else, `commit_not_found` for
   * a parent that is not there, `invalid_input`, `unsupported_version`
   */
  checkpoint(request: CheckpointRequest): CheckpointResult {
    return ask(this, (graph) => graph.checkpoint(request)) as CheckpointResult;
  }

  /** The record of a commit. */
  show(id: string): CommitRecord {
    return ask(this, (graph) => graph.show(checkedText(id, "id"))) as CommitRecord;
  }

  /**
   * The chain of a commit, from it towards the root.
   *
   * @throws {CtxweaveError} `commit_not_found` for it or for the parent of one on the way, `chain_cycle`
   */
  history(id: string, options?: { depth?: number }): CommitRecord[] {
    checkWhole(options?.depth, "depth", 0);
    return ask(this, (graph) => graph.history(checkedText(id, "id"), options)) as CommitRecord[];
  }

  /** The commit that a principal had made last at a time, RFC 3339 or a date: the latest at or before it. */
  resolve(principal: string, time: string | Date): CommitRecord | undefined {
    const moment = time instanceof Date && !Number.isNaN(time.getTime()) ? time.toISOString() : time;
    return ask(this, (graph) => graph.resolve(checkedText(principal, "principal"), checkedText(moment, "time"))) as
      CommitRecord | undefined;
  }

  /** Changes the summary or the tags of a commit, and gives its record. Nothing else ever changes. */
  updateMetadata(id: string, fields: MetadataUpdate): CommitRecord {
    return ask(this, (graph) => graph.updateMetadata(checkedText(id, "id"), fields)) as CommitRecord;
  }

  /** All commits: parents before children, and otherwise by time. */
  commits(): CommitRecord[] {
    return list(this, "commits");
  }

  /** The commits that were made for a ticket. */
  byTicket(ticketId: string): CommitRecord[] {
    return list(this, "byTicket", checkedText(ticketId, "ticketId"));
  }

  /** The commits of a thread. */
  byThread(threadId: string): CommitRecord[] {
    return list(this, "byThread", checkedText(threadId, "threadId"));
  }

  /** The commits of a session. */
  bySession(sessionId: string): CommitRecord[] {
    return list(this, "bySession", checkedText(sessionId, "sessionId"));
  }

  /** The commits that come right after one. */
  children(id: string): CommitRecord[] {
    return list(this, "children", checkedText(id, "id"));
  }

  /** The ends of the branches. */
  tips(): CommitRecord[] {
    return list(this, "tips");
  }

  /** The commits without a summary. */
  lackingSummary(): CommitRecord[] {
    return list(this, "lackingSummary");
  }

  /** The last commit that the chains of two commits share, if there is one. */
  commonAncestor(one: string, other: string): CommitRecord | undefined {
    return ask(this, (graph) => graph.commonAncestor(checkedText(one, "one"), checkedText(other, "other"))) as
      CommitRecord | undefined;
  }

  /** The refs of all artifacts that the chains of these commits need, sorted: what must not be collected. */
  reachableArtifacts(tips: readonly string[]): string[] {
    if (!Array.isArray(tips)) throw invalid("tips", "a list of ids");
    return ask(this, (graph) => graph.reachableArtifacts(tips)) as string[];
  }

  /** The full ref that a ref stands for: itself, or for a short one that of the artifact that begins so. */
  resolveArtifact(artifactRef: string): string {
    return ask(this, (graph) => graph.resolveArtifact(checkedText(artifactRef, "artifactRef")));
  }

  /**
   * Adds the records of a JSONL text, whatever their order. What is damaged is a diagnostic with its line.
   *
   * @throws {CtxweaveError} `id_collision` when two records of one id contradict each other; nothing is added then
   */
  importJsonl(text: string | Bytes): ImportReport {
    const bytes = typeof text === "string" ? encoder.encode(text) : checkedBytes(text, "text");
    return ask(this, (graph) => graph.importJsonl(bytes)) as ImportReport;
  }

  /** All records as JSONL, parents before children. */
  exportJsonl(): Uint8Array<ArrayBuffer> {
    return ask(this, (graph) => graph.exportJsonl());
  }

  /**
   * Plans a materialisation: which blobs, in which order, and why.
   *
   * @throws {CtxweaveError} `commit_not_found`, `chain_cycle`, `stop_not_in_chain`; never a shorter history
   */
  planMaterialization(request: MaterializationRequest): MaterializationPlan {
    return ask(this, (graph) => graph.planMaterialization(request)) as MaterializationPlan;
  }

  /**
   * Materialises a plan, or what would be planned for a request, from its blobs. Each is hashed before it is used.
   *
   * @throws {CtxweaveError} `blob_missing`, `blob_mismatch`, `plan_mismatch`, and those of `planMaterialization`
   */
  materialize(plan: MaterializationPlan | MaterializationRequest, blobs: Blobs): Materialized {
    if (typeof (blobs as Partial<Blobs> | undefined)?.get !== "function")
      throw invalid("blobs", "a Map of bytes by ref");
    const work = ask(this, (graph) => graph.begin(asked(plan)));
    try {
      const pieces: Uint8Array[] = [];
      for (const ref of call(() => work.order() as string[])) {
        const blob = blobs.get(ref);
        if (blob === undefined)
          return call(() => {
            throw work.missing();
          });
        const bytes = steady(checkedBytes(blob, `blobs[${ref}]`));
        const place = call(() => work.push(bytes));
        if (place === AFTER_NEWLINE) pieces.push(NEWLINE);
        if (place !== TAKEN) pieces.push(bytes);
      }
      return finished(work, pieces);
    } finally {
      work.free();
    }
  }

  /** Adds a snapshot commit that holds the result of a plan. The caller stores its bytes. */
  snapshot(
    plan: MaterializationPlan | MaterializationRequest,
    result: Pick<Materialized, "artifactRef" | "format" | "messageCount" | "tokenCount">,
    fields: SnapshotFields,
  ): CheckpointResult {
    const { artifactRef, format, messageCount, tokenCount } = result;
    const { commit, stop } = plan;
    return ask(this, (graph) =>
      graph.snapshot({ commit, stop }, { artifactRef, format, messageCount, tokenCount }, fields),
    ) as CheckpointResult;
  }

  /** Gives the memory back; nothing can be asked any more. */
  free(): void {
    release(this);
  }

  /** The same, at the end of a `using` block. */
  [Symbol.dispose](): void {
    release(this);
  }
}

/**
 * Turns the messages of a session into commits. What it offers is the host's to store, and counts once `stored` says so:
 * until then nothing has changed, and the next offer holds the same messages again.
 */
export class Checkpointer {
  constructor(options: CheckpointerOptions) {
    checkWhole(options?.every, "every", 1);
    hold(
      this,
      call((raw) => new raw.Checkpointer(options)),
    );
  }

  /** The last stored commit. */
  get head(): string | undefined {
    return ask(this, (checkpointer) => checkpointer.head);
  }

  /** Messages that went in so far: what a compaction that begins now covers. */
  get position(): number {
    return ask(this, (checkpointer) => checkpointer.position);
  }

  /** Messages that no stored commit holds. */
  get pending(): number {
    return ask(this, (checkpointer) => checkpointer.pending);
  }

  /**
   * Takes a message: for the formats that have lines one line of JSON, as text or as the object itself; for
   * `bureau-agent-v1` an item in CBOR, or an array of them.
   */
  push(message: string | object | Bytes): void {
    const bytes = messageBytes(message);
    ask(this, (checkpointer) => checkpointer.push(bytes));
  }

  /** Says that something happened, and gives the commit that is due because of it, if one is. */
  checkpoint(trigger: CheckpointTrigger, fields: CheckpointFields): OfferedCommit[] {
    return ask(this, (checkpointer) =>
      checkpointer.checkpoint(checkedText(trigger, "trigger"), fields),
    ) as OfferedCommit[];
  }

  /**
   * Compacts: first the commit with what came before, if there is anything new, then the one with the summary.
   *
   * @throws {CtxweaveError} `head_moved` when messages that the summary does not cover are stored already
   */
  compact(summary: string | object | Bytes, fields: CompactionFields): OfferedCommit[] {
    checkWhole(fields?.covered, "covered", 0);
    const bytes = messageBytes(summary);
    return ask(this, (checkpointer) => checkpointer.compact(bytes, fields)) as OfferedCommit[];
  }

  /** Says that the host has stored a commit that was offered, and those that were offered with it before. */
  stored(id: string): void {
    ask(this, (checkpointer) => checkpointer.stored(checkedText(id, "id")));
  }

  /** Gives the memory back; nothing can be asked any more. */
  free(): void {
    release(this);
  }

  /** The same, at the end of a `using` block. */
  [Symbol.dispose](): void {
    release(this);
  }
}

/**
 * Plans, fetches and materialises. Blobs are fetched in parallel, a few at a time, checked and appended in their order, so
 * that no more of them are held than that takes. A fetch that fails is repeated once.
 *
 * @throws {CtxweaveError} `blob_missing` (with the failure as `cause`), `blob_mismatch`, and those of `planMaterialization`;
 * the signal's reason when it is aborted
 */
export async function materializeWith(
  graph: CommitGraph,
  request: MaterializationPlan | MaterializationRequest,
  fetchBlob: FetchBlob,
  options: MaterializeWithOptions = {},
): Promise<Materialized> {
  const { concurrency = 8, retries = 1, onProgress, signal } = options;
  if (typeof fetchBlob !== "function") throw invalid("fetchBlob", "a function that brings a blob");
  checkWhole(concurrency, "concurrency", 1);
  checkWhole(retries, "retries", 0);
  signal?.throwIfAborted();
  const work = ask(graph, (graph) => graph.begin(asked(request)));
  const began = instance();
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    const order = call(() => work.order() as string[]);
    const fetches = new Fetches(order, fetchBlob, { concurrency, retries, signal: stop.signal });
    const result = new Blocks();
    let bytes = 0;
    for (const [at, ref] of order.entries()) {
      let failure: unknown;
      for (let tries = 0; ; tries += 1) {
        const fetched = await fetches.take(ref, tries > 0);
        signal?.throwIfAborted();
        if (instance() !== began) throw lost();
        if ("failure" in fetched) failure = fetched.failure;
        // Nothing runs between the check of a blob and its copy: what becomes of the host's buffer is its own business.
        const blob = "blob" in fetched ? steady(fetched.blob) : undefined;
        try {
          if (blob === undefined)
            call(() => {
              throw work.missing();
            });
          else {
            const place = call(() => work.push(blob));
            if (place === AFTER_NEWLINE) result.append(NEWLINE);
            if (place !== TAKEN) result.append(blob);
            bytes += blob.length;
            break;
          }
        } catch (error) {
          if (!(error instanceof CtxweaveError)) throw error;
          if (error.code === "blob_missing") {
            const { code, message, details } = error;
            throw new CtxweaveError(code, message, { ...details }, { cause: failure });
          }
          // Damaged on its way, perhaps: it is fetched again.
          if (error.code !== "blob_mismatch" || tries >= retries) throw error;
        }
      }
      fetches.used(ref, at);
      onProgress?.({ done: at + 1, total: order.length, bytes });
    }
    return finished(work, result.blocks());
  } finally {
    signal?.removeEventListener("abort", abort);
    stop.abort(new CtxweaveError("blob_missing", "the materialisation is over"));
    if (instance() === began) work.free();
  }
}

type Fetched = { blob: Uint8Array } | { failure: unknown };

/** Fetches ahead: never more than `concurrency` at a time, nor many more than are needed next. */
class Fetches {
  private readonly started = new Map<string, Promise<Fetched>>();
  private readonly lastUse = new Map<string, number>();
  private next = 0;
  private running = 0;
  private waiting = 0;

  constructor(
    private readonly order: readonly string[],
    private readonly fetchBlob: FetchBlob,
    private readonly options: { concurrency: number; retries: number; signal: AbortSignal },
  ) {
    for (const [at, ref] of order.entries()) this.lastUse.set(ref, at);
  }

  /** The next blob, once it is there. */
  take(ref: string, again: boolean): Promise<Fetched> {
    if (again) this.started.set(ref, this.fetch(ref, 0));
    this.ahead();
    return this.started.get(ref) ?? Promise.resolve({ failure: undefined });
  }

  /** A blob is in the result; it is forgotten unless it comes again. */
  used(ref: string, at: number): void {
    if (this.lastUse.get(ref) !== at) return;
    this.started.delete(ref);
    this.waiting -= 1;
  }

  private ahead(): void {
    const { concurrency } = this.options;
    while (this.running < concurrency && this.waiting < 4 * concurrency && this.next < this.order.length) {
      const ref = this.order[this.next++] as string;
      if (this.started.has(ref)) continue;
      this.waiting += 1;
      this.running += 1;
      const fetched = this.fetch(ref, this.options.retries).then((fetched) => {
        this.running -= 1;
        if (!this.options.signal.aborted) this.ahead();
        return fetched;
      });
      this.started.set(ref, fetched);
    }
  }

  /** Never rejects: whoever fails early leaves nobody to hear of it. */
  private async fetch(ref: string, retries: number): Promise<Fetched> {
    const { signal } = this.options;
    for (let tries = 0; ; tries += 1) {
      try {
        const blob = asBytes(await this.fetchBlob(ref, { signal }));
        if (!blob) throw invalid("fetchBlob", "a function that gives bytes");
        return { blob };
      } catch (failure) {
        if (tries >= retries || signal.aborted) return { failure };
      }
    }
  }
}

/** Bytes that grow, in blocks that are never copied to make room. */
class Blocks {
  private readonly full: Uint8Array[] = [];
  private last = new Uint8Array(0);
  private length = 0;

  append(bytes: Uint8Array): void {
    const fits = bytes.subarray(0, this.last.length - this.length);
    this.last.set(fits, this.length);
    this.length += fits.length;
    const rest = bytes.subarray(fits.length);
    if (rest.length === 0) return;
    this.full.push(this.last);
    this.last = new Uint8Array(Math.max(rest.length, 1 << 20));
    this.last.set(rest);
    this.length = rest.length;
  }

  blocks(): Uint8Array[] {
    return [...this.full, this.last.subarray(0, this.length)];
  }
}

/** What `push` says: the blob was taken in, or it comes after a newline; else it comes next. */
const TAKEN = 2;
const AFTER_NEWLINE = 1;
const NEWLINE = Uint8Array.of(10);

/** What a plan was made from, and the key of what it gives: the steps need not cross again. */
function asked(plan: MaterializationRequest & { cacheKey?: string }): MaterializationRequest {
  if (typeof plan !== "object" || plan === null) throw invalid("plan", "a plan or a request");
  const { commit, stop, format, crossFamily, inspect, cacheKey } = plan;
  return { commit, stop, format, crossFamily, inspect, cacheKey } as MaterializationRequest;
}

/** The result, with the pieces where the bytes are not in it already. */
function finished(work: glue.Materialization, pieces: readonly Uint8Array[]): Materialized {
  const { bytes, ...rest } = call(() => work.finish()) as Omit<Materialized, "bytes"> & Partial<Materialized>;
  return { bytes: bytes ?? joined(pieces), ...rest };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** The bytes, copied where another thread could change them after they were checked. */
function steady(bytes: Uint8Array): Uint8Array {
  const shared = typeof SharedArrayBuffer === "function" && (bytes.buffer as unknown) instanceof SharedArrayBuffer;
  return shared ? bytes.slice() : bytes;
}

const encoder = new TextEncoder();

function messageBytes(message: string | object | Bytes): Uint8Array {
  const bytes = asBytes(message);
  if (bytes) return bytes;
  if (typeof message !== "string" && (typeof message !== "object" || message === null)) {
    throw invalid("message", "an object, a line of JSON or bytes");
  }
  const text = typeof message === "string" ? message : JSON.stringify(message);
  // In JSON half of a surrogate pair can be said by its escape, and so it is not lost.
  const escaped = text.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
  return encoder.encode(escaped);
}

function checkedBytes(value: unknown, path: string): Uint8Array<ArrayBuffer> {
  const bytes = asBytes(value);
  if (!bytes) throw invalid(path, "bytes");
  return bytes;
}

/** JSON would make null of NaN, and null is the same as absent. */
function checkWhole(value: unknown, path: string, least: number): void {
  if (value === undefined || value === null) return;
  if (!Number.isInteger(value) || (value as number) < least) throw invalid(path, `a whole number, ${least} or more`);
}

/** What lives in the wasm, by its owner; apart from it, so that the owner's type is the same in every flavour. */
const handles = new WeakMap<object, { raw: glue.CommitGraph | glue.Checkpointer; instance: number }>();

interface Raws {
  graph: glue.CommitGraph;
  checkpointer: glue.Checkpointer;
}

type RawOf<T> = T extends CommitGraph ? Raws["graph"] : Raws["checkpointer"];

function hold(owner: object, raw: glue.CommitGraph | glue.Checkpointer): void {
  handles.set(owner, { raw, instance: instance() });
}

function ask<T extends CommitGraph | Checkpointer, R>(owner: T, question: (raw: RawOf<T>) => R): R {
  const handle = handles.get(owner);
  if (!handle) throw new CtxweaveError("handle_freed", "the graph or checkpointer was freed; make a new one");
  if (handle.instance !== instance()) throw lost();
  return call(() => question(handle.raw as RawOf<T>));
}

function list(graph: CommitGraph, which: string, of = ""): CommitRecord[] {
  return ask(graph, (raw) => raw.records(which, of)) as CommitRecord[];
}

function release(owner: object): void {
  const handle = handles.get(owner);
  handles.delete(owner);
  if (handle?.instance === instance()) handle.raw.free();
}

function lost(): CtxweaveError {
  return new CtxweaveError(
    "handle_lost",
    "it was lost when the module had to be started anew; make a new one, a graph from what `exportJsonl` gave",
  );
}
