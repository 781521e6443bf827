import { batch, computed, signal, type Signal } from "@preact/signals";
import { ask } from "./ask.js";
import { linkParams, writeAddress } from "../shell/route.js";
import { onDatabaseLost } from "./database.js";
import { unpack } from "./share.js";
import { largeText, StoredDocuments, type State } from "./stored.js";

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
  readonly #now = signal<State<T> | undefined>(undefined);
  readonly #past = signal<readonly State<T>[]>([]);
  readonly #future = signal<readonly State<T>[]>([]);
  #typed = 0;
  #saving: Promise<void> | undefined;
  readonly #stored: StoredDocuments<T>;
  #lastStep = 0;
  /** Whether the document was changed here, since it was restored. */
  #isChanged = false;

  readonly value = computed(() => this.#now.value?.value);
  readonly isOwn = computed(() => this.#now.value?.own ?? false);
  /** Whether the database has the current state of the user's document. */
  readonly isKept = signal(false);
  readonly canUndo = computed(() => this.#past.value.length > 0);
  readonly canRedo = computed(() => this.#future.value.length > 0);
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
      const found = await this.#stored.restore();
      if (found && this.#now.peek() === undefined) {
        const { past, now, future } = found.history;
        this.#lastStep = Math.max(...[...past, now, ...future].map(({ step }) => step));
        batch(() => {
          this.#past.value = past;
          this.#future.value = future;
          this.#now.value = now;
        });
        this.#isChanged = !found.isShared;
        // Also a document continued from another tab, so that this tab keeps it.
        this.#save();
      }
      await this.#look();
    } catch (error) {
      this.problem.value = `the stored document cannot be read: ${(error as Error).message}`;
    }
  }

  /** Looks for the documents of other tabs. */
  async #look(): Promise<void> {
    const { isElsewhere, closed } = await this.#stored.others();
    batch(() => {
      this.isElsewhere.value = isElsewhere;
      this.left.value = closed.length;
    });
  }

  /** Opens the last document that a closed tab left. */
  async openLeft(): Promise<void> {
    try {
      const found = await this.#stored.take();
      if (found) this.show(found.value, true);
      await this.#look();
    } catch (error) {
      this.problem.value = `the stored document cannot be read: ${(error as Error).message}`;
    }
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

  #step(value: T, own: boolean, joined: boolean): void {
    const before = this.#now.peek();
    this.#lastStep += 1;
    const next = { value, own, step: this.#lastStep };
    batch(() => {
      this.#now.value = next;
      this.#future.value = [];
      if (!joined && before && (before.own || next.own)) {
        this.#past.value = [...this.#past.peek(), before].slice(-MAX_UNDO_STEPS);
      }
    });
    const isFirst = own && !this.#isChanged;
    this.#isChanged ||= own;
    this.#save();
    if (isFirst) void this.#look().catch(() => undefined);
  }

  /** Stores the newest state; changes made meanwhile are stored afterwards. */
  #save(): void {
    this.isKept.value = false;
    if (this.#saving) return;
    this.#saving = (async () => {
      let written: State<T> | undefined;
      while (written !== this.#now.peek()) {
        await this.#settled();
        written = this.#now.peek();
        if (!written) break;
        await this.#keep(written);
      }
      this.problem.value = undefined;
      this.isKept.value = written?.own ?? false;
    })()
      .catch((error: unknown) => {
        this.problem.value = `not stored in this browser: ${(error as Error).message}`;
      })
      .finally(() => {
        this.#saving = undefined;
      });
  }

  /** Waits until a large document has not changed for a while: to store it takes as long as many letters. */
  async #settled(): Promise<void> {
    const end = Date.now() + MAX_UNSAVED;
    for (let seen = this.#now.peek(); largeText(seen?.value) !== undefined && Date.now() < end;) {
      if (!(await pause(ONE_STEP)) || seen === this.#now.peek()) return;
      seen = this.#now.peek();
    }
  }

  async #keep(now: State<T>): Promise<void> {
    const [past, future] = [this.#past.peek(), this.#future.peek()];
    try {
      await this.#stored.keep({ past, now, future }, this.#isChanged);
    } catch (error) {
      if (past.length + future.length === 0) throw error;
      // The steps may be too large for the database; the document comes first.
      await this.#stored.keep({ past: [], now, future: [] }, this.#isChanged);
    }
  }
}
