import type { ComponentType } from "preact";
import chat from "ctxweave/chat/ctxweave.wasm?url";
import commits from "ctxweave/commits/ctxweave.wasm?url";
import folders from "ctxweave/folders/ctxweave.wasm?url";
import loom from "ctxweave/loom/ctxweave.wasm?url";
import operators from "ctxweave/operators/ctxweave.wasm?url";
import tokens from "ctxweave/tokens/ctxweave.wasm?url";
import workspace from "ctxweave/workspace/ctxweave.wasm?url";
import { loadIntoNewArea } from "../ui/vocabularies.js";
import { fetchFile } from "./early.js";
import type { ViewEntry } from "./view-list.js";

/** The component of each view. */
const COMPONENTS: Record<ViewEntry["id"], () => Promise<ComponentType>> = {
  start: async () => (await import("../views/start/view.js")).StartView,
  chats: async () => (await import("../views/chats/view.js")).ChatsView,
  loom: async () => (await import("../views/loom/view.js")).LoomView,
  commits: async () => (await import("../views/commits/view.js")).CommitsView,
  tokens: async () => (await import("../views/tokens/view.js")).TokensView,
  folders: async () => (await import("../views/folders/view.js")).FoldersView,
  operators: async () => (await import("../views/operators/view.js")).OperatorsView,
  workspace: async () => (await import("../views/workspace/view.js")).WorkspaceView,
};

/** The module of each area of the package, and the function that starts it. The bundler drops unused exports. */
const AREAS = {
  chat: { wasm: chat, start: async () => (await import("ctxweave/chat")).init },
  commits: { wasm: commits, start: async () => (await import("ctxweave/commits")).init },
  folders: { wasm: folders, start: async () => (await import("ctxweave/folders")).init },
  loom: { wasm: loom, start: async () => (await import("ctxweave/loom")).init },
  operators: { wasm: operators, start: async () => (await import("ctxweave/operators")).init },
  tokens: { wasm: tokens, start: async () => (await import("ctxweave/tokens")).init },
  workspace: { wasm: workspace, start: async () => (await import("ctxweave/workspace")).init },
};

const loaded = new Set<string>();

/** Loads the code and the module of an area in parallel. */
async function loadArea(name: keyof typeof AREAS): Promise<void> {
  if (loaded.has(name)) return;
  const { wasm, start } = AREAS[name];
  const [init, module] = await Promise.all([start(), fetchFile(wasm)]);
  await init(module);
  loaded.add(name);
  await loadIntoNewArea();
}

/** Loads the code of a view and the area that it needs. After a failure the next call tries again. */
export async function loadView({ id, area }: ViewEntry): Promise<ComponentType> {
  const [component] = await Promise.all([COMPONENTS[id](), loadArea(area)]);
  return component;
}
