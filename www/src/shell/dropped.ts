import { effect, signal, untracked } from "@preact/signals";
import { addFiles, reading } from "../reader/client.js";
import type { Guess, Target } from "../reader/kinds.js";
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
interface Dropped {
  name: string;
  found: readonly FoundFile[];
  /** The kind of a folder as a whole, if its paths identify one. */
  folder: Guess | undefined;
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
  /** Undefined for the folder as a whole. */
  item: Item | undefined;
  view: Target;
  /** The titles of the trees in an export, and the index of the open one. */
  trees?: { titles: readonly string[]; open: number };
  problem?: string;
}

export const dropped = signal<Dropped | undefined>(undefined);

const waiting = signal<
  { view: Target; name: string; found: readonly FoundFile[]; session?: SessionTurns | undefined } | undefined
>(undefined);

const update = (fields: Partial<Dropped>): void => {
  const now = dropped.peek();
  if (now) dropped.value = { ...now, ...fields };
};

/** Number of files that are passed to the reader at once. */
const AT_ONCE = 50;

/**
 * Lists what was dropped or pasted, and opens it if it is one thing: a folder of a known kind, or the only item of a
 * known kind.
 */
export function openDropped(name: string, found: readonly FoundFile[], where: Where = {}): Promise<void> {
  queued += 1;
  last = last.then(() => take(name, found, where));
  return last;
}

/** The view for a single item. */
interface Where {
  as?: Target;
  /** The view of the button that opened it. An item that it cannot show opens in the view of its kind. */
  preferred?: Target | undefined;
}

/** The last drop. The next one waits for it, so that none is lost. */
let last = Promise.resolve();
/** Number of drops that are not finished. */
let queued = 0;

async function take(name: string, found: readonly FoundFile[], where: Where): Promise<void> {
  try {
    await list(name, found, where);
  } catch (error) {
    if (dropped.peek()?.found === found) update({ isReading: false, problem: (error as Error).message });
  } finally {
    queued -= 1;
  }
}

async function list(name: string, found: readonly FoundFile[], { as, preferred }: Where): Promise<void> {
  const here = opener.peek();
  const begun: Dropped = { name, found, folder: undefined, items: [], isReading: true };
  dropped.value = begun;
  const isLast = (): boolean => dropped.peek()?.found === found;
  // The open view takes files that it wants, even if they match another kind.
  const isWanted = here && "wants" in here && found.some(({ path }) => here.wants(path));
  const paths = found.map(({ path }) => path);
  if (isWanted || found.length > 1) {
    const folder = await (await reading()).paths(paths);
    if (!isLast()) return;
    update({ folder });
    const view = isWanted ? (here.view as Target) : folder?.view;
    if (view) openFolder(view);
  }
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE);
    const given = await Promise.all(some.map(async ({ path, file }) => ({ path, file: (await file()) as Blob })));
    update({ largest: Math.max(dropped.peek()?.largest ?? 0, ...given.map((one) => one.file.size)) });
    await addFiles(given, (items) => {
      if (isLast()) update({ items: [...(dropped.peek()?.items ?? []), ...items] });
    });
    // The rest of a folder is not read if something else is dropped.
    if (!isLast() || (queued > 1 && found.length > AT_ONCE)) return;
  }
  update({ isReading: false });
  const { items, open } = dropped.peek() ?? begun;
  if (open) return;
  const known = items.filter(({ view, what }) => view !== undefined && what !== "a text");
  const [only] = known.length === 1 ? known : items;
  if (!only || only.problem !== undefined || (known.length !== 1 && items.length !== 1)) return;
  // Unknown files go to the open view, which reports what is wrong with them.
  const shows = here && "onFile" in here ? (here.view as Target) : undefined;
  const kind = only.what === "a text" ? undefined : only.view;
  const view = as ?? (preferred && canShow(preferred, kind) ? preferred : undefined) ?? only.view ?? shows;
  const other = as === undefined ? kind : undefined;
  if (view) await openItem(only, view, 0, other);
  // Items of earlier drops are no longer listed.
  await (await reading()).keep(items.map(({ id }) => id));
}

