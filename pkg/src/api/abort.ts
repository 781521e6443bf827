/** Cancellation of asynchronous work. */

import type { PlatformAbortSignal } from "../types/platform.js";
import { invalid } from "./checked.js";

/**
 * Validates the `signal` of an option, before anything runs. Any object with the interface of an `AbortSignal` is
 * accepted, because it may come from another realm.
 *
 * @throws the signal's reason if it is aborted; {@link CtxweaveError} `invalid_input` for anything other than a signal
 */
export function checkedSignal(signal: unknown, path = "options.signal"): PlatformAbortSignal | undefined {
  const checked = asSignal(signal, path);
  if (checked?.aborted) throw checked.reason;
  return checked;
}

/** The same for a signal that may be aborted before it is used. */
export function asSignal(signal: unknown, path = "options.signal"): PlatformAbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  if (!isSignal(signal)) throw invalid(path, "an `AbortSignal`; pass the `signal` of an `AbortController`");
  return signal;
}

/** Runs work with a signal that is aborted when one of two is. */
export async function withEither<T>(
  one: PlatformAbortSignal | undefined,
  other: PlatformAbortSignal | undefined,
  work: (signal: PlatformAbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (!one || !other) return work(one ?? other);
  const controller = new AbortController();
  const signals = [one, other].map((signal) => ({ signal, abort: () => controller.abort(signal.reason) }));
  for (const { signal, abort } of signals) signal.addEventListener("abort", abort);
  try {
    return await work(controller.signal as PlatformAbortSignal);
  } finally {
    for (const { signal, abort } of signals) signal.removeEventListener("abort", abort);
  }
}

function isSignal(value: unknown): value is PlatformAbortSignal {
  try {
    const { aborted, addEventListener, removeEventListener } = value as Partial<PlatformAbortSignal>;
    return (
      typeof aborted === "boolean" &&
      typeof addEventListener === "function" &&
      typeof removeEventListener === "function"
    );
  } catch {
    // A getter that throws.
    return false;
  }
}

/**
 * Settles like `work`, or rejects with the signal's reason when it is aborted, even if `work` never settles. A later
 * result is passed to `discard`; a later rejection is ignored.
 */
export function raceAbort<T>(
  work: T | PromiseLike<T>,
  signal: PlatformAbortSignal | undefined,
  discard: (late: T) => void = () => undefined,
): Promise<T> {
  if (!signal) return Promise.resolve(work);
  return new Promise((resolve, reject) => {
    let aborted = false;
    const abort = (): void => {
      aborted = true;
      // The work may never settle.
      signal.removeEventListener("abort", abort);
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
    const end = (settle: () => void): void => {
      signal.removeEventListener("abort", abort);
      if (!aborted) settle();
    };
    Promise.resolve(work).then(
      (result) => {
        if (aborted) discard(result);
        end(() => resolve(result));
      },
      (error: unknown) => end(() => reject(error as Error)),
    );
  });
}
