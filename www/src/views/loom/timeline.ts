import type { AssemblyReport, BufferAssembly, DialogueAssembly, Message, NodeReport } from "ctxweave/loom";
import { segmentsOf, type Segment, type Surroundings } from "./message-spans.js";

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

export function dialogueTimeline(assembly: DialogueAssembly): DialogueEntry[] {
  const marker = assembly.report.cut?.marker;
  const { loomAware } = assembly.report.tokens;
  const firstOfUser = assembly.messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const around = (at: number): Surroundings => ({
    marker,
    memory: loomAware !== undefined && loomAware.memory > 0 && at === firstOfUser,
    loom: loomAware !== undefined && loomAware.loomBlock > 0 && at === assembly.messages.length - 1,
  });
  const flat: { message: number | undefined; item: Segment | Gap }[] = [];
  const anchor = new Map<string, number>();
  assembly.messages.forEach((message, index) => {
    for (const segment of segmentsOf(message, around(index))) {
      for (const id of segment.nodeIds) anchor.set(id, flat.length);
      flat.push({ message: index, item: segment });
    }
  });

  const gaps = gapsAfter(assembly.report, anchor, (at) => {
    const following = flat[at + 1]?.item;
    return following?.kind === "marker" ? at + 1 : at;
  });
  // A system message and the operational memory come before all missing nodes.
  const leading = flat.findIndex(({ item }) => item.kind !== "plain" && item.kind !== "memory") - 1;

  const entries: DialogueEntry[] = [];
  const place = (item: Segment | Gap, message: number | undefined): void => {
    const last = entries.at(-1);
    if (message !== undefined && last?.kind === "message" && last.index === message) last.items.push(item);
    else if (message === undefined) entries.push(item as Gap);
    else
      entries.push({ kind: "message", message: assembly.messages[message] as Message, index: message, items: [item] });
  };
  const placeGap = (rows: NodeReport[] | undefined, before: number | undefined, after: number | undefined): void => {
    if (rows) place({ kind: "gap", rows }, before !== undefined && before === after ? before : undefined);
  };
  const first = gaps.get(-1);
  if (flat.length === 0 || leading < 0) placeGap(first, undefined, 0);
  flat.forEach(({ message, item }, i) => {
    place(item, message);
    placeGap(gaps.get(i), message, flat[i + 1]?.message);
    if (i === leading) placeGap(first, message, flat[i + 1]?.message);
  });
  return entries;
}

/** A stretch of a document: a node's, the marker's, the working buffer's, or other text. */
export interface Stretch {
  kind: "node" | "marker" | "working" | "plain";
  nodeId?: string;
  text: string;
}

export function bufferTimeline(assembly: BufferAssembly): (Stretch | Gap)[] {
  const { document, spans, workingBufferSpan, report } = assembly;
  const stretches: Stretch[] = [];
  const anchor = new Map<string, number>();
  let at = 0;
  const between = (end: number): void => {
    if (end > at) stretches.push({ kind: report.cut?.marker ? "marker" : "plain", text: document.slice(at, end) });
    at = Math.max(at, end);
  };
  for (const span of spans) {
    between(span.start);
    if (!anchor.has(span.nodeId)) anchor.set(span.nodeId, stretches.length);
    if (span.end > span.start) {
      anchor.set(span.nodeId, stretches.length);
      stretches.push({ kind: "node", nodeId: span.nodeId, text: document.slice(span.start, span.end) });
    }
    at = Math.max(at, span.end);
  }
  if (workingBufferSpan) {
    between(workingBufferSpan.start);
    stretches.push({ kind: "working", text: document.slice(workingBufferSpan.start, workingBufferSpan.end) });
    at = workingBufferSpan.end;
  }
  between(document.length);

  const gaps = gapsAfter(report, anchor, (i) => (stretches[i + 1]?.kind === "marker" ? i + 1 : i));
  const entries: (Stretch | Gap)[] = [];
  const gap = (rows: NodeReport[] | undefined): void => {
    if (rows) entries.push({ kind: "gap", rows });
  };
  gap(gaps.get(-1));
  stretches.forEach((stretch, i) => {
    entries.push(stretch);
    gap(gaps.get(i));
  });
  return entries;
}

/**
 * For each item of the result, the rows missing after it; −1 is the beginning. A row's position is after the last
 * present node before it in the report.
 */
function gapsAfter(
  report: AssemblyReport,
  anchor: Map<string, number>,
  settle: (at: number) => number,
): Map<number, NodeReport[]> {
  const gaps = new Map<number, NodeReport[]>();
  let at = -1;
  for (const row of report.nodes) {
    const here = anchor.get(row.nodeId);
    if (here !== undefined) {
      at = Math.max(at, here);
    } else if (row.fate !== "kept") {
      const place = at < 0 ? at : settle(at);
      const rows = gaps.get(place);
      if (rows) rows.push(row);
      else gaps.set(place, [row]);
    }
  }
  return gaps;
}
