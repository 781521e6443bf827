/** Records in a store: lookup, chains, creation. */

import { checkedObject } from "../api/checked.js";
import { artifactRef, ChainWalk, CommitGraph, shortRef, timeKey } from "../entries/commits.js";
import { CtxweaveError } from "../error.js";
import { guarded } from "../source.js";
import type { CheckpointRequest, CommitRecord, MaterializationRequest } from "../types/commits.js";
import type { Diagnostic, Limits } from "../types/common.js";
import type { PlatformAbortSignal } from "../types/platform.js";
import type { StoreCalls } from "./calls.js";
import { allHeads } from "./heads.js";
import {
  blobKey,
  blobPrefix,
  BLOBS,
  type Index,
  indexKey,
  indexPrefix,
  isShortRef,
  principalEntry,
  principalKey,
  principalPrefix,
  recordKey,
} from "./keys.js";

/** A commit that is created but not stored yet. */
export interface Sealed {
  id: string;
  record: CommitRecord;
  /** The record as stored, with numbers unchanged. */
  text: string;
  diagnostics: Diagnostic[];
}

const decoder = new TextDecoder();

/** Entries of a list that are read together. */
const INDEX_PAGE = 32;

/** Whether a commit has no summary, as in a graph. */
export function lacksSummary({ summary }: CommitRecord): boolean {
  return summary === undefined || summary.trim() === "";
}

/** The limits of a graph or a walk, if any. */
function limited(limits: Limits | undefined): { limits?: Limits } {
  return limits ? { limits } : {};
}

export class Records {
  constructor(
    private readonly calls: StoreCalls,
    private readonly options: { pageSize: number; limits: Limits | undefined },
  ) {}

  /** The same records, read by calls that end when the signal is aborted. */
  within(signal: PlatformAbortSignal | undefined): Records {
    const calls = this.calls.within(signal);
    return calls === this.calls ? this : new Records(calls, this.options);
  }

  /** The text of a validated record, and the record. */
  async read(id: string): Promise<{ text: string; record: CommitRecord }> {
    const walk = new ChainWalk({ commit: id, passing: true, ...limited(this.options.limits) });
    try {
      for (let tries = 0; ; tries += 1) {
        const text = (await this.calls.text(recordKey(id))) ?? "";
        try {
          return { text, record: walk.push(text)[0] as CommitRecord };
        } catch (error) {
          // Possibly damaged in transit: read again.
          if (tries > 0 || !isMismatch(error)) throw error;
        }
      }
    } finally {
      walk.free();
    }
  }

  /** The same, or undefined if missing. */
  async find(id: string): Promise<{ text: string; record: CommitRecord } | undefined> {
    try {
      return await this.read(id);
    } catch (error) {
      if (error instanceof CtxweaveError && error.code === "commit_not_found") return undefined;
      throw error;
    }
  }

  /** The records from a commit towards its root. At most one page is in memory. */
  async *history(id: string): AsyncGenerator<CommitRecord> {
    const walk = new ChainWalk({ commit: id, stop: "root", passing: true, ...limited(this.options.limits) });
    try {
      while (walk.wanted !== undefined) yield* await this.page(walk);
    } finally {
      walk.free();
    }
  }

  /** Walks all records that a request needs; the caller frees the walk. */
  async walked(request: MaterializationRequest): Promise<ChainWalk> {
    checkedObject(request, "request");
    const { commit, stop } = guarded("request", () => ({ ...request }));
    const walk = new ChainWalk({
      ...(commit && { commit }),
      ...(stop !== undefined && { stop }),
      ...limited(this.options.limits),
    });
    try {
      while (walk.wanted !== undefined) await this.page(walk);
      return walk;
    } catch (error) {
      walk.free();
      throw error;
    }
  }

  /** Passes a walk its next records. */
  private async page(walk: ChainWalk): Promise<CommitRecord[]> {
    const id = walk.wanted as string;
    const { pageSize } = this.options;
    try {
      return walk.push((await this.text(id, pageSize)) ?? "");
    } catch (error) {
      if (!isMismatch(error)) throw error;
      return walk.push((await this.calls.text(recordKey(id))) ?? "");
    }
  }

