import type { LoomAware, LoomTreeData, Pinned } from "ctxweave/loom";

/** Settings of a loom-aware agent; empty texts add nothing. */
export interface AwareSettings {
  now: string;
  addendum: boolean;
  headers: boolean;
  loomBlock: boolean;
  /** The id of a pinned node. */
  pin: string;
  /** A pinned text. */
  note: string;
  /** A recalled text. */
  stash: string;
  /** Recent actions, one per line. */
  trace: string;
}

/** Five minutes after the newest node, so that a tree looks the same whenever the page is opened. */
function nowFor(tree: LoomTreeData): string {
  const times = tree.nodes
    .map((node) => new Date(node.createdAt ?? "").getTime())
    .filter((time) => !Number.isNaN(time));
  const newest = times.reduce((most, time) => Math.max(most, time), 0);
  return new Date(newest + 5 * 60_000).toISOString().replace(".000Z", "Z");
}

export function freshAware(tree: LoomTreeData): AwareSettings {
  return { now: nowFor(tree), addendum: true, headers: true, loomBlock: true, pin: "", note: "", stash: "", trace: "" };
}

/** Sample memory, from the open tree. */
export function sampleMemory(tree: LoomTreeData): Pick<AwareSettings, "pin" | "note" | "stash" | "trace"> {
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

/** The request's `loomAware`, without defaults. */
export function loomAwareOf(aware: AwareSettings): LoomAware {
  const pinned: Pinned[] = [];
  if (aware.pin !== "") pinned.push({ nodeId: aware.pin });
  if (aware.note.trim() !== "") pinned.push({ label: "note", text: aware.note });
  const trace = aware.trace.split("\n").filter((line) => line.trim() !== "");
  return {
    ...(aware.now.trim() === "" ? {} : { now: aware.now.trim() }),
    ...(aware.addendum ? {} : { addendum: false }),
    ...(aware.headers ? {} : { headers: false }),
    ...(aware.loomBlock ? {} : { loomBlock: false }),
    ...(pinned.length > 0 ? { pinned } : {}),
    ...(aware.stash.trim() === "" ? {} : { stashes: [{ label: "stash", text: aware.stash }] }),
    ...(trace.length > 0 ? { trace } : {}),
  };
}

const PARTS = ["addendum", "headers", "loomBlock"] as const;
const TEXTS = ["now", "pin", "note", "stash", "trace"] as const;

/** Writes the settings into a link: `aware` lists the enabled parts, and each text has a separate key. */
export function writeAware(p: URLSearchParams, aware: AwareSettings): void {
  p.set("aware", PARTS.filter((part) => aware[part]).join(" "));
  for (const key of TEXTS) if (aware[key] !== "") p.set(key, aware[key]);
}

export function readAware(p: URLSearchParams): AwareSettings | undefined {
  const enabled = p.get("aware")?.split(/\s+/u);
  if (!enabled) return undefined;
  const parts = PARTS.map((part) => [part, enabled.includes(part)]);
  const texts = TEXTS.map((key) => [key, p.get(key) ?? ""]);
  return Object.fromEntries([...parts, ...texts]) as unknown as AwareSettings;
}
