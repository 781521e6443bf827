import type { ComponentType } from "preact";
import { loadArea, type Area } from "./area.js";
import { VIEW_LIST, type ViewEntry, type ViewId } from "./view-list.js";

/** One view of the page. A new one is an entry in view-list.ts, a line here, and a folder under views/. */
export interface View extends ViewEntry {
  /** The areas of the package that must be loaded before it is shown. */
  areas: readonly Area[];
  component: () => Promise<ComponentType>;
}

const PARTS: Record<ViewId, Pick<View, "areas" | "component">> = {
  start: { areas: ["chat"], component: async () => (await import("../views/start/view.js")).StartView },
  loom: { areas: ["loom"], component: async () => (await import("../views/loom/view.js")).LoomView },
  chats: { areas: ["chat"], component: async () => (await import("../views/chats/view.js")).ChatsView },
  tokens: { areas: ["tokens"], component: async () => (await import("../views/tokens/view.js")).TokensView },
  workspace: {
    areas: ["workspace"],
    component: async () => (await import("../views/workspace/view.js")).WorkspaceView,
  },
  folders: { areas: ["folders"], component: async () => (await import("../views/folders/view.js")).FoldersView },
  operators: {
    areas: ["operators"],
    component: async () => (await import("../views/operators/view.js")).OperatorsView,
  },
  commits: { areas: ["commits"], component: async () => (await import("../views/commits/view.js")).CommitsView },
};

export const VIEWS = VIEW_LIST.map((entry) => ({ ...entry, ...PARTS[entry.id] })) as unknown as readonly [
  View,
  ...View[],
];

/** Loads the code of a view and the areas that it needs. */
export async function loadView({ areas, component }: View): Promise<ComponentType> {
  const [loaded] = await Promise.all([component(), ...areas.map(loadArea)]);
  return loaded;
}