  private text(id: string, limit: number): Promise<string | undefined> {
    return (limit > 1 && this.calls.ancestors(id, limit)) || this.calls.text(recordKey(id));
  }

  /** Creates the record of a commit; `parent` is the text of its parent's record. */
  seal(request: CheckpointRequest, parent: string | undefined): Sealed {
    return this.withGraph((graph) => {
      if (parent !== undefined) graph.importJsonl(parent);
      const { id, record, diagnostics = [] } = graph.checkpoint(request);
      const text = decoder.decode(graph.exportJsonl()).trimEnd();
      return { id, record, diagnostics, text: text.slice(text.lastIndexOf("\n") + 1) };
    });
  }

  /** Stores a record. An existing one is returned with its stored summary and tags. */
  async store(sealed: Sealed, request: CheckpointRequest): Promise<Sealed> {
    if (await this.calls.compareAndSet(recordKey(sealed.id), undefined, sealed.text)) return sealed;
    const { text } = await this.read(sealed.id);
    if (text === sealed.text) return sealed;
    return this.withGraph((graph) => {
      graph.importJsonl(text);
      const { id, record, diagnostics = [] } = graph.checkpoint(request);
      return { id, record, text, diagnostics };
    });
  }

  /** Lists a commit by its properties, or records that no head leads to it after all. */
  async list(record: CommitRecord, listed: "+" | "-"): Promise<void> {
    await Promise.all(this.listKeys(record, lacksSummary(record)).map((key) => this.mark(key, listed)));
  }

  /** The keys of its list entries; that of commits without a summary if `unsummarized`. */
  listKeys(record: CommitRecord, unsummarized = true): string[] {
    const { id, principal, created_at } = record;
    const time = timeKey(created_at);
    const keys = principal === undefined ? [] : [principalKey(principal, time, id)];
    const values: [Index, string | null | undefined][] = [
      ["ticket", record.ticket_id],
      ["thread", record.thread_id],
      ["session", record.session_id],
      ["parent", record.parent],
      ["unsummarized", unsummarized ? "-" : undefined],
    ];
    for (const [index, value] of values) {
      if (value !== undefined && value !== null) keys.push(indexKey(index, value, time, id));
    }
    return keys;
  }

  /** Lists a commit among those without a summary, or takes it off that list. */
  async markSummary({ id, created_at }: CommitRecord, listed: "+" | "-"): Promise<void> {
    await this.mark(indexKey("unsummarized", "-", timeKey(created_at), id), listed);
  }

  private async mark(key: string, listed: "+" | "-"): Promise<void> {
    if (listed === "+" && (await this.calls.compareAndSet(key, undefined, "+"))) return;
    await this.calls.update(key, () => listed);
  }

  /**
   * The commits with a property, by time, then id. A page is in memory at a time. An entry may be older than its record,
   * so `has` checks the record.
   */
  async *indexed(index: Index, value: string, has: (record: CommitRecord) => boolean): AsyncGenerator<CommitRecord> {
    const prefix = indexPrefix(index, value);
    for (let cursor: string | undefined; ;) {
      const page = await this.calls.list(prefix, cursor, INDEX_PAGE);
      const read = page.keys.map(async (key) => {
        if ((await this.calls.text(key)) !== "+") return undefined;
        return (await this.find(principalEntry(key).id))?.record;
      });
      for (const record of await Promise.all(read)) {
        if (record && has(record)) yield record;
      }
      if (page.cursor === undefined) return;
      cursor = page.cursor;
    }
  }

  async resolve(principal: string, time: string | number | Date): Promise<CommitRecord | undefined> {
    const prefix = principalPrefix(principal);
    let moment: string | undefined;
    const found: { text: string; record: CommitRecord }[] = [];
    search: for (let cursor: string | undefined = prefix + timeKey(time); cursor !== undefined;) {
      const page = await this.calls.list(prefix, cursor, 16);
      for (const key of page.keys) {
        const entry = principalEntry(key);
        if (moment !== undefined && moment !== entry.moment) break search;
        if ((await this.calls.text(key)) !== "+") continue;
        const there = await this.find(entry.id);
        if (!there) continue;
        found.push(there);
        moment = entry.moment;
      }
      cursor = page.cursor;
    }
    if (found.length < 2) return found[0]?.record;
    try {
      return await this.lastOf(principal, time, found);
    } catch (error) {
      if (!(error instanceof CtxweaveError && error.code === "ambiguous_commit")) throw error;
      const kept = await this.followed(found);
      if (kept.length === 0 || kept.length === found.length) throw error;
      return this.lastOf(principal, time, kept);
    }
  }

