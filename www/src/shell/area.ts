import { fetchFile } from "./early.js";
import chat from "ctxweave/chat/ctxweave.wasm?url";
import commits from "ctxweave/commits/ctxweave.wasm?url";
import folders from "ctxweave/folders/ctxweave.wasm?url";
import imports from "ctxweave/import/ctxweave.wasm?url";
import loom from "ctxweave/loom/ctxweave.wasm?url";
import operators from "ctxweave/operators/ctxweave.wasm?url";
import tokens from "ctxweave/tokens/ctxweave.wasm?url";
import workspace from "ctxweave/workspace/ctxweave.wasm?url";
import { loadIntoNewArea } from "../ui/vocabularies.js";

/** An area of the package that a view needs. */
export type Area = "chat" | "commits" | "folders" | "import" | "loom" | "operators" | "tokens" | "workspace";

/** The module of each area, and the code that starts it. */
const AREAS: Record<Area, { wasm: string; start: (module: Promise<Response>) => Promise<void> }> = {
  chat: { wasm: chat, start: async (module) => (await import("ctxweave/chat")).init(module) },
  commits: { wasm: commits, start: async (module) => (await import("ctxweave/commits")).init(module) },
  folders: { wasm: folders, start: async (module) => (await import("ctxweave/folders")).init(module) },
  import: { wasm: imports, start: async (module) => (await import("ctxweave/import")).init(module) },
  loom: { wasm: loom, start: async (module) => (await import("ctxweave/loom")).init(module) },
  operators: { wasm: operators, start: async (module) => (await import("ctxweave/operators")).init(module) },
  tokens: { wasm: tokens, start: async (module) => (await import("ctxweave/tokens")).init(module) },
  workspace: { wasm: workspace, start: async (module) => (await import("ctxweave/workspace")).init(module) },
};

const loads = new Map<Area, Promise<void>>();

/**
 * Loads an area of the package: its code and its module in parallel, compiling the module while it downloads.
 * Idempotent; after a failure the next call tries again.
 */
export function loadArea(name: Area): Promise<void> {
  let load = loads.get(name);
  if (!load) {
    const { wasm, start } = AREAS[name];
    const module = fetchFile(wasm);
    load = Promise.all([module, start(module)]).then(
      () => loadIntoNewArea(),
      (error: unknown) => {
        loads.delete(name);
        throw error;
      },
    );
    loads.set(name, load);
  }
  return load;
}
