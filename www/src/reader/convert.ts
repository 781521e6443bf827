/** Items as a view opens them: sessions and exports become the view's document. */

import type { TranscriptFormat } from "ctxweave/commits";
import type { Identification } from "ctxweave/commits";
import { commitsArea, importArea } from "./areas.js";
import type { Target } from "./kinds.js";
import { bodyOfTree, turnsOfSession, type SessionTurns } from "./session-turns.js";

/** An item as its view opens it. */
export interface OpenedItem {
  /** The content; a converted one in JSON. */
  file: Blob;
  name: string;
  /** The titles of the trees in an export, and the index of the open one. */
  trees?: { titles: readonly string[]; open: number };
  /** A session, for the view of chats. */
  session?: SessionTurns;
}

interface Source {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  found: Identification;
}

/** Converts an item for a view. Throws if the view cannot show it. */
export async function convert(source: Source, view: Target, place: number): Promise<OpenedItem> {
  const { name, bytes, found } = source;
  const isSession = found.kind === "session";
  if (view === "chats" && isSession) {
    return { name, file: new Blob([]), session: await turnsOfSession(name, found.format, bytes) };
  }
  if (view === "loom" && found.kind !== "tree") {
    return isSession ? treeOfSession(name, found.format, bytes) : importedTree(name, bytes, place);
  }
  if (view === "chats" && (found.kind === "loomFile" || found.kind === "tree")) {
    const { tree, tip, media } = await firstTree(bytes, place);
    if (tip === undefined) throw new Error("the tree is empty");
    const { body } = await bodyOfTree(tree, tip, media);
    return { name, file: new Blob([JSON.stringify(body)]) };
  }
  return { name, file: new Blob([bytes]) };
}

async function treeOfSession(name: string, format: TranscriptFormat, bytes: Uint8Array): Promise<OpenedItem> {
  const { transcriptToLoomTree } = await commitsArea();
  const { tree, media, tip } = transcriptToLoomTree(format, bytes, { throughCompactions: true });
  if (tree.nodes.length === 0) throw new Error("this file contains no conversation");
  return { name, file: new Blob([JSON.stringify({ tree, media, tip })]) };
}

async function firstTree(bytes: Uint8Array, place: number) {
  const { importLoom } = await importArea();
  const { trees } = importLoom(bytes);
  const tree = trees[place];
  if (!tree) throw new Error("it contains no tree");
  return { ...tree, titles: trees.map(({ title, id }, at) => title || id || `Tree ${at + 1}`) };
}

async function importedTree(name: string, bytes: Uint8Array, place: number): Promise<OpenedItem> {
  const { tree, media, tip, titles } = await firstTree(bytes, place);
  const file = new Blob([JSON.stringify({ tree, media, tip })]);
  if (titles.length === 1) return { name, file };
  return { name: titles[place] ?? name, file, trees: { titles, open: place } };
}
