import { effect, signal, untracked } from "@preact/signals";
import { addFiles, reading } from "../reader/client.js";
import type { Target } from "../reader/kinds.js";
import type { SessionTurns } from "../reader/session-turns.js";
import type { Item } from "../reader/worker.js";
import { readFolder, type FoundFile, type OpenedFolder } from "../ui/open-folder.js";
import { remember, type Recent } from "./recent.js";
import { currentView } from "./route.js";
import { VIEW_LIST } from "./view-list.js";

/** How a view opens incoming files: as one file, or as a folder. */
export type Opener = {
  hint: string;
  /** Whether its sample is shown already: files that come earlier would be replaced by it. Default true. */
  ready?: boolean;
} & (
  | { onFile: (file: File) => void; onSession?: (session: SessionTurns) => void }
  | {
      wants: (path: string) => boolean;
      onOpen: (folder: OpenedFolder) => void;
      onProblem: (message: string) => void;
    }
);

/** The open view, and how it opens files. */
export const opener = signal<(Opener & { view: string }) | undefined>(undefined);

/** What was dropped or pasted last, and which item of it is open. */
export interface Dropped {
  name: string;
  found: readonly FoundFile[];
  /** First the folder as a whole, if it is of a known kind. */
  items: readonly Item[];
  /** Size of the largest file, once it is known. */
  largest?: number;
  /** Whether more items follow. */
  isReading: boolean;
  /** Why nothing could be read. */
  problem?: string;
  open?: OpenItem;
}

/** The open item, and its view. */
interface OpenItem {
  item: Item;
  view: Target;
  /** The titles of the trees in an export, and the index of the open one. */
  trees?: { titles: readonly string[]; open: number };
  problem?: string;
}

export const dropped = signal<Dropped | undefined>(undefined);

interface Incoming {
  view: Target;
  name: string;
  found: readonly FoundFile[];
  session?: SessionTurns | undefined;
}

/** Waits until its view is open. */
const incoming = signal<Incoming | undefined>(undefined);

const update = (fields: Partial<Dropped>): void => {
  const now = dropped.peek();
  if (now) dropped.value = { ...now, ...fields };
};

/** The views that open files, by name. */
export const TARGETS = VIEW_LIST.flatMap(({ id, name }) => (id === "start" ? [] : { value: id, name }));

/** Number of files that are passed to the reader at once. */
const AT_ONCE = 50;
/** The id of the folder as a whole; the reader counts files from 0. */
const WHOLE_FOLDER = -1;

/** The view for a single item. */
interface Where {
  as?: Target;
  /** The view of the button that opened it. An item that it cannot show opens in the view of its kind. */
  preferred?: Target | undefined;
}

/** The files of the newest drop. */
let newest: readonly FoundFile[] = [];
/** The last drop. The next one waits for it, so that none is lost. */
let last = Promise.resolve();

/**
 * Lists what was dropped or pasted, and opens it if it is one thing: a folder of a known kind, or the only item of a
 * known kind.
 */
export function openDropped(name: string, found: readonly FoundFile[], where: Where = {}): Promise<void> {
  newest = found;
  last = last
    .then(() => list(name, found, where))
    .catch((error: Error) => {
      if (dropped.peek()?.found === found) update({ isReading: false, problem: error.message });
    });
  return last;
}

