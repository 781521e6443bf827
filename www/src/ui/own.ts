import { batch, computed, signal, type Signal } from "@preact/signals";
import { ask } from "./ask.js";
import { linkParams, writeAddress } from "../shell/route.js";
import { read, write } from "./database.js";
import { unpack } from "./share.js";

interface State<T> {
  value: T;
  /** Whether somebody made or brought it; a sample is nobody's own. */
  own: boolean;
}

/** So many steps can be taken back. */
const MAX_UNDO_STEPS = 100;
/** What is typed within this time is one step. */
const ONE_STEP = 1000;

/**
 * What is open in a view. It keeps itself in this browser's database as long as it is one's own, asks before it is replaced,
 * and can be taken back.
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
  /** Whether what is one's own is in the browser's database as it is now. */
  readonly isKept = signal(false);
  readonly canUndo = computed(() => this.#past.value.length > 0);
  readonly canRedo = computed(() => this.#future.value.length > 0);
  /** What went wrong in keeping it, or in reading a link. */
  readonly problem = signal<string | undefined>(undefined);

  constructor(view: string) {
    this.#view = view;
  }

  /**
   * Opens what the link in the address carries, else, at the start, what was open when the page was left, if that was one's
   * own. Gives whether it opened anything.
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
        this.problem.value = `what this link carries cannot be read: ${(error as Error).message}`;
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
      this.problem.value = `what was kept cannot be read: ${(error as Error).message}`;
    }
  }

  /** A change of what is open, which makes it one's own. */
  edit(value: T): void {
    const now = Date.now();
    this.#step({ value, own: true }, now - this.#typed < ONE_STEP);
    this.#typed = now;
  }

  /** Opens something in the place of what is open. What was of one's own is a step back. */
  show(value: T, own: boolean): void {
    this.#typed = 0;
    this.#step({ value, own }, false);
  }

  /** The same, once it was agreed to where something is lost that is one's own. */
  async offer(value: T, own: boolean): Promise<boolean> {
    if (!(await this.mayReplace())) return false;
    this.show(value, own);
    return true;
  }

  /** Whether something else may be opened. */
  async mayReplace(): Promise<boolean> {
    return !this.isOwn.peek() || ask("What is open here is yours. Replace it? Undo brings it back.", "Replace it");
  }

  /** Notes where in it one is, which is no step. */
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

  /** Writes the newest state; what changes meanwhile is written after it. */
  #save(): void {
    this.isKept.value = false;
    if (this.#saving) return;
    this.#saving = (async () => {
      let written: State<T> | undefined;
      while (written !== this.#now.peek()) {
        written = this.#now.peek();
        // A sample is not kept: it can be fetched again.
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
        this.problem.value = `not kept in this browser: ${(error as Error).message}`;
      })
      .finally(() => {
        this.#saving = undefined;
      });
  }
}
