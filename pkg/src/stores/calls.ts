/** Calls of a store, with retries. */

import { checkedSignal, raceAbort } from "../api/abort.js";
import { checkedList, checkedObject } from "../api/checked.js";
import { checkedBytes } from "../api/commits/bytes.js";
import { CtxweaveError } from "../error.js";
import { isInstance, reasonOf } from "../source.js";
import type { PlatformAbortSignal } from "../types/platform.js";
import type { Store, StorePage } from "../types/stores.js";

const decoder = new TextDecoder();

/** Characters of a key that a message shows. */
const SHOWN_KEY_CHARACTERS = 100;

/** A failure that a retry cannot repair, such as a key that is too long for the host. */
export class PermanentFailure extends Error {}

/** The calls of a host's store, with retries. Repeated failure throws `store_failed`, an abort the signal's reason. */
export class StoreCalls {
  constructor(
    readonly store: Store,
    private readonly options: { retries: number; delay: number; timeout: number },
    readonly signal?: PlatformAbortSignal,
  ) {}

  /** The same calls, which end when the signal is aborted, even if the store never answers. */
  within(signal: PlatformAbortSignal | undefined): StoreCalls {
    return signal === this.signal ? this : new StoreCalls(this.store, this.options, signal);
  }

  get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.again("get", key, async () => {
      const value: unknown = await this.store.get(key);
      return value === undefined || value === null ? undefined : checkedBytes(value, "store.get()");
    });
  }

  /** The value of a key as text. */
  async text(key: string): Promise<string | undefined> {
    const bytes = await this.get(key);
    return bytes && decoder.decode(bytes);
  }

  put(key: string, bytes: Uint8Array): Promise<void> {
    return this.again("put", key, () => this.store.put(key, bytes));
  }

  list(prefix: string, cursor?: string, limit?: number): Promise<StorePage> {
    return this.again("list", prefix, async () => checkedPage(await this.store.list(prefix, cursor, limit)));
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
   * Sets a text if the current value is the expected one. A failed attempt may have taken effect, so that a retry finds
   * its own value. If other writers have changed it since, this returns false, and the caller has to check.
   */
  async compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    let tries = 0;
    const done = await this.again("compareAndSet", key, () => {
      tries += 1;
      return this.store.compareAndSet(key, expected, next);
    });
    return done || (tries > 1 && (await this.text(key)) === next);
  }

  /**
   * Reads, changes and sets a text, until no other writer interferes. `change` returns undefined to leave it unchanged.
   */
  async update(key: string, change: (text: string | undefined) => string | undefined): Promise<string | undefined> {
    for (let tries = 0; ; tries += 1) {
      const text = await this.text(key);
      const next = change(text);
      if (next === undefined || next === text) return text;
      if (await this.compareAndSet(key, text, next)) return next;
      await this.pause(tries);
    }
  }

  /** Exponential backoff with jitter. */
  pause(tries: number): Promise<void> {
    const longest = this.options.delay * 2 ** Math.min(tries, 6);
    const time = new Promise<void>((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
    return raceAbort(time, this.signal);
  }

  private async again<T>(operation: string, key: string, action: () => Promise<T>): Promise<T> {
    const { retries, timeout } = this.options;
    for (let tries = 0; ; tries += 1) {
      checkedSignal(this.signal);
      try {
        return await withinTime(() => raceAbort(action(), this.signal), timeout);
      } catch (cause) {
        checkedSignal(this.signal);
        if (tries >= retries || isInstance(cause, PermanentFailure)) {
          const what = tries > 0 ? "failed after retries, the last error is" : "failed";
          const message = `\`${operation}\` of \`${shown(key)}\` ${what}: ${reasonOf(cause)}`;
          throw new CtxweaveError("store_failed", message, { operation, key }, { cause });
        }
        await this.pause(tries);
      }
    }
  }
}

function checkedPage(page: StorePage): StorePage {
  checkedList(checkedObject(page, "store.list()").keys, "store.list().keys");
  return page;
}

function shown(key: string): string {
  return key.length > SHOWN_KEY_CHARACTERS ? `${key.slice(0, SHOWN_KEY_CHARACTERS)}…` : key;
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