  /**
   * The records that a head is at or that another commit follows. A writer that died before it moved its head leaves
   * others, and stores the same content after another parent when it is repeated.
   */
  private async followed<Found extends { record: CommitRecord }>(found: Found[]): Promise<Found[]> {
    // Before the lists: a head leaves a commit after its child is listed.
    const tips = new Set<string>();
    for await (const { commit } of allHeads(this.calls)) tips.add(commit);
    const hasChild = async (id: string): Promise<boolean> =>
      (await this.calls.list(indexPrefix("parent", id), undefined, 1)).keys.length > 0;
    const kept: Found[] = [];
    for (const one of found) if (tips.has(one.record.id) || (await hasChild(one.record.id))) kept.push(one);
    return kept;
  }

  /** Of several commits at one time, the one that descends from the others. */
  private async lastOf(
    principal: string,
    time: string | number | Date,
    found: { text: string }[],
  ): Promise<CommitRecord | undefined> {
    const graph = new CommitGraph(limited(this.options.limits));
    try {
      for (const { text } of found) graph.importJsonl(text);
      for (let wanted: string | undefined; ;) {
        try {
          return graph.resolve(principal, time);
        } catch (error) {
          const isNext = error instanceof CtxweaveError && error.code === "commit_not_found";
          const id = isNext ? (error.details as { commitId: string }).commitId : undefined;
          if (id === undefined || id === wanted) throw error;
          wanted = id;
          graph.importJsonl((await this.text(id, this.options.pageSize)) ?? "");
        }
      }
    } finally {
      graph.free();
    }
  }

  /** Changes the mutable fields of a record. */
  async update(id: string, change: (graph: CommitGraph) => CommitRecord): Promise<CommitRecord> {
    for (let tries = 0; ; tries += 1) {
      const { text } = await this.read(id);
      const [record, next] = this.withGraph((graph) => {
        graph.importJsonl(text);
        return [change(graph), decoder.decode(graph.exportJsonl()).trimEnd()] as const;
      });
      if (next === text || (await this.calls.compareAndSet(recordKey(id), text, next))) return record;
      await this.calls.pause(tries);
    }
  }

  /** A blob, not validated; a short ref is resolved. */
  async blob(ref: string): Promise<Uint8Array> {
    const key = isShortRef(ref) ? await this.fullKey(ref) : blobKey(ref);
    const blob = await this.calls.get(key);
    if (!blob) throw new Error(`the store has no \`${key}\``);
    return blob;
  }

  private async fullKey(ref: string): Promise<string> {
    const { keys } = await this.calls.list(blobPrefix(ref), undefined, 2);
    const candidates = keys.map((key) => `blake3:${key.slice(BLOBS.length)}`);
    if (candidates.length > 1) {
      const message = `\`${ref}\` matches ${candidates.length} artifacts; use the full ref`;
      throw new CtxweaveError("ambiguous_ref", message, { artifactRef: ref, candidates });
    }
    return keys[0] ?? blobPrefix(ref);
  }

  private withGraph<T>(work: (graph: CommitGraph) => T): T {
    const graph = new CommitGraph(limited(this.options.limits));
    try {
      return work(graph);
    } finally {
      graph.free();
    }
  }
}

/** The full ref of a blob; a given ref must match it. */
export function refOf(blob: Uint8Array, given: string | undefined): string {
  const ref = artifactRef(blob);
  if (given !== undefined && given !== ref && given !== shortRef(ref)) {
    const message = `\`artifact_ref\` is \`${given}\`, but the ref of the blob is \`${ref}\`; omit it, or pass the matching blob`;
    throw new CtxweaveError("invalid_input", message, { path: "artifact_ref", artifactRef: given });
  }
  return ref;
}

function isMismatch(error: unknown): boolean {
  return error instanceof CtxweaveError && (error.code === "record_mismatch" || error.code === "commit_not_found");
}
