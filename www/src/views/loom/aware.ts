import type { LoomAware, LoomTreeData, Pinned } from "ctxweave/loom";

/** The additions for a loom-aware agent, which can be disabled. */
export const ADDITIONS = {
  addendum: "Addendum to the system prompt",
  headers: "Header on each message",
  loomBlock: "Loom block at the end",
};

/** The texts of its memory; the actions are one per line. */
export const MEMORY = { note: "Pinned text", stash: "Recalled stash", trace: "Recent actions" };

type Addition = keyof typeof ADDITIONS;
/** The texts, the reference time, and the id of a pinned node. */
type TextKey = keyof typeof MEMORY | "now" | "pin";

/** Settings of a loom-aware agent; empty texts add nothing. */
export type AwareSettings = Record<Addition, boolean> & Record<TextKey, string>;

const ADDITION_KEYS = Object.keys(ADDITIONS) as Addition[];
const TEXT_KEYS: readonly TextKey[] = ["now", "pin", "note", "stash", "trace"];

/** Its time is five minutes after the newest node, so that a tree looks the same whenever the page is opened. */
export function freshAware(tree: LoomTreeData): AwareSettings {
  const newest = tree.nodes.reduce((most, node) => Math.max(most, new Date(node.createdAt ?? 0).getTime() || 0), 0);
  const now = new Date(newest + 5 * 60_000).toISOString().replace(".000Z", "Z");
  return { now, addendum: true, headers: true, loomBlock: true, pin: "", note: "", stash: "", trace: "" };
}

/** Sample memory, from the open tree. */
export function sampleMemory(tree: LoomTreeData): Partial<AwareSettings> {
  const marked = tree.nodes.find((node) => node.metadata?.bookmarked && typeof node.content === "string");
  const root = tree.nodes.find((node) => node.id === tree.rootNodeId) ?? tree.nodes[0];
  const pin = (marked ?? root)?.id ?? "";
  return {
    pin,
    note: "Keep to what has been settled.",
    stash: "There was another way to go on from here.",
    trace: `viewed ${pin}\nannotated ${root?.id ?? pin}`,
  };
}

/** The request's `loomAware`. */
export function loomAwareOf({ now, addendum, headers, loomBlock, ...memory }: AwareSettings): LoomAware {
  const pinned: Pinned[] = [];
  if (memory.pin !== "") pinned.push({ nodeId: memory.pin });
  if (memory.note.trim() !== "") pinned.push({ label: "note", text: memory.note });
  return {
    now: now.trim() || undefined,
    addendum,
    headers,
    loomBlock,
    pinned,
    stashes: memory.stash.trim() === "" ? [] : [{ label: "stash", text: memory.stash }],
    trace: memory.trace.split("\n").filter((line) => line.trim() !== ""),
  };
}

/** Writes the settings into a link: `aware` lists the enabled additions, and each text has a separate key. */
export function writeAware(p: URLSearchParams, aware: AwareSettings): void {
  p.set("aware", ADDITION_KEYS.filter((key) => aware[key]).join(" "));
  for (const key of TEXT_KEYS) if (aware[key] !== "") p.set(key, aware[key]);
}

export function readAware(p: URLSearchParams): AwareSettings | undefined {
  const enabled = p.get("aware")?.split(/\s+/u);
  if (!enabled) return undefined;
  const additions = ADDITION_KEYS.map((key) => [key, enabled.includes(key)]);
  const texts = TEXT_KEYS.map((key) => [key, p.get(key) ?? ""]);
  return Object.fromEntries([...additions, ...texts]) as AwareSettings;
}
