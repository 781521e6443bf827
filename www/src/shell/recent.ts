import { signal } from "@preact/signals";
import type { Target } from "../reader/kinds.js";
import { read, write } from "../ui/database.js";

/** An item that was opened before: stored in the browser's database, with its content. */
export interface Recent {
  view: Target;
  name: string;
  /** Its kind, in words that complete "this is". */
  what: string;
  size: number;
  tokens?: number;
  first: string;
  /** When it was opened last, in milliseconds. */
  at: number;
  file: Blob;
}

/** Maximum number of items for each view, and their maximum size in bytes. */
const MAX_PER_VIEW = 10;
const MAX_BYTES = 16_000_000;

/** The stored items, newest first. */
export const recent = signal<readonly Recent[]>([]);

export const keyOf = ({ view, name, size }: Recent): string => `${view} ${size} ${name}`;

/** Reads the list from the database; without one it stays empty. */
export async function loadRecent(): Promise<void> {
  try {
    const all = (await read("recent", (store) => store.getAll())) as Recent[];
    recent.value = all.toSorted((one, other) => other.at - one.at);
  } catch {
    // Without a database nothing is stored.
  }
}

/** Adds an item to the list; the oldest ones of its view are dropped. */
export async function remember(item: Recent): Promise<void> {
  if (item.size > MAX_BYTES) return;
  await loadRecent();
  const others = recent.peek().filter((one) => keyOf(one) !== keyOf(item));
  const dropped = others.filter(({ view }) => view === item.view).slice(MAX_PER_VIEW - 1);
  recent.value = [item, ...others.filter((one) => !dropped.includes(one))];
  try {
    await write("recent", (store) => {
      store.put(item, keyOf(item));
      for (const one of dropped) store.delete(keyOf(one));
    });
  } catch {
    // The item is listed until the page is closed.
  }
}

/** Removes all items from the list and the database. */
export async function forgetRecent(): Promise<void> {
  recent.value = [];
  await write("recent", (store) => store.clear()).catch(() => undefined);
}
