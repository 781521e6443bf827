/**
 * The state of a view, computed in a worker for large documents. The module with the state runs in both: the page sends
 * its inputs, the worker computes from them and sends the results.
 */

import { batch, computed, effect, signal, untracked, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Remote } from "comlink";
import { listChange, withListChange, type ListChange } from "./same.js";
import { applyEdits, editsBetween, type TextEdit } from "./text-edits.js";

/** Whether this is the worker. */
export const isWorker = typeof document === "undefined";

/** Inputs with a large text. */
interface WithText {
  text: string;
}

/** The fields of an object that changed since the last one, and the names of all its fields: others are gone. */
interface Update<T> {
  changed: Partial<T>;
  /** Of lists, only the range that changed. */
  lists: Partial<Record<keyof T, ListChange>>;
  names: readonly (keyof T)[];
}

export function updateOf<T extends object>(before: Partial<T> | undefined, now: T): Update<T> {
  const names = Object.keys(now) as (keyof T)[];
  const changed: Partial<T> = {};
  const lists: Update<T>["lists"] = {};
  for (const name of names) {
    const [old, next] = [before?.[name], now[name]];
    if (before && name in before && old === next) continue;
    if (Array.isArray(old) && Array.isArray(next)) lists[name] = listChange(old, next);
    else changed[name] = next;
  }
  return { changed, lists, names };
}

export function updated<T extends object>(before: T | undefined, { changed, lists, names }: Update<T>): T {
  const all = { ...before, ...changed } as T;
  for (const [name, change] of Object.entries(lists) as [keyof T, ListChange][])
    if (change.removed > 0 || change.added.length > 0)
      all[name] = withListChange(all[name] as unknown[], change) as T[typeof name];
  return Object.fromEntries(names.map((name) => [name, all[name]])) as T;
}

/** The inputs that changed. */
interface Changes<Inputs> extends Update<Inputs> {
  /** Edits of the last text, instead of a whole new one. */
  edits?: TextEdit[] | undefined;
}

/** What the worker of a view offers. */
export interface MirrorWorker<Inputs, Results> {
  /** Computes from new inputs; results are reported if they changed, also later. */
  compute(changes: Changes<Inputs>, report: (update: Update<Results>) => void): Promise<void>;
  /** Computes something once, from the current inputs. */
  answer(question: string): unknown;
}

/** The page's side of a worker. */
export interface Mirror<Inputs, Results> {
  /** Whether the worker computes. */
  isUsed: ReadonlySignal<boolean>;
  /** The last results; undefined until the first ones arrive. */
  results: Signal<Results | undefined>;
  /** The inputs of these results. */
  inputs: Signal<Inputs | undefined>;
  /** Whether newer results follow. */
  isBusy: Signal<boolean>;
  /** Starts the worker. Set by the view, since the module with the state is also part of the worker. */
  start: () => Worker;
  /** Starts the worker before it is needed. */
  prepare: () => Promise<void>;
  /** Asks the worker once it has the current inputs. */
  ask: (question: string) => Promise<unknown>;
  /** A result: the worker's while it computes, or, until it has arrived, `absent`; otherwise it is computed here. */
  result: <Name extends keyof Results>(
    name: Name,
    absent: Results[Name],
    local: () => Results[Name],
  ) => ReadonlySignal<Results[Name]>;
}

const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done));

/** Milliseconds between two computations. */
const PAUSE = 150;

/**
 * Uses a worker while `inputs` has a value. Inputs that change while it computes are sent when it is done, so that typing
 * never queues work. Only what changed is sent: a large text is copied when it is sent.
 */
export function mirror<Inputs extends WithText, Results extends object>(
  inputs: () => Inputs | undefined,
): Mirror<Inputs, Results> {
  const given = computed(() => (isWorker ? undefined : inputs()));
  const results = signal<Results | undefined>(undefined);
  const answered = signal<Inputs | undefined>(undefined);
  const isBusy = signal(false);
  let remote: Remote<MirrorWorker<Inputs, Results>> | undefined;
  /** What the worker has, and what it reported. */
  let sent: Inputs | undefined;
  let last: Results | undefined;
  const prepare = async (): Promise<Remote<MirrorWorker<Inputs, Results>>> => {
    const { wrap } = await import("comlink");
    return (remote ??= wrap<MirrorWorker<Inputs, Results>>(self.start()));
  };
  const run = async (): Promise<void> => {
    const [{ proxy }, worker] = [await import("comlink"), await prepare()];
    let isFirst = true;
    while (given.peek() !== undefined && (isFirst || sent !== given.peek())) {
      // While the user types, only the last state is sent.
      if (!isFirst) await new Promise((done) => setTimeout(done, PAUSE));
      const now = given.peek();
      if (now === undefined) break;
      const changes = changesOf(sent, now);
      [sent, isFirst] = [now, false];
      await worker.compute(
        changes as never,
        proxy(async (update: Update<Results>) => {
          last = updated(last, update);
          // In another task: to receive results and to show them takes long enough.
          await nextTask();
          if (given.peek() === undefined) return;
          batch(() => {
            answered.value = now;
            results.value = last;
          });
        }) as never,
      );
      await nextTask();
    }
    isBusy.value = false;
  };
  const self: Mirror<Inputs, Results> = {
    isUsed: computed(() => given.value !== undefined),
    results,
    inputs: answered,
    isBusy,
    start: () => {
      throw new Error("the view has no worker");
    },
    prepare: async () => void (await prepare()),
    ask: async (question) => {
      let stop: (() => void) | undefined;
      await new Promise<void>((done) => (stop = effect(() => void (isBusy.value || done()))));
      stop?.();
      return (await prepare()).answer(question);
    },
    result: (name, absent, local) =>
      computed(() => (given.value === undefined ? local() : results.value ? results.value[name] : absent)),
  };
  if (!isWorker) {
    effect(() => {
      const now = given.value;
      untracked(() => {
        if (now === undefined) results.value = undefined;
        else if (!isBusy.peek()) {
          isBusy.value = true;
          run().catch(() => {
            sent = undefined;
            isBusy.value = false;
          });
        }
      });
    });
  }
  return self;
}

function changesOf<Inputs extends WithText>(before: Inputs | undefined, now: Inputs): Changes<Inputs> {
  const update = updateOf(before, now);
  const edits = before && editsBetween(before.text, now.text);
  if (edits) delete update.changed.text;
  return { ...update, edits };
}

interface WorkerOptions<Results> {
  /** What the page may ask. */
  answers: Record<string, () => unknown>;
  move: (changed: Partial<Results>) => Partial<Results>;
}

/** The worker's side: `apply` sets the inputs, `read` computes the results from them; `move` prepares them for sending. */
export function mirrorWorker<Inputs extends WithText, Results extends object>(
  ready: Promise<unknown>,
  apply: (inputs: Inputs) => void,
  read: () => Results,
  { answers = {}, move }: Partial<WorkerOptions<Results>> = {},
): MirrorWorker<Inputs, Results> {
  let stop: (() => void) | undefined;
  let last: Results | undefined;
  let inputs: Inputs | undefined;
  return {
    async compute({ edits, ...changes }, report) {
      await ready;
      stop?.();
      const before = inputs;
      inputs = updated(before, changes);
      if (edits && before) inputs.text = applyEdits(before.text, edits);
      apply(inputs);
      stop = effect(() => {
        const all = read();
        const { changed, ...rest } = updateOf(last, all);
        last = all;
        void report({ changed: move ? move(changed) : changed, ...rest });
      });
    },
    async answer(question) {
      await ready;
      return answers[question]?.();
    },
  };
}
