/// <reference lib="esnext.disposable" preserve="true" />
/** The graph of records. */

import { callJson } from "../../call.js";
import type * as glue from "../../glue.js";
import { writeRequest } from "../../request.js";
import { call } from "../../runtime.js";
import type {
  Blobs,
  Bytes,
  CheckpointRequest,
  CheckpointResult,
  CommitGraphOptions,
  CommitRecord,
  ExportJsonlOptions,
  ImportJsonlOptions,
  ImportReport,
  MaterializationPlan,
  MaterializationRequest,
  Materialized,
  MetadataUpdate,
  SnapshotFields,
} from "../../types/commits.js";
import { guarded } from "../../source.js";
import { checkedObject, invalid } from "../checked.js";
import { checkedBytes, textBytes } from "./bytes.js";
import { type Handle as AnyHandle, Handles } from "../handles.js";
import { appendBlob, asked, finished } from "./materialization.js";
import type { ReadonlyData } from "../../types/common.js";

export const graphs = new Handles<AnyHandle & { raw: glue.CommitGraph }>("graph", "records");

/**
 * The records of commits, and what can be asked of them. It lives in the wasm: call `free` when it is done with, or leave
 * that to the garbage collector.
 */
export class CommitGraph {
  constructor(options?: CommitGraphOptions) {
    const { json } = writeRequest(options);
    graphs.set(this, { raw: call((wasm) => new wasm.CommitGraph(json)) });
  }

  /** How many commits there are. */
  get size(): number {
    return graphs.use(this, ({ raw }) => call(() => raw.size));
  }

  /**
   * Adds a commit. Asking twice is harmless: what is there already is given back, with its own summary and tags. Where others
   * were asked for, a diagnostic says so; `updateMetadata` changes them.
   *
   * @throws {CtxweaveError} `id_collision` when the id is that of a commit that says something else, `commit_not_found` for
   * a parent that is not there, `invalid_input`, `unsupported_version`
   */
  checkpoint(request: ReadonlyData<CheckpointRequest>): CheckpointResult {
    return callMethod(this, "checkpoint", request) as CheckpointResult;
  }

  /** The record of a commit. */
  show(id: string): CommitRecord {
    return callMethod(this, "show", { id }) as CommitRecord;
  }

  /**
   * The chain of a commit, from it towards the root.
   *
   * @throws {CtxweaveError} `commit_not_found` for it or for the parent of one on the way, `chain_cycle`
   */
  history(id: string, options?: { depth?: number }): CommitRecord[] {
    return callMethod(this, "history", { id, options }) as CommitRecord[];
  }

  /** The commit that a principal had made last at a time, RFC 3339, a date or milliseconds: the latest at or before it. */
  resolve(principal: string, time: string | number | Date): CommitRecord | undefined {
    return callMethod(this, "resolve", { principal, time }) as CommitRecord | undefined;
  }

  /** Changes the summary or the tags of a commit, and gives its record. Nothing else ever changes. */
  updateMetadata(id: string, fields: ReadonlyData<MetadataUpdate>): CommitRecord {
    return callMethod(this, "updateMetadata", { id, fields }) as CommitRecord;
  }

  /** All commits: parents before children, and otherwise by time. */
  commits(): CommitRecord[] {
    return callMethod(this, "commits") as CommitRecord[];
  }

  /** The commits that were made for a ticket. */
  byTicket(ticketId: string): CommitRecord[] {
    return callMethod(this, "byTicket", { ticketId }) as CommitRecord[];
  }

  /** The commits of a thread. */
  byThread(threadId: string): CommitRecord[] {
    return callMethod(this, "byThread", { threadId }) as CommitRecord[];
  }

  /** The commits of a session. */
  bySession(sessionId: string): CommitRecord[] {
    return callMethod(this, "bySession", { sessionId }) as CommitRecord[];
  }

  /** The commits that come right after one. */
  children(id: string): CommitRecord[] {
    return callMethod(this, "children", { id }) as CommitRecord[];
  }

