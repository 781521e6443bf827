/** What lives in the wasm. */

import { CtxweaveError } from "../../error.js";
import { fromAnswer, toRequest } from "../../json.js";
import { call, instance } from "../../runtime.js";

/** What has a table of calls in the wasm. */
interface Callable {
  call(name: string, request: Uint8Array, bytes: readonly Uint8Array[] | undefined): unknown;
  free(): void;
}

/** Graphs or checkpointers in the wasm, by their owners; apart from them, so that an owner's type is the same in every flavour. */
export class Handles<Raw extends Callable> {
  private readonly handles = new WeakMap<object, { raw: Raw; instance: number }>();

  hold(owner: object, raw: Raw): void {
    this.handles.set(owner, { raw, instance: instance() });
  }

  ask<R>(owner: object, question: (raw: Raw) => R): R {
    const handle = this.handles.get(owner);
    if (!handle) throw new CtxweaveError("handle_freed", "the graph or checkpointer was freed; make a new one");
    if (handle.instance !== instance()) throw lost();
    return call(() => question(handle.raw));
  }

  /** Calls a method by its name, with its arguments as JSON. */
  call(owner: object, name: string, request?: unknown): unknown {
    const { json, bytes } = toRequest(request);
    return fromAnswer(this.ask(owner, (raw) => raw.call(name, json, bytes)));
  }

  release(owner: object): void {
    const handle = this.handles.get(owner);
    this.handles.delete(owner);
    if (handle?.instance === instance()) handle.raw.free();
  }
}

export function lost(): CtxweaveError {
  return new CtxweaveError(
    "handle_lost",
    "it was lost when the module had to be started anew; make a new one, a graph from what `exportJsonl` gave",
  );
}
