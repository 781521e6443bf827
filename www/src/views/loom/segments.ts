import type { AudioPart, ContentBlock, ImagePart, LoomNode, Message, Part } from "ctxweave";
import { blocksOf } from "./tree-index.js";

/** What one node, the marker or a loom-aware block contributes to a message. */
export interface Segment {
  kind: "node" | "marker" | "memory" | "loom" | "plain";
  /** One node; several only where they could not be told apart; none for a marker. */
  nodeIds: string[];
  /** Loom-aware: the line above the node's own words. */
  header?: string;
  parts: Part[];
}

/** What was added to the messages for a loom-aware agent. */
export interface Added {
  /** What each node is called; its header begins with that. */
  names: ReadonlyMap<string, string>;
  /** Whether the memory stands at the beginning of this message. */
  memory: boolean;
  /** Whether the loom block stands at its end. */
  loom: boolean;
}

type Block = Exclude<ContentBlock, { type: "mixed" }>;
interface Atom {
  nodeId: string;
  block: Block;
}

/**
 * Takes a merged message apart again into the nodes it was made of. The library says which nodes a message holds, in
 * order, and a node's text stands in it trimmed but otherwise as it was; so each node's blocks are looked for in turn.
 * Where that fails the message stays in one piece under all its node ids: nothing is ever guessed or left out.
 */
export function splitMessage(
  message: Message,
  node: (id: string) => LoomNode | undefined,
  marker: string | undefined,
  added?: Added,
): Segment[] {
  const parts: Part[] =
    typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  if (!added?.memory && !added?.loom) return splitParts(message, parts, node, marker, added?.names);
  const { before, between, after } = takeBlocks(parts, added);
  const inner = between.length > 0 ? splitParts(message, between, node, marker, added.names) : [];
  return [...before, ...inner, ...after];
}

const MEMORY = "=== Operational Memory ===\n";
const LOOM = "=== Loom Context ===\n";

/** Takes the blocks off the ends. Their own lines are indented or on one line, so the first line `===` ends the memory. */
function takeBlocks(parts: Part[], added: Added): { before: Segment[]; between: Part[]; after: Segment[] } {
  const between = [...parts];
  const block = (kind: "memory" | "loom", text: string): Segment => ({
    kind,
    nodeIds: [],
    parts: [{ type: "text", text }],
  });
  const before: Segment[] = [];
  const first = between[0];
  if (added.memory && first?.type === "text" && first.text.startsWith(MEMORY)) {
    const end = first.text.indexOf("\n===", MEMORY.length - 1) + 4;
    before.push(block("memory", first.text.slice(0, end)));
    const rest = first.text.slice(end).replace(/^\n\n/u, "");
    between.splice(0, 1, ...(rest === "" ? [] : [{ type: "text" as const, text: rest }]));
  }
  const after: Segment[] = [];
  const last = between.at(-1);
  const at = last?.type === "text" ? last.text.lastIndexOf(LOOM) : -1;
  if (added.loom && last?.type === "text" && at >= 0) {
    after.push(block("loom", last.text.slice(at)));
    const rest = last.text.slice(0, at).replace(/\n\n$/u, "");
    between.splice(-1, 1, ...(rest === "" ? [] : [{ type: "text" as const, text: rest }]));
  }
  return { before, between, after };
}

function splitParts(
  message: Message,
  parts: Part[],
  node: (id: string) => LoomNode | undefined,
  marker: string | undefined,
  names: ReadonlyMap<string, string> | undefined,
): Segment[] {
  if (message.nodeIds.length === 0) {
    const only = parts.length === 1 ? parts[0] : undefined;
    const isMarker = marker !== undefined && only?.type === "text" && only.text.trim() === marker.trim();
    return [{ kind: isMarker ? "marker" : "plain", nodeIds: [], parts }];
  }
  const whole: Segment[] = [{ kind: "node", nodeIds: message.nodeIds, parts }];
  if (message.nodeIds.length === 1 && marker === undefined && !names) return whole;

  const atoms = message.nodeIds.flatMap((nodeId) => atomsOf(nodeId, node(nodeId)));
  const pieces: Segment[] = [];
  let next = 0;
  for (const part of parts) {
    if (part.type === "text") {
      const end = splitText(part.text, atoms, next, marker, names, pieces);
      if (end === undefined) return whole;
      next = end;
    } else {
      const at = atoms.findIndex((atom, i) => i >= next && sameBlock(atom.block, part));
      const owner = atoms[at]?.nodeId;
      if (owner === undefined) return whole;
      add(pieces, { kind: "node", nodeIds: [owner], parts: [part] });
      next = at + 1;
    }
  }
  const seen = new Set(pieces.flatMap((piece) => piece.nodeIds));
  return message.nodeIds.every((id) => seen.has(id)) ? pieces : whole;
}

