import { batch, computed, signal } from "@preact/signals";
import { ask } from "./ask.js";
import { linkParams, writeAddress } from "../shell/route.js";
import { onDatabaseLost } from "./database.js";
import { unpack } from "./share.js";
import { largeText, StoredDocuments, type History } from "./stored.js";

/** Maximum number of undo steps. */
const MAX_UNDO_STEPS = 100;
/** Milliseconds within which edits are merged into one step. */
const ONE_STEP = 1000;
/** Milliseconds after which a large document is stored while it keeps changing. */
const MAX_UNSAVED = 5000;

/** Waits, or until the page may be closed. Returns whether the time passed. */
function pause(time: number): Promise<boolean> {
  return new Promise((resolve) => {
    const off = new AbortController();
    const end = (passed: boolean): void => {
      off.abort();
      resolve(passed);
    };
    setTimeout(() => end(true), time);
    // In this order: after the last of them only what is already begun is stored.
    for (const event of ["beforeunload", "pagehide", "visibilitychange"])
      addEventListener(event, () => end(false), { signal: off.signal });
  });
}

/**
 * The open document of a view. A document of the user's is stored in the browser's database with its undo steps, and is
 * replaced only after confirmation. Each tab has its own.
 */
export class PersistedDocument<T> {
  readonly #view: string;
  readonly #stored: StoredDocuments<T>;
  readonly #history = signal<History<T>>({ states: [], at: -1 });
  /** When the document was edited last. */
  #typed = 0;
  #isSaving = false;
  /** Whether the document was changed here, since it was restored. */
  #isChanged = false;

  readonly #now = computed(() => this.#history.value.states[this.#history.value.at]);
  readonly value = computed(() => this.#now.value?.value);
  readonly isOwn = computed(() => this.#now.value?.own ?? false);
  /** Whether the database has the current state of the user's document. */
  readonly isKept = signal(false);
  readonly canUndo = computed(() => this.#history.value.at > 0);
  readonly canRedo = computed(() => this.#history.value.at < this.#history.value.states.length - 1);
  /** Whether another open tab has a document of this view. */
  readonly isElsewhere = signal(false);
  /** Number of documents that closed tabs left. */
  readonly left = signal(0);
  /** Why the document could not be stored, or a link not read. */
  readonly problem = signal<string | undefined>(undefined);

  constructor(view: string) {
    this.#view = view;
    this.#stored = new StoredDocuments(view);
    onDatabaseLost(() => (this.isKept.value = false));
  }

  /**
   * Opens the document in the address, otherwise, at the start, the user's last document. Returns whether it opened
   * one.
   */
  async begin(open: (content: unknown) => T): Promise<boolean> {
    const link = linkParams(this.#view);
    const packed = link.get("own");
    const first = this.#now.peek() === undefined;
    if (first) await this.#reading(() => this.#restore());
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
    const found = await this.#stored.restore();
    if (!found || this.#now.peek()) return;
    this.#history.value = found.history;
    this.#isChanged = !found.isShared;
    // Also a document continued from another tab, so that this tab keeps it.
    void this.#save();
  }

  /** Opens the last document that a closed tab left. */
  openLeft(): Promise<void> {
    return this.#reading(async () => {
      const found = await this.#stored.take();
      if (found) this.show(found.value, true);
    });
  }

  /** Reads from the database, and looks for the documents of other tabs. */
  async #reading(action: () => Promise<void>): Promise<void> {
    try {
      await action();
      await this.#look();
    } catch (error) {
      this.problem.value = `the stored document cannot be read: ${(error as Error).message}`;
    }
  }

  async #look(): Promise<void> {
    const { isElsewhere, closed } = await this.#stored.others();
    batch(() => {
      this.isElsewhere.value = isElsewhere;
      this.left.value = closed.length;
    });
  }

  /** Changes the document, which makes it the user's. */
  edit(value: T): void {
    const now = Date.now();
    this.#step(value, true, now - this.#typed < ONE_STEP);
    this.#typed = now;
  }

  /** Replaces the document. A user's document can be restored by undo. */
  show(value: T, own: boolean): void {
    this.#typed = 0;
    this.#step(value, own, false);
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
    const { states, at } = this.#history.peek();
    const now = states[at];
    if (now) this.#history.value = { states: states.with(at, { ...now, value }), at };
  }

  undo(): void {
    this.#move(-1);
  }

  redo(): void {
    this.#move(1);
  }

  #move(by: 1 | -1): void {
    const { states, at } = this.#history.peek();
    if (states[at + by] === undefined) return;
    this.#history.value = { states, at: at + by };
    this.#typed = 0;
    void this.#save();
  }

  #step(value: T, own: boolean, isJoined: boolean): void {
    const { states, at } = this.#history.peek();
    const before = states[at];
    // A sample that is replaced by another needs no step.
    const isReplaced = isJoined || !(before?.own || own);
    const past = states.slice(0, isReplaced ? at : at + 1);
    const next = [...past, { value, own, step: (before?.step ?? 0) + 1 }].slice(-MAX_UNDO_STEPS - 1);
    this.#history.value = { states: next, at: next.length - 1 };
    const isFirst = own && !this.#isChanged;
    this.#isChanged ||= own;
    void this.#save();
    if (isFirst) void this.#look().catch(() => undefined);
  }

  /** Stores the newest state; changes made meanwhile are stored afterwards. */
  async #save(): Promise<void> {
    this.isKept.value = false;
    if (this.#isSaving) return;
    this.#isSaving = true;
    try {
      let written: History<T> | undefined;
      while (written !== this.#history.peek()) {
        await this.#settled();
        written = this.#history.peek();
        await this.#keep(written);
      }
      this.problem.value = undefined;
      this.isKept.value = this.isOwn.peek();
    } catch (error) {
      this.problem.value = `not stored in this browser: ${(error as Error).message}`;
    } finally {
      this.#isSaving = false;
    }
  }

  /** Waits until a large document has not changed for a while: to store it takes as long as many letters. */
  async #settled(): Promise<void> {
    const end = Date.now() + MAX_UNSAVED;
    while (largeText(this.value.peek()) !== undefined && Date.now() < end) {
      const seen = this.#now.peek();
      if (!(await pause(ONE_STEP)) || seen === this.#now.peek()) return;
    }
  }

  async #keep({ states, at }: History<T>): Promise<void> {
    try {
      await this.#stored.keep({ states, at }, this.#isChanged);
    } catch (error) {
      if (states.length === 1) throw error;
      // The steps may be too large for the database; the document comes first.
      await this.#stored.keep({ states: states.slice(at, at + 1), at: 0 }, this.#isChanged);
    }
  }
}
