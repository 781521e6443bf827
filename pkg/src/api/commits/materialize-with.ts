/** Materialising with blobs that are fetched. */

import { CtxweaveError } from "../../error.js";
import { call, instance } from "../../runtime.js";
import type {
  FetchBlob,
  MaterializationPlan,
  MaterializationRequest,
  Materialized,
  MaterializeWithOptions,
} from "../../types/commits.js";
import { checkedOptions, invalid } from "../checked.js";
import { checkWhole, steady } from "./bytes.js";
import { Fetches } from "./fetches.js";
import { type CommitGraph, graphs } from "./graph.js";
import { lost } from "./handles.js";
import { appendBlob, asked, Blocks, finished } from "./materialization.js";

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
  const known = ["concurrency", "retries", "onProgress", "signal"] as const;
  const { concurrency = 8, retries = 1, onProgress, signal } = checkedOptions(options, known);
  if (typeof fetchBlob !== "function") throw invalid("fetchBlob", "a function that brings a blob");
  checkWhole(concurrency, "concurrency", 1);
  checkWhole(retries, "retries", 0);
  signal?.throwIfAborted();
  const work = graphs.ask(graph, (graph) => graph.begin(asked(request)));
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
            appendBlob(work, blob, (bytes) => result.append(bytes));
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
