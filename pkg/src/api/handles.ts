/** Handles: objects in the module whose lifetime is that of a JavaScript object, their owner. */

import { CtxweaveError } from "../error.js";
import { call, instance, type Resident } from "../runtime.js";

/** An object in the module. */
export interface Handle extends Resident {
  raw: { free(): void };
  /** Number of active calls. */
  calls: number;
}

/**
 * The handles of one class, by owner. Stored outside the owners, so that an owner's type is the same in every flavor.
 */
export class Handles<Kind extends Handle> {
  readonly #known = new WeakMap<object, Kind>();
  readonly #freed = new WeakSet<object>();
  readonly #name: string;
  readonly #source: string;

  /** `name` is the kind of handle in errors, `source` the data from which the caller can create a new one. */
  constructor(name: string, source: string) {
    this.#name = name;
    this.#source = source;
  }

  set(owner: object, handle: Omit<Kind, keyof Resident | "calls">): void {
    this.#known.set(owner, { ...handle, instance: instance(), lost: () => this.lost(), calls: 0 } as Kind);
  }

  /**
   * Calls a function with the owner's handle. Throws if it was freed, is lost or in use. The function passes the handle
   * to each call into the module that follows a read of the caller's data.
   */
  use<T>(owner: object, use: (handle: Kind) => T): T {
    const handle = this.#known.get(owner);
    if (!handle) throw this.#unusable(owner);
    if (handle.instance !== instance()) throw this.lost();
    if (handle.calls > 0) throw this.#busy();
    handle.calls += 1;
    try {
      return use(handle);
    } finally {
      handle.calls -= 1;
    }
  }

  /** Frees the memory. Idempotent. */
  free(owner: object): void {
    const handle = this.#known.get(owner);
    if (!handle) {
      if (this.#freed.has(owner)) return;
      throw this.#unusable(owner);
    }
    if (handle.calls > 0) throw this.#busy();
    this.#known.delete(owner);
    this.#freed.add(owner);
    if (handle.instance === instance()) call(() => handle.raw.free());
  }

  /** The error for a handle of an earlier instance. */
  lost(): CtxweaveError {
    const message = `the ${this.#name} was lost when the module was restarted; make a new one from your ${this.#source}`;
    return new CtxweaveError("handle_lost", message);
  }

  /** The error for an object without a handle: it was freed, or it never had one. */
  #unusable(owner: object): CtxweaveError {
    if (this.#freed.has(owner)) {
      return new CtxweaveError("handle_freed", `the ${this.#name} was freed; make a new one`);
    }
    const message = `\`this\` is not a ${this.#name} made with \`new\`, but a copy, a proxy or an unbound method; call the method on the original object`;
    return new CtxweaveError("invalid_input", message, { path: "this" });
  }

  #busy(): CtxweaveError {
    const message = `re-entrant call: the ${this.#name} is in use; a custom tokenizer must not use the ${this.#name} that it counts for`;
    return new CtxweaveError("handle_busy", message);
  }
}
