/** Work of the caller's that may be given up. */

import type { PlatformAbortSignal } from "../types/platform.js";

/**
 * Settles as the work does, or rejects with the signal's reason as soon as that is aborted, whether or not the work ever ends. What
 * comes of it later is handed to `discard`; a late failure is ignored.
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
