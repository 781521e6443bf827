/** Handles: what lives in the module for as long as its owner. */

import { CtxweaveError } from "../error.js";
import { call, instance } from "../runtime.js";

/** What lives in the module. */
export interface Handle {
  raw: { free(): void };
  /** The instance of the module that it lives in. */
  instance: number;
  /** Calls that have not returned yet. */
  calls: number;
}

/**
 * The handles of one class by their owners; kept apart from these, so that an owner's type is the same in every flavor.
 */
export class Handles<Kind extends Handle> {
  readonly #known = new WeakMap<object, Kind>();
  readonly #name: string;
  readonly #source: string;

  /** `name` is what errors call a handle, `source` what the caller makes a new one from. */
  constructor(name: string, source: string) {
    this.#name = name;
    this.#source = source;
  }

  set(owner: object, handle: Omit<Kind, "instance" | "calls">): void {
    this.#known.set(owner, { ...handle, instance: instance(), calls: 0 } as Kind);
  }

  /** Calls a function with the owner's handle, unless it is freed, lost or in use. */
  use<T>(owner: object, use: (handle: Kind) => T): T {
    const handle = this.#known.get(owner);
    if (!handle) throw new CtxweaveError("handle_freed", `the ${this.#name} was freed; make a new one`);
    if (handle.instance !== instance()) throw this.lost();
    if (handle.calls > 0) throw this.#busy();
    handle.calls += 1;
    try {
      return use(handle);
    } finally {
      handle.calls -= 1;
    }
  }

  /** Frees the memory. Freeing it again is a no-op. */
  free(owner: object): void {
    const handle = this.#known.get(owner);
    if (!handle) return;
    if (handle.calls > 0) throw this.#busy();
    this.#known.delete(owner);
    if (handle.instance === instance()) call(() => handle.raw.free());
  }

  /** The error for a handle of an earlier instance. */
  lost(): CtxweaveError {
    const message = `the ${this.#name} was lost when the module had to be started anew; make a new one from your own ${this.#source}`;
    return new CtxweaveError("handle_lost", message);
  }

  #busy(): CtxweaveError {
    const message = `the ${this.#name} is in the middle of another call; a tokenizer of one's own must not use the ${this.#name} that it counts for`;
    return new CtxweaveError("handle_busy", message);
  }
}
