import type { CtxweaveError } from "ctxweave/loom";

/** The result of a call, or the error that it threw. */
export type Attempt<T> = { ok: true; value: T } | { ok: false; code: string; message: string };

export function attempt<T>(action: () => T): Attempt<T> {
  try {
    return { ok: true, value: action() };
  } catch (error) {
    const { code = "error", message } = error as CtxweaveError;
    return { ok: false, code, message };
  }
}

/** Applies a function to a value; an error stays. */
export const andThen = <T, Next>(from: Attempt<T>, next: (value: T) => Next): Attempt<Next> =>
  from.ok ? attempt(() => next(from.value)) : from;
