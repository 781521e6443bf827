import type { Remote } from "comlink";
import type { Given, Item, Reader } from "./worker.js";

/** Loaded with the first item: most visits read none. */
const library = () => import("comlink");

let reader: Promise<Remote<Reader>> | undefined;

/** The worker that reads files; started on first use. */
export function reading(): Promise<Remote<Reader>> {
  reader ??= library().then(({ wrap }) =>
    wrap<Reader>(new Worker(new URL("./worker.ts", import.meta.url), { type: "module" })),
  );
  return reader;
}

/** Reads files, and reports their items as they are read. */
export async function addFiles(given: readonly Given[], report: (items: Item[]) => void): Promise<void> {
  const [{ proxy }, worker] = await Promise.all([library(), reading()]);
  await worker.add(given, proxy(report));
}
