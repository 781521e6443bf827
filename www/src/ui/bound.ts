import type { Signal } from "@preact/signals";

/** The value of a signal, and how a control changes it. */
export const bound = <T>(signal: Signal<T>): { value: T; onValue: (value: T) => void } => ({
  value: signal.value,
  onValue: (value) => (signal.value = value),
});
