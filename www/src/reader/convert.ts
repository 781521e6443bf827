/** Items as a view opens them: sessions and exports become the view's document. */

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

const jsonFile = (value: unknown): Blob => new Blob([JSON.stringify(value)]);

/** Converts an item for a view. Throws if the view cannot show it. */
export async function convert({ name, bytes, found }: Source, view: Target, place: number): Promise<OpenedItem> {
  const { kind } = found;
  if (kind === "session" && view === "chats")
    return { name, file: new Blob([]), session: await turnsOfSession(name, found.format, bytes) };
  if (kind === "session" && view === "loom") {
    const { transcriptToLoomTree } = await commitsArea();
    const { tree, media, tip } = transcriptToLoomTree(found.format, bytes, { throughCompactions: true });
    if (tree.nodes.length === 0) throw new Error("this file contains no conversation");
    return { name, file: jsonFile({ tree, media, tip }) };
  }
  const isImported = view === "chats" ? kind === "loomFile" || kind === "tree" : view === "loom" && kind !== "tree";
  if (!isImported) return { name, file: new Blob([bytes]) };
  const { importLoom } = await importArea();
  const { trees } = importLoom(bytes);
  const { tree, tip, media } = trees[place] ?? {};
  if (!tree) throw new Error("it contains no tree");
  if (view === "chats") {
    if (tip === undefined) throw new Error("the tree is empty");
    return { name, file: jsonFile(await bodyOfTree(tree, tip, media)) };
  }
  const file = jsonFile({ tree, media, tip });
  if (trees.length === 1) return { name, file };
  const titles = trees.map(({ title, id }, at) => title || id || `Tree ${at + 1}`);
  return { name: titles[place] ?? name, file, trees: { titles, open: place } };
}
