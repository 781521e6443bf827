/**
 * The state of a view, computed in a worker for large documents. The module with the state runs in both: the page sends
 * its inputs, the worker computes from them and sends the results.
 */

import { batch, computed, effect, signal, untracked, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Remote } from "comlink";

/** Whether this is the worker. */
export const isWorker = typeof document === "undefined";

/** What the worker of a view offers. */
export interface MirrorWorker<Inputs, Results> {
  /** Computes from new inputs; the results are reported also when they change later. */
  compute(inputs: Inputs, report: (results: Results) => void): Promise<void>;
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
}

/** Milliseconds between two computations. */
const PAUSE = 150;

/**
 * Uses a worker while `inputs` has a value. Inputs that change while it computes are sent when it is done, so that typing
 * never queues work.
 */
export function mirror<Inputs, Results>(inputs: () => Inputs | undefined): Mirror<Inputs, Results> {
  const given = computed(() => (isWorker ? undefined : inputs()));
  const results = signal<Results | undefined>(undefined);
  const answered = signal<Inputs | undefined>(undefined);
  const isBusy = signal(false);
  let remote: Remote<MirrorWorker<Inputs, Results>> | undefined;
  const run = async (): Promise<void> => {
    const { proxy, wrap } = await import("comlink");
    remote ??= wrap<MirrorWorker<Inputs, Results>>(self.start());
    let sent: Inputs | undefined;
    while (sent !== given.peek() && given.peek() !== undefined) {
      // While the user types, only the last state is sent.
      if (sent !== undefined) await new Promise((done) => setTimeout(done, PAUSE));
      const inputs = given.peek();
      if (inputs === undefined) break;
      sent = inputs;
      await remote.compute(
        inputs as never,
        proxy((next: Results) => {
          if (given.peek() === undefined) return;
          batch(() => {
            answered.value = inputs;
            results.value = next;
          });
        }) as never,
      );
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
  };
  if (!isWorker) {
    effect(() => {
      const now = given.value;
      untracked(() => {
        if (now === undefined) results.value = undefined;
        else if (!isBusy.peek()) {
          isBusy.value = true;
          run().catch(() => (isBusy.value = false));
        }
      });
    });
  }
  return self;
}

/** The worker's side: `apply` sets the inputs, `read` computes the results from them. */
export function mirrorWorker<Inputs, Results>(
  ready: Promise<unknown>,
  apply: (inputs: Inputs) => void,
  read: () => Results,
): MirrorWorker<Inputs, Results> {
  let stop: (() => void) | undefined;
  return {
    async compute(inputs, report) {
      await ready;
      stop?.();
      apply(inputs);
      stop = effect(() => void report(read()));
    },
  };
}
