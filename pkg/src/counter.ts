/** Custom tokenizers, observed so that an error can have what they threw as its `cause`. */

/** The part of a custom tokenizer that the module uses. */
export interface CustomCounter {
  name?: unknown;
  count(text: string): number;
}

/** What the last call of a custom tokenizer threw. */
let failure: { cause: unknown } | undefined;

/** One per tokenizer: the module compares them by identity. */
const observers = new WeakMap<CustomCounter, CustomCounter>();

/** The tokenizer to pass to the module in place of the caller's. */
export function observed(counter: CustomCounter): CustomCounter {
  const known = observers.get(counter);
  if (known) return known;
  const observer: CustomCounter = {
    get name() {
      return counter.name;
    },
    count(text) {
      failure = undefined;
      try {
        return counter.count(text);
      } catch (cause) {
        failure = { cause };
        throw cause;
      }
    },
  };
  observers.set(counter, observer);
  return observer;
}

/** Returns what the last call threw, once. */
export function takeFailure(): { cause: unknown } | undefined {
  const taken = failure;
  failure = undefined;
  return taken;
}
