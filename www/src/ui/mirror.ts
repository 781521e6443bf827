/**
 * The state of a view, computed in a worker for large documents. The module with the state runs in both: the page sends
 * its inputs, the worker computes from them and sends the results.
 */

import { batch, computed, effect, signal, untracked, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Connection } from "./connect.js";
import { once } from "./once.js";
import { listChange, withListChange, type ListChange } from "./same.js";
import { largeText, withText } from "./stored.js";
import { applyEdits, editsBetween, type TextEdit } from "./text-edits.js";

/** Whether this is the worker. */
export const isWorker = typeof document === "undefined";

type Values = Readonly<Record<string, unknown>>;

/** The values that changed since the last ones, and the names of all: missing ones were removed. */
interface Update {
  changed: Record<string, unknown>;
  /** Of lists, only the range that changed. */
  lists: Record<string, ListChange>;
  names: readonly string[];
}

export function updateOf(before: Values | undefined, now: Values): Update {
  const update: Update = { changed: {}, lists: {}, names: Object.keys(now) };
  for (const [name, next] of Object.entries(now)) {
    const old = before?.[name];
    if (before && name in before && old === next) continue;
    if (Array.isArray(old) && Array.isArray(next)) update.lists[name] = listChange(old, next);
    else update.changed[name] = next;
  }
  return update;
}

