/** Handles: what lives in the wasm for as long as its owner. */

import { CtxweaveError } from "../error.js";
import { call, instance } from "../runtime.js";

/** What lives in the wasm. */
export interface Handle {
  raw: { free(): void };
  /** The instance of the module that it lives in. */
  instance: number;
  /** Calls that have not come back yet. */
  calls: number;
}

/**
 * The handles of one class by their owners; apart from these, so that an owner's type is the same in every flavour. `what` is
 * their name in errors, `from` what a new one is made from.
 */
export class Handles<Kind extends Handle> {
  readonly #known = new WeakMap<object, Kind>();
  readonly #what: string;
  readonly #from: string;

  constructor(what: string, from: string) {
    this.#what = what;
    this.#from = from;
  }

  set(owner: object, handle: Omit<Kind, "instance" | "calls">): void {
    this.#known.set(owner, { ...handle, instance: instance(), calls: 0 } as Kind);
  }

  /** Calls a function with the owner's handle, unless it is freed, lost or in use. */
  use<T>(owner: object, use: (handle: Kind) => T): T {
    const handle = this.#known.get(owner);
    if (!handle) throw new CtxweaveError("handle_freed", `the ${this.#what} was freed; make a new one`);
    if (handle.instance !== instance()) {
      const message = `the ${this.#what} was lost when the module had to be started anew; make a new one from your own ${this.#from}`;
      throw new CtxweaveError("handle_lost", message);
    }
    if (handle.calls > 0) throw this.#busy();
    handle.calls += 1;
    try {
      return use(handle);
    } finally {
      handle.calls -= 1;
    }
  }

  /** Gives the memory back. To free it again is harmless. */
  free(owner: object): void {
    const handle = this.#known.get(owner);
    if (!handle) return;
    if (handle.calls > 0) throw this.#busy();
    this.#known.delete(owner);
    if (handle.instance === instance()) call(() => handle.raw.free());
  }

  #busy(): CtxweaveError {
    const message = `the ${this.#what} is in the middle of another call; a tokenizer of one's own must not use the ${this.#what} that it counts for`;
    return new CtxweaveError("handle_busy", message);
  }
}
