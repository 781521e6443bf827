/** Materialization from fetched blobs. */

import { CtxweaveError } from "../../error.js";
import { guarded } from "../../source.js";
import type {
  FetchBlob,
  MaterializationPlan,
  MaterializationRequest,
  Materialized,
  MaterializedStream,
  MaterializeStreamOptions,
  MaterializeWithOptions,
} from "../../types/commits.js";
import { checkedSignal, raceAbort } from "../abort.js";
import { checkedFunction, checkedOptions, invalid } from "../checked.js";
import { checkedBytes, checkWhole } from "./bytes.js";
import { Fetches } from "./fetches.js";
import { type CommitGraph, graphs } from "./graph.js";
import { appendBlob, beginMaterialization, Blocks, finished } from "./materialization.js";
import { Verification, verification } from "./verification.js";
import { ChainWalk, walks } from "./walk.js";

/**
 * Plans, fetches and materializes, from the records of a graph or of a completed walk. Blobs are fetched in parallel,
 * at most `concurrency` at a time, then validated and appended in order, so that few are in memory. A failed fetch is
 * retried, once unless `retries` is set.
 *
 * @throws {CtxweaveError} `blob_missing` (with the failure as `cause`), `blob_mismatch`, and those of
 *   `planMaterialization`; the signal's reason when it is aborted
 */
export async function materializeWith(
  source: CommitGraph | ChainWalk,
  request: MaterializationPlan | MaterializationRequest,
  fetchBlob: FetchBlob,
  options: MaterializeWithOptions = {},
): Promise<Materialized> {
  const known = ["concurrency", "retries", "onProgress", "signal", "verifyArtifact"] as const;
  const work = begun(source, request, fetchBlob, checkedOptions(options, known));
  const result = new Blocks();
  return work.run({ append: (bytes) => result.append(bytes), pieces: () => result.blocks() });
}

/**
 * The same as a stream, for results that do not fit into memory: a few blobs are held at a time, and more are fetched
 * when these have been read. Each blob is validated before any of it is passed on. A failure ends the stream with the
 * error, never with a shorter conversation. In translations, and in formats that are not joined by appending,
 * everything comes at the end.
 *
 * @throws {CtxweaveError} those of `planMaterialization` immediately; those of `materializeWith` from the stream
 */
export function materializeStream(
  source: CommitGraph | ChainWalk,
  request: MaterializationPlan | MaterializationRequest,
  fetchBlob: FetchBlob,
  options: MaterializeStreamOptions = {},
): MaterializedStream {
  const checked = checkedOptions(options, ["concurrency", "retries", "signal", "verifyArtifact"]);
  const cancelled = new AbortController();
  const { signal } = cancelled;
  const given = checkedSignal(checked.signal);
  const abort = (): void => cancelled.abort(given?.reason);
  const work = begun(source, request, fetchBlob, { concurrency: 4, ...checked, signal });
  given?.addEventListener("abort", abort);
  let closed = false;
  let wake = (): void => undefined;
  let result: Promise<Omit<Materialized, "bytes">> | undefined;
  let settle: (result: Promise<Omit<Materialized, "bytes">>) => void;
  const done = new Promise<Omit<Materialized, "bytes">>((resolve) => (settle = resolve));
  done.catch(() => undefined);
  signal.addEventListener("abort", () => wake());
  // Small blobs are passed on together.
  const chunk = new Uint8Array(1 << 14);
  let used = 0;
  const pass = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (used > 0) controller.enqueue(chunk.slice(0, used));
    used = 0;
  };
  const start = async (
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Promise<Omit<Materialized, "bytes">> => {
    try {
      const { bytes, ...rest } = await work.run({
        append: (bytes) => {
          if (used + bytes.length > chunk.length) pass(controller);
          // The host may reuse its buffer.
          if (bytes.length > chunk.length) controller.enqueue(bytes.slice());
          else {
            chunk.set(bytes, used);
            used += bytes.length;
          }
        },
        ready: async () => {
          while ((controller.desiredSize ?? 0) <= 0 && !signal.aborted) {
            await new Promise<void>((resolve) => (wake = resolve));
          }
        },
        pieces: () => [],
      });
      pass(controller);
      if (bytes.length > 0) controller.enqueue(bytes);
      controller.close();
      return rest;
    } catch (error) {
      if (!closed) controller.error(error);
      throw error;
    } finally {
      given?.removeEventListener("abort", abort);
    }
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (!result) settle((result = start(controller)));
        wake();
      },
      cancel(reason) {
        closed = true;
        given?.removeEventListener("abort", abort);
        cancelled.abort(reason);
        if (!result) {
          work.free();
          settle(Promise.reject(reason as Error));
        }
      },
    },
    { highWaterMark: 1 << 16, size: (chunk) => chunk?.length ?? 0 },
  );
  return { stream: stream as MaterializedStream["stream"], done };
}

