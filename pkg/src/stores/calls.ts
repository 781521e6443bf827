/** Calls of a store, made again where they fail. */

import { checkedBytes } from "../api/commits/bytes.js";
import { CtxweaveError } from "../error.js";
import { reasonOf } from "../source.js";
import type { Store, StorePage } from "../types/stores.js";

const decoder = new TextDecoder();

/** The calls of a host's store, with retries. What fails each time is `store_failed`. */
export class StoreCalls {
  constructor(
    readonly store: Store,
    private readonly options: { retries: number; delay: number; timeout: number },
  ) {}

  get(key: string): Promise<Uint8Array | undefined> {
    return this.again("get", key, async () => {
      const value: unknown = await this.store.get(key);
      return value === undefined || value === null ? undefined : checkedBytes(value, "the result of `get`");
    });
  }

  /** A value that is a text. */
  async text(key: string): Promise<string | undefined> {
    const bytes = await this.get(key);
    return bytes && decoder.decode(bytes);
  }

  put(key: string, bytes: Uint8Array): Promise<void> {
    return this.again("put", key, () => this.store.put(key, bytes));
  }

  list(prefix: string, cursor?: string, limit?: number): Promise<StorePage> {
    return this.again("list", prefix, () => this.store.list(prefix, cursor, limit));
  }

  /** All keys with a prefix. */
  async *keys(prefix: string): AsyncGenerator<string[]> {
    for (let cursor: string | undefined; ;) {
      const page: StorePage = await this.list(prefix, cursor);
      if (page.keys.length > 0) yield page.keys;
      if (page.cursor === undefined) return;
      cursor = page.cursor;
    }
  }

  ancestors(id: string, limit: number): Promise<string> | undefined {
    const { store } = this;
    if (!store.ancestors) return undefined;
    return this.again("ancestors", id, () => store.ancestors?.(id, limit) ?? Promise.resolve(""));
  }

  /**
   * Sets a text if the value is the expected one. A try that failed may have been carried out, so that a later one finds its own
   * work; where others have gone on from there already it says no, and the caller looks what became of it.
   */
  async compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    let tries = 0;
    const done = await this.again("compareAndSet", key, () => {
      tries += 1;
      return this.store.compareAndSet(key, expected, next);
    });
    return done || (tries > 1 && (await this.text(key)) === next);
  }

  /** Sets a text from what it is, until nobody comes between. `change` gives undefined to leave it. */
  async update(key: string, change: (text: string | undefined) => string | undefined): Promise<string | undefined> {
    for (let tries = 0; ; tries += 1) {
      const text = await this.text(key);
      const next = change(text);
      if (next === undefined || next === text) return text;
      if (await this.compareAndSet(key, text, next)) return next;
      await this.pause(tries);
    }
  }

  /** Waits: longer each time, and not as long as others. */
  pause(tries: number): Promise<void> {
    const most = this.options.delay * 2 ** Math.min(tries, 6);
    return new Promise((resolve) => setTimeout(resolve, most * (0.5 + Math.random() / 2)));
  }

  private async again<T>(operation: string, key: string, action: () => Promise<T>): Promise<T> {
    const { retries, timeout } = this.options;
    for (let tries = 0; ; tries += 1) {
      try {
        return await withinTime(action, timeout);
      } catch (cause) {
        if (tries >= retries) {
          const message = `\`${operation}\` of \`${key}\` failed, the last time with: ${reasonOf(cause)}`;
          throw new CtxweaveError("store_failed", message, { operation, key }, { cause });
        }
        await this.pause(tries);
      }
    }
  }
}

async function withinTime<T>(action: () => Promise<T>, timeout: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeout} ms`)), timeout);
  });
  try {
    return await Promise.race([action(), late]);
  } finally {
    clearTimeout(timer);
  }
}
