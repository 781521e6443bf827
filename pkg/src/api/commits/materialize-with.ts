/** Materialising with blobs that are fetched. */

import { CtxweaveError } from "../../error.js";
import { call, instance } from "../../runtime.js";
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
import { checkedOptions, invalid } from "../checked.js";
import { checkedBytes, checkWhole } from "./bytes.js";
import { Fetches } from "./fetches.js";
import { type CommitGraph, graphs } from "./graph.js";
import { appendBlob, asked, Blocks, finished } from "./materialization.js";
import { ChainWalk, walks } from "./walk.js";

/**
 * Plans, fetches and materialises, from the records of a graph or of a walk that is over. Blobs are fetched in parallel, a few
 * at a time, checked and appended in their order, so that no more of them are held than that takes. A fetch that fails is
 * repeated once.
 *
 * @throws {CtxweaveError} `blob_missing` (with the failure as `cause`), `blob_mismatch`, and those of `planMaterialization`;
 * the signal's reason when it is aborted
 */
export async function materializeWith(
  source: CommitGraph | ChainWalk,
  request: MaterializationPlan | MaterializationRequest,
  fetchBlob: FetchBlob,
  options: MaterializeWithOptions = {},
): Promise<Materialized> {
  const known = ["concurrency", "retries", "onProgress", "signal"] as const;
  const work = begun(source, request, fetchBlob, checkedOptions(options, known));
  const result = new Blocks();
  return work.run({ append: (bytes) => result.append(bytes), pieces: () => result.blocks() });
}

/**
 * The same as a stream, for results that are larger than what may be held: a few blobs are held at a time, and more are fetched
 * when those were read. Each is checked before any of it is passed on. What fails ends the stream with the error, never with
 * a shorter conversation. In formats that are not joined by appending, and in translations, all comes at the end.
 *
 * @throws {CtxweaveError} at once those of `planMaterialization`; later, from the stream, those of `materializeWith`
 */
export function materializeStream(
  source: CommitGraph | ChainWalk,
  request: MaterializationPlan | MaterializationRequest,
  fetchBlob: FetchBlob,
  options: MaterializeStreamOptions = {},
): MaterializedStream {
  const checked = checkedOptions(options, ["concurrency", "retries", "signal"]);
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
          // What a host does with its buffer afterwards is its own business.
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

/** Where the bytes of a result go. */
interface Sink {
  /** Takes bytes, at once. */
  append(bytes: Uint8Array): void;
  /** Waits until there is room for more. */
  ready?(): Promise<void>;
  /** What was appended, if it is to be joined. */
  pieces(): Uint8Array[];
}

/** A materialisation that has begun: everything that can be wrong with the request is an error at once. */
function begun(
  source: CommitGraph | ChainWalk,
  request: MaterializationPlan | MaterializationRequest,
  fetchBlob: FetchBlob,
  { concurrency = 8, retries = 1, onProgress, signal: given }: MaterializeWithOptions,
): { run(sink: Sink): Promise<Materialized>; free(): void } {
  const signal = checkedSignal(given);
  if (typeof fetchBlob !== "function") throw invalid("fetchBlob", "a function that brings a blob");
  if (onProgress !== undefined && typeof onProgress !== "function") throw invalid("options.onProgress", "a function");
  checkWhole(concurrency, "concurrency", 1);
  checkWhole(retries, "retries", 0);
  const handles = source instanceof ChainWalk ? walks : graphs;
  const json = asked(request);
  const work = handles.use(source, ({ raw }) => call(() => raw.begin(json)));
  const began = instance();
  const free = (): void => {
    if (instance() === began) work.free();
  };
  const run = async (sink: Sink): Promise<Materialized> => {
    const stop = new AbortController();
    const abort = (): void => stop.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      const order = call(() => work.order() as string[]);
      const fetches = new Fetches(order, fetchBlob, { concurrency, retries, signal: stop.signal });
      let bytes = 0;
      for (const [at, ref] of order.entries()) {
        if (sink.ready) await sink.ready();
        let failure: unknown;
        for (let tries = 0; ; tries += 1) {
          const fetched = await raceAbort(fetches.take(ref, tries > 0), signal);
          checkedSignal(signal);
          if (instance() !== began) throw handles.lost();
          if ("failure" in fetched) failure = fetched.failure;
          // Its buffer may have been transferred since it was fetched. Nothing runs between this check and the copy.
          const blob = "answer" in fetched ? checkedBytes(fetched.answer, `fetchBlob(${ref})`) : undefined;
          try {
            if (blob === undefined)
              call(() => {
                throw work.missing();
              });
            else {
              appendBlob(work, blob, (bytes) => sink.append(bytes));
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
      return finished(work, sink.pieces());
    } finally {
      signal?.removeEventListener("abort", abort);
      stop.abort(new CtxweaveError("blob_missing", "the materialisation is over"));
      free();
    }
  };
  return { run, free };
}