/** Destination of a result's bytes. */
interface Sink {
  /** Appends bytes synchronously. */
  append(bytes: Uint8Array): void;
  /** Waits for the consumer. */
  ready?(): Promise<void>;
  /** The appended bytes, if they have to be joined. */
  pieces(): Uint8Array[];
}

/** Begins a materialization; an invalid request throws immediately. */
function begun(
  source: CommitGraph | ChainWalk,
  request: MaterializationPlan | MaterializationRequest,
  fetchBlob: FetchBlob,
  { concurrency = 8, retries = 1, onProgress, signal: given, verifyArtifact }: MaterializeWithOptions,
): { run(sink: Sink): Promise<Materialized>; free(): void } {
  const signal = checkedSignal(given);
  if (typeof fetchBlob !== "function") throw invalid("fetchBlob", "a function that fetches a blob");
  checkedFunction(onProgress, "options.onProgress");
  checkedFunction(verifyArtifact, "options.verifyArtifact");
  checkWhole(concurrency, "concurrency", 1);
  checkWhole(retries, "retries", 0);
  const handles = guarded("source", () => source instanceof ChainWalk) ? walks : graphs;
  const work = beginMaterialization(handles, source, request);
  const run = async (sink: Sink): Promise<Materialized> => {
    const stop = new AbortController();
    const abort = (): void => stop.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      const order = work.order();
      const fetches = new Fetches(order, fetchBlob, { concurrency, retries, signal: stop.signal });
      let bytes = 0;
      for (const [at, ref] of order.entries()) {
        if (sink.ready) await sink.ready();
        let failure: unknown;
        for (let tries = 0; ; tries += 1) {
          const fetched = await raceAbort(fetches.take(ref, tries > 0), signal);
          checkedSignal(signal);
          if ("failure" in fetched) failure = fetched.failure;
          // Its buffer may have been transferred since it was fetched. Nothing runs between this check and the copy.
          const blob = "answer" in fetched ? checkedBytes(fetched.answer, `fetchBlob(${ref})`) : undefined;
          try {
            if (blob === undefined) work.missing();
            else {
              const append = (piece: Uint8Array): void => sink.append(piece);
              const canVerify = verifyArtifact ? Verification.Available : Verification.Unavailable;
              const { length } = blob;
              if (!appendBlob(work, blob, append, canVerify) && verifyArtifact) {
                // The host may change its buffers while it verifies.
                const copy = blob.slice();
                const result = await raceAbort(verification(verifyArtifact, ref, copy.slice()), signal);
                appendBlob(work, copy, append, result);
              }
              bytes += length;
              break;
            }
          } catch (error) {
            if (!(error instanceof CtxweaveError)) throw error;
            if (error.code === "blob_missing") {
              const { code, message, details } = error;
              throw new CtxweaveError(code, message, { ...details }, { cause: failure });
            }
            // Possibly damaged in transit: fetched again.
            if (error.code !== "blob_mismatch" || tries >= retries) throw error;
          }
        }
        fetches.used(ref, at);
        onProgress?.({ done: at + 1, total: order.length, bytes });
      }
      return finished(work, sink.pieces());
    } finally {
      signal?.removeEventListener("abort", abort);
      stop.abort(new CtxweaveError("blob_missing", "the materialization has ended"));
      work.free();
    }
  };
  return { run, free: () => work.free() };
}
