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
  GraphCheckpointOptions,
  ImportJsonlOptions,
  ImportReport,
  MaterializationPlan,
  MaterializationRequest,
  Materialized,
  MaterializeOptions,
  MetadataUpdate,
  SnapshotFields,
} from "../../types/commits.js";
import { guarded } from "../../source.js";
import { checkedFunction, checkedObject, checkedOptions, invalid } from "../checked.js";
import { checkedBytes, textBytes } from "./bytes.js";
import { withFormats } from "./formats.js";
import { type Handle as AnyHandle, Handles } from "../handles.js";
import { appendBlob, beginMaterialization, finished } from "./materialization.js";
import { Verification, verificationSync } from "./verification.js";
import type { ReadonlyData } from "../../types/common.js";

export const graphs = new Handles<AnyHandle & { raw: glue.CommitGraph }>("graph", "records");

/**
 * The records of commits, and queries over them. Lives in the wasm: call `free` when done, or leave it to the garbage
 * collector. See docs/commits.md.
 */
export class CommitGraph {
  constructor(options?: CommitGraphOptions) {
    const { json } = writeRequest(options);
    graphs.set(this, { raw: call((wasm) => new wasm.CommitGraph(json)) });
  }

  /** Number of commits. */
  get size(): number {
    return graphs.use(this, ({ raw }) => call(() => raw.size));
  }

  /**
   * Adds a commit. Idempotent: an existing commit is returned with its stored summary and tags; if the request has
   * others, a diagnostic is reported. `updateMetadata` changes them.
   *
   * @throws {CtxweaveError} `id_collision` if the id belongs to a commit with other content, `commit_not_found` for a
   *   missing parent, `invalid_input`, `unsupported_version`
   */
  checkpoint(request: ReadonlyData<CheckpointRequest>, options?: GraphCheckpointOptions): CheckpointResult {
    if (options === undefined) return callMethod(this, "checkpoint", request) as CheckpointResult;
    return callMethod(this, "checkpointAfter", { record: request, options }) as CheckpointResult;
  }

  /** The record of a commit. */
  show(id: string): CommitRecord {
    return callMethod(this, "show", { id }) as CommitRecord;
  }

  /**
   * The chain of a commit, from the commit towards its root.
   *
   * @throws {CtxweaveError} `commit_not_found` for the commit or one of its ancestors, `chain_cycle`
   */
  history(id: string, options?: { depth?: number | undefined }): CommitRecord[] {
    return callMethod(this, "history", { id, options }) as CommitRecord[];
  }

  /** The latest commit of a principal at or before a time: RFC 3339, a `Date`, or milliseconds. */
  resolve(principal: string, time: string | number | Date): CommitRecord | undefined {
    return callMethod(this, "resolve", { principal, time }) as CommitRecord | undefined;
  }

  /** Changes the summary or the tags of a commit; returns its record. Everything else is immutable. */
  updateMetadata(id: string, fields: ReadonlyData<MetadataUpdate>): CommitRecord {
    return callMethod(this, "updateMetadata", { id, fields }) as CommitRecord;
  }

  /** All commits: parents before children, otherwise by time. */
  commits(): CommitRecord[] {
    return callMethod(this, "commits") as CommitRecord[];
  }

  /** The commits of a ticket. */
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

  /** The children of a commit. */
  children(id: string): CommitRecord[] {
    return callMethod(this, "children", { id }) as CommitRecord[];
  }

  /** The commits without children. */
  tips(): CommitRecord[] {
    return callMethod(this, "tips") as CommitRecord[];
  }

  /** The commits without a summary. */
  lackingSummary(): CommitRecord[] {
    return callMethod(this, "lackingSummary") as CommitRecord[];
  }

  /** The last common ancestor of two commits, or undefined. */
  commonAncestor(one: string, other: string): CommitRecord | undefined {
    return callMethod(this, "commonAncestor", { one, other }) as CommitRecord | undefined;
  }

  /** The refs of all artifacts in the chains of these commits, sorted. They must not be garbage-collected. */
  reachableArtifacts(tips: readonly string[]): string[] {
    return callMethod(this, "reachableArtifacts", { tips }) as string[];
  }

  /** The full form of a ref: the ref itself, or for a short one the ref of the artifact that it abbreviates. */
  resolveArtifact(artifactRef: string): string {
    return callMethod(this, "resolveArtifact", { artifactRef }) as string;
  }

  /**
   * Adds the records of a JSONL text, in any order. Damaged records are reported with their line.
   *
   * @throws {CtxweaveError} `id_collision` if two records of one id contradict each other; nothing is added then
   */
  importJsonl(text: string | Bytes, options?: ImportJsonlOptions): ImportReport {
    return callMethod(this, "importJsonl", { text: textBytes(text, "text"), options }) as ImportReport;
  }

  /** All records as JSONL, parents before children. With `digest`, a last line detects changes to them. */
  exportJsonl(options?: ExportJsonlOptions): Uint8Array<ArrayBuffer> {
    return callMethod(this, "exportJsonl", { options }) as Uint8Array<ArrayBuffer>;
  }

  /**
   * Plans a materialization: the blobs, their order, and the reasons.
   *
   * @throws {CtxweaveError} `commit_not_found`, `chain_cycle`, `stop_not_in_chain`; never plans a shorter history
   */
  planMaterialization(request: MaterializationRequest): MaterializationPlan {
    return callMethod(this, "planMaterialization", withFormats(request, "request")) as MaterializationPlan;
  }

  /**
   * Materializes a plan, or the plan of a request, from its blobs. Each blob is hashed before use.
   *
   * @throws {CtxweaveError} `blob_missing`, `blob_mismatch`, `plan_mismatch`, and those of `planMaterialization`
   */
  materialize(
    plan: MaterializationPlan | MaterializationRequest,
    blobs: Blobs,
    options: MaterializeOptions = {},
  ): Materialized {
    const { verifyArtifact } = checkedOptions(options, ["verifyArtifact"]);
    checkedFunction(verifyArtifact, "options.verifyArtifact");
    const get: unknown = guarded("blobs", () => (blobs as Partial<Blobs> | undefined)?.get);
    if (typeof get !== "function") throw invalid("blobs", "a Map of bytes by ref");
    const work = beginMaterialization(graphs, this, plan);
    try {
      const pieces: Uint8Array[] = [];
      // The caller's code may reuse or transfer its buffers.
      const keepsBuffers = get === Map.prototype.get && !verifyArtifact;
      const append = (piece: Uint8Array): number => pieces.push(keepsBuffers ? piece : piece.slice());
      for (const ref of work.order()) {
        const blob = guarded(`blobs[${ref}]`, () => blobs.get(ref));
        if (blob === undefined) return work.missing();
        const bytes = checkedBytes(blob, `blobs[${ref}]`);
        const canVerify = verifyArtifact ? Verification.Available : Verification.Unavailable;
        if (appendBlob(work, bytes, append, canVerify) || !verifyArtifact) continue;
        const copy = bytes.slice();
        appendBlob(work, copy, append, verificationSync(verifyArtifact, ref, copy.slice()));
      }
      return finished(work, pieces);
    } finally {
      work.free();
    }
  }

  /** Adds a snapshot commit of a plan's result. The caller stores its bytes. */
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

  /** Frees the memory; no method can be called afterwards. */
  free(): void {
    graphs.free(this);
  }

  /** Frees the memory at the end of a `using` block. */
  [Symbol.dispose](): void {
    graphs.free(this);
  }
}

function callMethod(owner: CommitGraph, name: string, args?: unknown): unknown {
  return graphs.use(owner, (handle) => callJson(name, args, { handle }));
}
