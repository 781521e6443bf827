import type { AssemblyReport, BufferAssembly, DialogueAssembly, Message, NodeReport } from "ctxweave/loom";
import { segmentsOf, type Segment } from "./message-spans.js";

/** Missing nodes, at their position in the result. */
export interface Gap {
  kind: "gap";
  rows: NodeReport[];
}

export interface MessageEntry {
  kind: "message";
  message: Message;
  index: number;
  items: (Segment | Gap)[];
}

/** A dialogue in reading order, with missing nodes at their position. */
export type DialogueEntry = MessageEntry | Gap;

export function dialogueTimeline({ messages, report }: DialogueAssembly): DialogueEntry[] {
  const marker = report.cut?.marker;
  const { memory = 0, loomBlock = 0 } = report.tokens.loomAware ?? {};
  const firstOfUser = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const segments = messages.flatMap((message, index) => {
    const surroundings = {
      marker,
      memory: memory > 0 && index === firstOfUser,
      loom: loomBlock > 0 && index === messages.length - 1,
    };
    return segmentsOf(message, surroundings).map((segment) => ({ ...segment, index }));
  });
  // A system message and the operational memory come before all missing nodes.
  const leading = segments.findIndex(({ kind }) => kind !== "plain" && kind !== "memory");
  const items = withGaps(segments, report, Math.max(0, leading));

  const entries: DialogueEntry[] = [];
  const indexOf = (at: number): number | undefined => {
    const item = items[at];
    return item && "index" in item ? item.index : undefined;
  };
  items.forEach((item, at) => {
    const last = entries.at(-1);
    // A gap inside a message is part of it.
    const index = item.kind === "gap" && indexOf(at - 1) === indexOf(at + 1) ? indexOf(at - 1) : indexOf(at);
    const message = index === undefined ? undefined : messages[index];
    if (last?.kind === "message" && last.index === index) last.items.push(item);
    else if (index !== undefined && message) entries.push({ kind: "message", message, index, items: [item] });
    else if (item.kind === "gap") entries.push(item);
  });
  return entries;
}

/** A stretch of a document: a node's, the marker's, the working buffer's, or other text. */
export interface Stretch {
  kind: "node" | "marker" | "working" | "plain";
  nodeId?: string;
  text: string;
}

export function bufferTimeline({ document, spans, workingBufferSpan, report }: BufferAssembly): (Stretch | Gap)[] {
  const other = report.cut?.marker ? "marker" : "plain";
  const end = { start: document.length, end: document.length };
  const stretches: Stretch[] = [];
  let at = 0;
  const push = (stretch: Omit<Stretch, "text">, start: number, end: number): void => {
    if (end > start) stretches.push({ ...stretch, text: document.slice(start, end) });
    at = Math.max(at, end);
  };
  for (const { nodeId, start, end } of spans) {
    push({ kind: other }, at, start);
    push({ kind: "node", nodeId }, start, end);
  }
  const { start: working, end: after } = workingBufferSpan ?? end;
  push({ kind: other }, at, working);
  push({ kind: "working" }, working, after);
  push({ kind: other }, at, document.length);
  return withGaps(stretches, report, 0);
}

/**
 * Inserts the missing nodes. Their position is after the last present node before them in the report, and after the
 * marker that follows it; those before all present nodes are inserted at `first`.
 */
function withGaps<Item extends { kind: string; nodeId?: string }>(
  items: Item[],
  { nodes }: AssemblyReport,
  first: number,
): (Item | Gap)[] {
  const next = new Map(items.map(({ nodeId = "" }, at) => [nodeId, at + 1]));
  let at = first;
  const gaps = Map.groupBy(nodes, ({ nodeId, fate }) => {
    at = Math.max(at, next.get(nodeId) ?? 0);
    if (next.has(nodeId) || fate === "kept") return undefined;
    return at > first && items[at]?.kind === "marker" ? at + 1 : at;
  });
  const gapAt = (place: number): Gap[] => {
    const rows = gaps.get(place);
    return rows ? [{ kind: "gap", rows }] : [];
  };
  return [...items.flatMap((item, place) => [...gapAt(place), item]), ...gapAt(items.length)];
}
