import type { Remote } from "comlink";
import type { InputFile, Item, Reader } from "./worker.js";

/** Loaded with the first item: most visits read none. */
const library = () => import("comlink");

let reader: Promise<Remote<Reader>> | undefined;

/** The worker that reads files; started on first use, and again if it failed to start. */
export function reading(): Promise<Remote<Reader>> {
  reader ??= start().catch((error: unknown) => {
    reader = undefined;
    throw error;
  });
  return reader;
}

async function start(): Promise<Remote<Reader>> {
  const { wrap } = await library();
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const remote = wrap<Reader>(worker);
  // A worker whose code cannot be loaded answers no call.
  const failure = new Promise<never>((_, reject) => {
    const message = "the code that reads files could not be loaded; try again";
    worker.addEventListener("error", () => reject(new Error(message)), { once: true });
  });
  await Promise.race([remote.keep([]), failure]);
  return remote;
}

/** Reads files, and reports their items as they are read. */
export async function addFiles(given: readonly InputFile[], report: (items: Item[]) => void): Promise<void> {
  const [{ proxy }, worker] = await Promise.all([library(), reading()]);
  await worker.add(given, proxy(report));
}
