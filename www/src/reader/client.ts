import { connect, type Connection } from "../ui/connect.js";
import { once } from "../ui/once.js";
import type { InputFile, Item, Reader } from "./worker.js";

/** Starts the worker that reads files. */
const connected = once(async (): Promise<Connection<Reader>> => {
  let worker: Worker | undefined;
  const connection = await connect<Reader>(
    () => (worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" })),
  );
  // A worker whose code cannot be loaded answers no call.
  const failure = new Promise<never>((_, reject) => {
    const error = new Error("the code that reads files could not be loaded; try again");
    worker?.addEventListener("error", () => reject(error), { once: true });
  });
  await Promise.race([connection.worker.keep([]), failure]);
  return connection;
});

/** The worker that reads files; started on first use. */
export const reading = async () => (await connected()).worker;

/** Reads files, and reports their items as they are read. */
export async function addFiles(added: readonly InputFile[], report: (items: Item[]) => void): Promise<void> {
  const { worker, proxy } = await connected();
  await worker.add(added, proxy(report));
}
