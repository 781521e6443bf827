/** Prefetching of blobs. */

import type { FetchBlob } from "../../types/commits.js";

/** The unvalidated result of the caller's function, or the reason for a missing blob. */
type Fetched = { answer: unknown } | { failure: unknown };

/** Prefetches blobs: at most `concurrency` at a time, and not far beyond the next ones needed. */
export class Fetches {
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

  /** The next blob, once fetched. */
  take(ref: string, again: boolean): Promise<Fetched> {
    if (again) this.started.set(ref, this.fetch(ref, 0));
    this.ahead();
    return this.started.get(ref) ?? Promise.resolve({ failure: undefined });
  }

  /** Releases a blob that is in the result, unless it occurs again. */
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

  /** Never rejects: an early failure would be an unhandled rejection. */
  private async fetch(ref: string, retries: number): Promise<Fetched> {
    const { signal } = this.options;
    for (let tries = 0; ; tries += 1) {
      try {
        const answer: unknown = await this.fetchBlob(ref, { signal });
        if (answer === undefined || answer === null) throw new Error("`fetchBlob` returned no blob");
        return { answer };
      } catch (failure) {
        if (tries >= retries || signal.aborted) return { failure };
      }
    }
  }
}
