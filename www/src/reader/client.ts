import { proxy, wrap, type Remote } from "comlink";
import type { Given, Item, Reader } from "./worker.js";

let reader: Remote<Reader> | undefined;

/** The worker that reads files; started on first use. */
export function reading(): Remote<Reader> {
  reader ??= wrap<Reader>(new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }));
  return reader;
}

/** Reads files, and reports their items as they are read. */
export const addFiles = (given: readonly Given[], report: (items: Item[]) => void): Promise<void> =>
  reading().add(given, proxy(report));