/** Whether a view may show an item whose kind is for another: anything is a text, and chats, trees and sessions are converted. */
function canShow(view: Target, kind: Target | undefined): boolean {
  if (kind === undefined || view === "tokens" || view === kind) return true;
  // Nothing is converted to a session.
  return (view === "chats" || view === "loom") && ["chats", "loom", "commits"].includes(kind);
}

/** Opens a pasted text. */
export function openDroppedText(text: string): Promise<void> {
  const file = new File([text], "Pasted", { type: "text/plain" });
  return openDropped(file.name, [{ path: file.name, file: async () => file }]);
}

/** Opens an item from the list of recent ones. */
export function openDroppedAgain({ name, file, view }: Recent): Promise<void> {
  return openDropped(name, [{ path: name, file: async () => new File([file], name) }], { as: view });
}

/** Opens all files as a folder. */
export function openFolder(view: Target): void {
  const now = dropped.peek();
  if (!now) return;
  update({ open: { item: undefined, view } });
  pass({ view, name: now.name, found: now.found });
}

/** Opens an item in a view, or in another if it cannot show it; `place` chooses a tree of an export. */
export async function openItem(item: Item, view: Target, place = 0, otherwise: Target = view): Promise<void> {
  const open = { item, view };
  update({ open });
  const isLast = (): boolean => dropped.peek()?.open === open;
  const asFile = (content: Blob, name: string): FoundFile[] => {
    const file = new File([content], name);
    return [{ path: name, file: async () => file }];
  };
  try {
    const { file, name, trees, session } = await (await reading()).open(item.id, view, place);
    if (!isLast()) return;
    if (trees) update({ open: { ...open, trees } });
    pass({ view, name, found: asFile(file, name), session });
    void reading()
      .then((reader) => reader.content(item.id))
      .then((content) => content && remember({ ...item, view, at: Date.now(), file: content }));
  } catch (error) {
    if (!isLast()) return;
    if (otherwise !== view) return openItem(item, otherwise, place);
    update({ open: { ...open, problem: (error as Error).message } });
    // If its view is open, that view reports what is wrong with it.
    const content = currentView() === view ? await (await reading()).content(item.id) : undefined;
    if (content) pass({ view, name: item.name, found: asFile(content, item.name) });
  }
  return undefined;
}

/** Opens the open item as another kind. */
export async function openAs(view: Target): Promise<void> {
  const now = dropped.peek();
  const item = now?.open?.item ?? (now?.open ? undefined : now?.items[0]);
  if (item) await openItem(item, view);
  else openFolder(view);
}

/** Opens another tree from an export. */
export async function openTree(place: number): Promise<void> {
  const open = dropped.peek()?.open;
  if (open?.item) await openItem(open.item, open.view, place);
}

function pass(next: NonNullable<typeof waiting.value>): void {
  waiting.value = next;
  if (currentView() !== next.view) location.hash = `#/${next.view}`;
}

// Passes an incoming item to its view once that is open.
effect(() => {
  const next = waiting.value;
  const to = opener.value;
  if (!next || to?.view !== next.view || to.ready === false) return;
  waiting.value = undefined;
  untracked(() => void give(to, next));
});

async function give(to: Opener, { name, found, session }: NonNullable<typeof waiting.value>): Promise<void> {
  if ("onFile" in to) {
    if (session) return to.onSession?.(session);
    const file = await found[0]?.file();
    if (file) to.onFile(file);
    return undefined;
  }
  // A single file opened as part of a folder gets the name that this folder requires.
  const [only, ...others] = found;
  const named = ["AGENTS.md", "brief.md"].find(to.wants);
  const wanted = found.filter(({ path }) => to.wants(path));
  const single = only && others.length === 0 && wanted.length === 0 && named ? [{ ...only, path: named }] : wanted;
  try {
    return to.onOpen(await readFolder(name, single));
  } catch (error) {
    return to.onProblem((error as Error).message);
  }
}

/** The views that open files, by name. */
export const TARGETS = VIEW_LIST.flatMap(({ id, name }) =>
  id === "start" ? [] : [{ value: id satisfies Target as Target, name: name as string }],
);