async function list(name: string, found: readonly FoundFile[], { as, preferred }: Where): Promise<void> {
  const here = opener.peek();
  dropped.value = { name, found, items: [], isReading: true };
  const isLast = (): boolean => dropped.peek()?.found === found;
  // The open view takes files that it wants, even if they match another kind.
  const isWanted = here && "wants" in here && found.some(({ path }) => here.wants(path));
  if (isWanted || found.length > 1) {
    const kind = await (await reading()).paths(found.map(({ path }) => path));
    if (!isLast()) return;
    const view = isWanted ? (here.view as Target) : kind?.view;
    if (view) {
      const what = kind?.what ?? "a folder";
      const whole = { id: WHOLE_FOLDER, name, what, view, size: 0, first: "" };
      update({ items: [whole] });
      void openItem(whole, view);
    }
  }
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE);
    const added = await Promise.all(some.map(async ({ path, file }) => ({ path, file: (await file()) as Blob })));
    update({ largest: Math.max(dropped.peek()?.largest ?? 0, ...added.map((one) => one.file.size)) });
    await addFiles(added, (items) => {
      if (isLast()) update({ items: [...(dropped.peek()?.items ?? []), ...items] });
    });
    // The rest of a folder is not read if something else is dropped.
    if (!isLast() || (newest !== found && found.length > AT_ONCE)) return;
  }
  update({ isReading: false });
  const { items, open } = dropped.peek() as Dropped;
  if (open) return;
  const known = items.filter(({ view, what }) => view !== undefined && what !== "a text");
  const [only, ...others] = known.length === 1 ? known : items;
  if (!only || others.length > 0 || only.problem !== undefined) return;
  // Unknown files go to the open view, which reports what is wrong with them.
  const shows = here && "onFile" in here ? (here.view as Target) : undefined;
  const kind = only.what === "a text" ? undefined : only.view;
  const view = as ?? (preferred && canShow(preferred, kind) ? preferred : undefined) ?? only.view ?? shows;
  if (view) await openItem(only, view, { otherwise: as ? view : kind });
  // Items of earlier drops are no longer listed.
  await (await reading()).keep(items.map(({ id }) => id));
}

/** Whether a view may show an item whose kind is for another: anything is a text, and chats, trees and sessions are converted. */
function canShow(view: Target, kind: Target | undefined): boolean {
  if (kind === undefined || view === "tokens" || view === kind) return true;
  // Nothing is converted to a session.
  return (view === "chats" || view === "loom") && ["chats", "loom", "commits"].includes(kind);
}

/** A file in memory as a found file. */
export const foundFile = (content: BlobPart, path: string): FoundFile => {
  const file = new File([content], path);
  return { path, file: async () => file };
};

/** Opens a pasted text. */
export function openDroppedText(text: string): Promise<void> {
  return openDropped("Pasted", [foundFile(text, "Pasted")]);
}

/** Opens an item from the list of recent ones. */
export function openDroppedAgain({ name, file, view }: Recent): Promise<void> {
  return openDropped(name, [foundFile(file, name)], { as: view });
}

/** Opens an item in a view, or in another if it cannot show it; `place` chooses a tree of an export. */
export async function openItem(
  item: Item,
  view: Target,
  { place = 0, otherwise = view }: { place?: number; otherwise?: Target | undefined } = {},
): Promise<void> {
  const open = { item, view };
  update({ open });
  if (item.id === WHOLE_FOLDER) return pass({ view, name: item.name, found: dropped.peek()?.found ?? [] });
  const isLast = (): boolean => dropped.peek()?.open === open;
  const reader = await reading();
  try {
    const { file, name, trees, session } = await reader.open(item.id, view, place);
    if (!isLast()) return;
    if (trees) update({ open: { ...open, trees } });
    pass({ view, name, found: [foundFile(file, name)], session });
    void reader
      .content(item.id)
      .then((content) => content && remember({ ...item, view, at: Date.now(), file: content }));
  } catch (error) {
    if (!isLast()) return;
    if (otherwise !== view) return openItem(item, otherwise, { place });
    update({ open: { ...open, problem: (error as Error).message } });
    // If its view is open, that view reports what is wrong with it.
    const content = currentView() === view ? await reader.content(item.id) : undefined;
    if (content) pass({ view, name: item.name, found: [foundFile(content, item.name)] });
  }
}

function pass(next: Incoming): void {
  incoming.value = next;
  if (currentView() !== next.view) location.hash = `#/${next.view}`;
}

effect(() => {
  const next = incoming.value;
  const to = opener.value;
  if (!next || to?.view !== next.view || to.ready === false) return;
  incoming.value = undefined;
  untracked(() => void give(to, next));
});

async function give(to: Opener, { name, found, session }: Incoming): Promise<void> {
  const [only, ...others] = found;
  if ("onFile" in to) {
    if (session) to.onSession?.(session);
    else if (only) to.onFile(await only.file());
    return;
  }
  // A single file opened as part of a folder gets the name that this folder requires.
  const required = ["AGENTS.md", "brief.md"].find(to.wants);
  const wanted = found.filter(({ path }) => to.wants(path));
  if (wanted.length === 0 && only && others.length === 0 && required) wanted.push({ ...only, path: required });
  await readFolder(name, wanted)
    .then(to.onOpen)
    .catch((error: Error) => to.onProblem(error.message));
}