export function updated(before: Values | undefined, { changed, lists, names }: Update): Values {
  const all: Record<string, unknown> = { ...before, ...changed };
  for (const [name, change] of Object.entries(lists))
    if (change.removed > 0 || change.added.length > 0) all[name] = withListChange(all[name] as unknown[], change);
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

/** What the worker of a view offers. */
export interface MirrorWorker {
  /**
   * Computes from changed inputs; results are reported if they changed, also later. `edits` replace a whole new text.
   */
  compute(changes: Update, edits: TextEdit[] | undefined, report: (results: Update) => void): Promise<void>;
  /** Computes something once, from the current inputs. */
  answer(question: string): unknown;
}

interface WorkerOptions<Inputs> {
  /** What the page may ask. */
  answers?: Record<string, () => unknown>;
  /** Called before new inputs are set. */
  prepare?: (inputs: Inputs) => void;
  /** Prepares results for sending. */
  move?: (changed: Record<string, unknown>) => Record<string, unknown>;
}

/** A document and the other inputs, by name. */
type InputsOf<Document, Signals> = { document: Document } & {
  [Name in keyof Signals]: Signals[Name] extends Signal<infer Value> ? Value : never;
};

/** The inputs as they are sent: the large text apart from the rest of its document. */
const sentInputs = ({ document, ...rest }: { document: unknown }): Values => ({
  ...rest,
  document: withText(document, ""),
  text: largeText(document),
});

const valuesOf = (signals: Record<string, ReadonlySignal>): Values =>
  Object.fromEntries(Object.entries(signals).map(([name, { value }]) => [name, value]));

/** Milliseconds between two computations. */
const PAUSE = 150;

const pause = (time = 0): Promise<void> => new Promise((done) => setTimeout(done, time));

/**
 * Uses a worker while the text of the document is large. Inputs that change while it computes are sent when it is done,
 * so that typing never queues work. Only what changed is sent: a large text is copied when it is sent.
 */
export class Mirror<Document, Signals extends Record<string, Signal>> {
  /** The open document; in the worker, that of the page. */
  readonly document: ReadonlySignal<Document | undefined>;
  /** In the worker: the document of the page. */
  readonly received = signal<Document | undefined>(undefined);
  /** Whether the worker computes. */
  readonly isUsed: ReadonlySignal<boolean>;
  /** Whether newer results follow. */
  readonly isBusy = signal(false);
  /** The inputs of the worker's results; undefined until the first ones arrive. */
  readonly inputs = signal<InputsOf<Document, Signals> | undefined>(undefined);
  /** Starts the worker. Set by the view, since the module with the state is also part of the worker. */
  start: () => Promise<Connection<MirrorWorker>> = () => Promise.reject(new Error("the view has no worker"));

  readonly #signals: Signals;
  readonly #current: ReadonlySignal<InputsOf<Document, Signals> | undefined>;
  readonly #results = signal<Values | undefined>(undefined);
  /** What the worker computes, by name. */
  readonly #computed: Record<string, ReadonlySignal> = {};
  readonly #connect = once(() => this.start());
  /** What the worker has, and what it reported. */
  #sent: InputsOf<Document, Signals> | undefined;
  #last: Values | undefined;

  constructor(own: ReadonlySignal<Document | undefined>, signals: Signals) {
    this.#signals = signals;
    this.document = computed(() => this.received.value ?? own.value);
    this.#current = computed(() => {
      if (isWorker || largeText(own.value) === undefined) return undefined;
      return { document: own.value, ...valuesOf(signals) } as InputsOf<Document, Signals>;
    });
    this.isUsed = computed(() => this.#current.value !== undefined);
    if (!isWorker) effect(() => this.#follow(this.#current.value === undefined));
  }

  /**
   * A result: the worker's while it computes, or, until it has arrived, `absent`; otherwise it is computed here. The
   * worker sends what `short` leaves of it.
   */
  result<T>(name: string, absent: T, compute: () => T, short: (value: T) => T = (value) => value): ReadonlySignal<T> {
    const here = computed(compute);
    this.#computed[name] = computed(() => short(here.value));
    if (isWorker) return here;
    return computed(() => {
      if (!this.isUsed.value) return here.value;
      return this.#results.value ? (this.#results.value[name] as T) : absent;
    });
  }

  /** Starts the worker before it is needed. */
  async prepare(): Promise<void> {
    await this.#connect();
  }

  /** Asks the worker once it has the current inputs. */
  async ask(question: string): Promise<unknown> {
    let stop: (() => void) | undefined;
    await new Promise<void>((done) => (stop = effect(() => void (this.isBusy.value || done()))));
    stop?.();
    return (await this.#connect()).worker.answer(question);
  }

  /** The worker's side: sets the inputs of the page, and computes the results from them. */
  worker(
    ready: Promise<unknown>,
    { answers = {}, prepare, move = (changed) => changed }: WorkerOptions<InputsOf<Document, Signals>> = {},
  ): MirrorWorker {
    let stop: (() => void) | undefined;
    let last: Values | undefined;
    let sent: Values | undefined;
    return {
      compute: async (changes, edits, report) => {
        await ready;
        stop?.();
        const before = sent;
        const { text, document, ...rest } = updated(before, changes);
        const whole = edits && before ? applyEdits(before.text as string, edits) : text;
        sent = { ...rest, document, text: whole };
        const inputs = { ...rest, document: withText(document, whole) };
        prepare?.(inputs as InputsOf<Document, Signals>);
        batch(() => {
          this.received.value = inputs.document as Document;
          for (const [name, one] of Object.entries(this.#signals)) one.value = rest[name];
        });
        stop = effect(() => {
          const all = valuesOf(this.#computed);
          const { changed, ...others } = updateOf(last, all);
          last = all;
          report({ changed: move(changed), ...others });
        });
      },
      answer: async (question) => {
        await ready;
        return answers[question]?.();
      },
    };
  }

  #follow(isSmall: boolean): void {
    untracked(() => {
      if (isSmall) this.#results.value = undefined;
      else if (!this.isBusy.peek()) {
        this.isBusy.value = true;
        this.#run().catch(() => {
          this.#sent = undefined;
          this.isBusy.value = false;
        });
      }
    });
  }

  async #run(): Promise<void> {
    const { worker, proxy } = await this.#connect();
    for (let now = this.#current.peek(); now && now !== this.#sent; now = this.#current.peek()) {
      const [before, inputs] = [this.#sent && sentInputs(this.#sent), now];
      const changes = updateOf(before, sentInputs(now));
      const edits = before && editsBetween(before.text as string, largeText(now.document) as string);
      if (edits) delete changes.changed.text;
      this.#sent = now;
      const report = async (results: Update): Promise<void> => {
        this.#last = updated(this.#last, results);
        // In a separate task: receiving results and showing them each take a while.
        await pause();
        if (this.#current.peek() === undefined) return;
        batch(() => {
          this.inputs.value = inputs;
          this.#results.value = this.#last;
        });
      };
      await worker.compute(changes, edits, proxy(report));
      await pause();
      // While the user types, only the last state is sent.
      if (this.#current.peek() !== now) await pause(PAUSE);
    }
    this.isBusy.value = false;
  }
}
