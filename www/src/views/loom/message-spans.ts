import type { Message, Part } from "ctxweave/loom";

/** A stretch of a message: a node's, the marker's, a loom-aware block, or other text. */
export interface Segment {
  kind: "node" | "marker" | "memory" | "loom" | "plain";
  /** Absent for everything else. */
  nodeId?: string;
  /** Loom-aware: the header before the node's text. */
  header?: string | undefined;
  parts: Part[];
}

/** Additions to a message other than its nodes. */
export interface Surroundings {
  marker: string | undefined;
  /** Whether it begins with the operational memory. */
  memory: boolean;
  /** Whether it ends with the loom block. */
  loom: boolean;
}

const MEMORY = "=== Operational Memory ===\n";
const LOOM = "=== Loom Context ===\n";

/** Splits a message into its nodes, by the spans from the library. */
export function segmentsOf(message: Message, around: Surroundings): Segment[] {
  const { content } = message;
  const parts: readonly Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const spansOf = Map.groupBy(message.spans, (span) => span.part ?? 0);
  const segments: Segment[] = [];
  let header: string | undefined;
  parts.forEach((part, index) => {
    const spans = spansOf.get(index) ?? [];
    if (part.type !== "text") {
      if (spans[0]) addToNode(spans[0].nodeId, part);
      return;
    }
    let at = 0;
    for (const { nodeId, start, end } of spans) {
      between(part.text.slice(at, start), index === 0 && at === 0, false);
      addToNode(nodeId, { type: "text", text: part.text.slice(start, end) });
      at = end;
    }
    between(part.text.slice(at), index === 0 && at === 0, index === parts.length - 1);
  });
  if (header !== undefined) add("plain", header);
  return segments;

  /** Adds a part to the segment of its node, or with the header before it in a new one. */
  function addToNode(nodeId: string, part: Part): void {
    const last = segments.at(-1);
    if (last?.nodeId === nodeId && header === undefined) last.parts.push(part);
    else segments.push({ kind: "node", nodeId, header, parts: [part] });
    header = undefined;
  }

  /** Splits the text between two nodes: blocks, the marker, the header of the next node. */
  function between(text: string, first: boolean, last: boolean): void {
    let rest = text.trim();
    if (first && around.memory && rest.startsWith(MEMORY)) {
      // The lines of the block are indented, so that the first line `===` ends it.
      const end = rest.indexOf("\n===", MEMORY.length - 1) + 4;
      add("memory", rest.slice(0, end));
      rest = rest.slice(end).trim();
    }
    const loom = last && around.loom ? rest.lastIndexOf(LOOM) : -1;
    const block = loom < 0 ? "" : rest.slice(loom);
    if (loom >= 0) rest = rest.slice(0, loom).trim();
    const marker = around.marker?.trim();
    if (marker && rest.startsWith(marker)) {
      add("marker", marker);
      rest = rest.slice(marker.length).trim();
    }
    if (rest !== "") {
      if (message.spans.length > 0 && !last) header = rest;
      else add("plain", rest);
    }
    if (block !== "") add("loom", block);
  }

  function add(kind: Segment["kind"], text: string): void {
    segments.push({ kind, parts: [{ type: "text", text }] });
  }
}