/** Splits one text among the atoms from `next` on; gives the index after the last one used, or nothing on failure. */
function splitText(
  text: string,
  atoms: Atom[],
  next: number,
  marker: string | undefined,
  names: ReadonlyMap<string, string> | undefined,
  pieces: Segment[],
): number | undefined {
  let at = 0;
  let atom = next;
  while (at < text.length) {
    at += /^\s*/u.exec(text.slice(at))?.[0].length ?? 0;
    if (at >= text.length) break;
    if (marker?.trim() && text.startsWith(marker.trim(), at)) {
      add(pieces, { kind: "marker", nodeIds: [], parts: [{ type: "text", text: marker.trim() }] });
      at += marker.trim().length;
      continue;
    }
    const owner = atoms[atom];
    if (owner === undefined) return undefined;
    const header = headerOf(owner.nodeId, names, pieces);
    if (header !== undefined && text.startsWith(header, at)) {
      const lineEnd = text.indexOf("\n", at);
      const end = lineEnd < 0 ? text.length : lineEnd;
      add(pieces, { kind: "node", nodeIds: [owner.nodeId], header: text.slice(at, end), parts: [] });
      at = end;
      continue;
    }
    const expected = textOf(owner.block);
    const end =
      expected !== undefined && text.startsWith(expected, at)
        ? at + expected.length
        : shortenedEnd(text, at, atoms, atom, names);
    if (end === undefined) return undefined;
    add(pieces, { kind: "node", nodeIds: [owner.nodeId], parts: [{ type: "text", text: text.slice(at, end) }] });
    at = end;
    atom += 1;
  }
  return atom;
}

/** How the header of a node begins that has had none yet. */
function headerOf(
  nodeId: string,
  names: ReadonlyMap<string, string> | undefined,
  pieces: Segment[],
): string | undefined {
  const name = names?.get(nodeId);
  const headed = pieces.some((piece) => piece.header !== undefined && piece.nodeIds[0] === nodeId);
  return name === undefined || headed ? undefined : `[${name}] `;
}

/** A node whose text was shortened, or replaced by a description, reaches to where the next one begins. */
function shortenedEnd(
  text: string,
  at: number,
  atoms: Atom[],
  atom: number,
  names: ReadonlyMap<string, string> | undefined,
): number | undefined {
  for (const { nodeId, block } of atoms.slice(atom + 1)) {
    const header = nodeId === atoms[atom]?.nodeId ? undefined : headerOf(nodeId, names, []);
    const headed = header === undefined ? -1 : text.indexOf(`\n\n${header}`, at);
    if (headed >= 0) return headed;
    const following = textOf(block);
    if (following === undefined) continue;
    const end = text.indexOf(`\n\n${following}`, at);
    return end < 0 ? undefined : end;
  }
  return text.length;
}

function add(pieces: Segment[], piece: Segment): void {
  const last = pieces.at(-1);
  if (last?.kind === "node" && piece.kind === "node" && last.nodeIds[0] === piece.nodeIds[0]) {
    last.parts.push(...piece.parts);
    if (piece.header !== undefined) last.header = piece.header;
  } else pieces.push(piece);
}

function atomsOf(nodeId: string, node: LoomNode | undefined): Atom[] {
  if (!node) return [];
  return blocksOf(node.content)
    .filter((block) => block.type !== "text" || block.text.trim() !== "")
    .map((block) => ({ nodeId, block }));
}

function textOf(block: Block): string | undefined {
  return block.type === "text" ? block.text.toWellFormed().trim() : undefined;
}

function sameBlock(block: Block, part: Part | ImagePart | AudioPart): boolean {
  if (block.type !== part.type) return false;
  switch (part.type) {
    case "toolCall":
      return block.type === "toolCall" && block.id === part.id;
    case "toolResult":
      return block.type === "toolResult" && block.toolCallId === part.toolCallId;
    case "image":
    case "audio":
      return (block.type === "image" || block.type === "audio") && block.ref === part.ref;
    default:
      return true;
  }
}