  /** The ends of the branches. */
  tips(): CommitRecord[] {
    return callMethod(this, "tips") as CommitRecord[];
  }

  /** The commits without a summary. */
  lackingSummary(): CommitRecord[] {
    return callMethod(this, "lackingSummary") as CommitRecord[];
  }

  /** The last commit that the chains of two commits share, if there is one. */
  commonAncestor(one: string, other: string): CommitRecord | undefined {
    return callMethod(this, "commonAncestor", { one, other }) as CommitRecord | undefined;
  }

  /** The refs of all artifacts that the chains of these commits need, sorted: what must not be collected. */
  reachableArtifacts(tips: readonly string[]): string[] {
    return callMethod(this, "reachableArtifacts", { tips }) as string[];
  }

  /** The full ref that a ref stands for: itself, or for a short one that of the artifact that begins so. */
  resolveArtifact(artifactRef: string): string {
    return callMethod(this, "resolveArtifact", { artifactRef }) as string;
  }

  /**
   * Adds the records of a JSONL text, whatever their order. What is damaged is a diagnostic with its line.
   *
   * @throws {CtxweaveError} `id_collision` when two records of one id contradict each other; nothing is added then
   */
  importJsonl(text: string | Bytes, options?: ImportJsonlOptions): ImportReport {
    return callMethod(this, "importJsonl", { text: textBytes(text, "text"), options }) as ImportReport;
  }

  /** All records as JSONL, parents before children; with `digest`, and a last line that tells of changes to them. */
  exportJsonl(options?: ExportJsonlOptions): Uint8Array<ArrayBuffer> {
    return callMethod(this, "exportJsonl", { options }) as Uint8Array<ArrayBuffer>;
  }

  /**
   * Plans a materialisation: which blobs, in which order, and why.
   *
   * @throws {CtxweaveError} `commit_not_found`, `chain_cycle`, `stop_not_in_chain`; never a shorter history
   */
  planMaterialization(request: MaterializationRequest): MaterializationPlan {
    return callMethod(this, "planMaterialization", request) as MaterializationPlan;
  }

  /**
   * Materialises a plan, or what would be planned for a request, from its blobs. Each is hashed before it is used.
   *
   * @throws {CtxweaveError} `blob_missing`, `blob_mismatch`, `plan_mismatch`, and those of `planMaterialization`
   */
  materialize(plan: MaterializationPlan | MaterializationRequest, blobs: Blobs): Materialized {
    const get: unknown = guarded("blobs", () => (blobs as Partial<Blobs> | undefined)?.get);
    if (typeof get !== "function") throw invalid("blobs", "a Map of bytes by ref");
    const json = asked(plan);
    const work = graphs.use(this, ({ raw }) => call(() => raw.begin(json)));
    try {
      const pieces: Uint8Array[] = [];
      // A caller's `get` may reuse its buffer, or transfer it.
      const isMap = get === Map.prototype.get;
      for (const ref of call(() => work.order() as string[])) {
        const blob = blobs.get(ref);
        if (blob === undefined)
          return call(() => {
            throw work.missing();
          });
        appendBlob(work, checkedBytes(blob, `blobs[${ref}]`), (bytes) => pieces.push(isMap ? bytes : bytes.slice()));
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
    checkedObject(result, "result");
    checkedObject(plan, "plan");
    const { artifactRef, format, messageCount, tokenCount } = guarded("result", () => ({ ...result }));
    const { commit, stop } = guarded("plan", () => ({ ...plan }));
    const request = { plan: { commit, stop }, result: { artifactRef, format, messageCount, tokenCount }, fields };
    return callMethod(this, "snapshot", request) as CheckpointResult;
  }

  /** Gives the memory back; nothing can be asked any more. */
  free(): void {
    graphs.free(this);
  }

  /** The same, at the end of a `using` block. */
  [Symbol.dispose](): void {
    graphs.free(this);
  }
}

function callMethod(owner: CommitGraph, name: string, args?: unknown): unknown {
  return graphs.use(owner, ({ raw }) => callJson(name, args, { handle: raw }));
}
