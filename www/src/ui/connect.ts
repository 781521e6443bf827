import type { ProxyMarked, Remote } from "comlink";

/** A worker, and how a callback is passed to it. */
export interface Connection<Api> {
  worker: Remote<Api>;
  proxy: <Callback extends object>(callback: Callback) => Callback & ProxyMarked;
}

/** Starts a worker and connects to it. The library is loaded with the first one: most visits need none. */
export async function connect<Api>(start: () => Worker): Promise<Connection<Api>> {
  const { proxy, wrap } = await import("comlink");
  return { worker: wrap<Api>(start()), proxy };
}
