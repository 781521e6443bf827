import { batch, computed, signal, type Signal } from "@preact/signals";
import { ask } from "./ask.js";
import { linkParams, writeAddress } from "../shell/route.js";
import { read, write } from "./database.js";
import { unpack } from "./share.js";

interface State<T> {
  value: T;
  /** Whether the user made or opened it; false for a sample. */
  own: boolean;
}

/** Maximum number of undo steps. */
const MAX_UNDO_STEPS = 100;
/** Milliseconds within which edits are merged into one step. */
const ONE_STEP = 1000;

/**
 * The open document of a view. A document of the user's is stored in the browser's database, is replaced only after
 * confirmation, and has undo.
 */
export class PersistedDocument<T> {
  readonly #view: string;
  readonly #now = signal<State<T> | undefined>(undefined);
  readonly #past = signal<readonly State<T>[]>([]);
  readonly #future = signal<readonly State<T>[]>([]);
  #typed = 0;
  #saving: Promise<void> | undefined;
  #stored = false;

  readonly value = computed(() => this.#now.value?.value);
  readonly isOwn = computed(() => this.#now.value?.own ?? false);
  /** Whether the database has the current state of the user's document. */
  readonly isKept = signal(false);
  readonly canUndo = computed(() => this.#past.value.length > 0);
  readonly canRedo = computed(() => this.#future.value.length > 0);
  /** Why the document could not be stored, or a link not read. */
  readonly problem = signal<string | undefined>(undefined);

  constructor(view: string) {
    this.#view = view;
  }

  /**
   * Opens the document in the address, otherwise, at the start, the user's last document. Returns whether it opened
   * one.
   */
  async begin(open: (content: unknown) => T): Promise<boolean> {
    const link = linkParams(this.#view);
    const packed = link.get("own");
    const first = this.#now.peek() === undefined;
    if (first) await this.#restore();
    if (packed !== null) {
      link.delete("own");
      writeAddress(this.#view, link);
      try {
        return await this.offer(open(await unpack(packed)), true);
      } catch (error) {
        this.problem.value = `the document in this link cannot be read: ${(error as Error).message}`;
      }
    }
    return first && this.#now.peek() !== undefined;
  }

  async #restore(): Promise<void> {
    try {
      const found = (await read("views", (store) => store.get(this.#view))) as State<T> | undefined;
      this.#stored = found !== undefined;
      if (!found || this.#now.peek() !== undefined) return;
      this.#now.value = found;
      this.isKept.value = true;
    } catch (error) {
      this.problem.value = `the stored document cannot be read: ${(error as Error).message}`;
    }
  }

  /** Changes the document, which makes it the user's. */
  edit(value: T): void {
    const now = Date.now();
    this.#step({ value, own: true }, now - this.#typed < ONE_STEP);
    this.#typed = now;
  }

  /** Replaces the document. A user's document can be restored by undo. */
  show(value: T, own: boolean): void {
    this.#typed = 0;
    this.#step({ value, own }, false);
  }

  /** The same, after confirmation if a user's document would be replaced. */
  async offer(value: T, own: boolean): Promise<boolean> {
    if (!(await this.mayReplace())) return false;
    this.show(value, own);
    return true;
  }

  /** Whether the document may be replaced. */
  async mayReplace(): Promise<boolean> {
    return !this.isOwn.peek() || ask("Replace your document? You can undo this.", "Replace it");
  }

  /** Records the position in the document without an undo step. */
  note(value: T): void {
    const now = this.#now.peek();
    if (now) this.#now.value = { ...now, value };
  }

  undo(): void {
    this.#move(this.#past, this.#future);
  }

  redo(): void {
    this.#move(this.#future, this.#past);
  }

  #move(from: Signal<readonly State<T>[]>, to: Signal<readonly State<T>[]>): void {
    const next = from.peek().at(-1);
    const now = this.#now.peek();
    if (!next || !now) return;
    batch(() => {
      from.value = from.peek().slice(0, -1);
      to.value = [...to.peek(), now];
      this.#now.value = next;
    });
    this.#typed = 0;
    this.#save();
  }

  #step(next: State<T>, joined: boolean): void {
    const before = this.#now.peek();
    batch(() => {
      this.#now.value = next;
      this.#future.value = [];
      if (!joined && before && (before.own || next.own)) {
        this.#past.value = [...this.#past.peek(), before].slice(-MAX_UNDO_STEPS);
      }
    });
    this.#save();
  }

  /** Stores the newest state; changes made meanwhile are stored afterwards. */
  #save(): void {
    this.isKept.value = false;
    if (this.#saving) return;
    this.#saving = (async () => {
      let written: State<T> | undefined;
      while (written !== this.#now.peek()) {
        written = this.#now.peek();
        // A sample is not stored: it can be fetched again.
        if (!written?.own && !this.#stored) continue;
        const kept = written;
        await write(["views"], (store) => {
          if (kept?.own) store.put(kept, this.#view);
          else store.delete(this.#view);
        });
        this.#stored = kept?.own ?? false;
      }
      this.problem.value = undefined;
      this.isKept.value = this.#stored;
    })()
      .catch((error: unknown) => {
        this.problem.value = `not stored in this browser: ${(error as Error).message}`;
      })
      .finally(() => {
        this.#saving = undefined;
      });
  }
}
