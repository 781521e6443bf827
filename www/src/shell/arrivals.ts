import { effect, signal, untracked } from "@preact/signals";
import { detect, detectFiles, type Guess, type Target } from "../ui/detect.js";
import { readFolder, type FoundFile, type OpenedFolder } from "../ui/open-folder.js";
import { loadArea } from "./area.js";
import { currentView } from "./route.js";
import { VIEW_LIST } from "./view-list.js";

/** How a view opens incoming files: as one file, or as a folder. */
export type Opener = {
  hint: string;
  /** Whether its sample is shown already: files that come earlier would be replaced by it. Default true. */
  ready?: boolean;
} & (
  | { onFile: (file: File) => void }
  | {
      wants: (path: string) => boolean;
      onOpen: (folder: OpenedFolder) => void;
      onProblem: (message: string) => void;
    }
);

/** The open view, and how it opens files. */
export const opener = signal<(Opener & { view: string }) | undefined>(undefined);

/** The last incoming item, its detected kind, and the view that opened it. */
interface DroppedItem {
  name: string;
  guess: Guess;
  view: Target | undefined;
  found: readonly FoundFile[];
  /** The titles of the trees in a file of another loom, and the index of the open one. */
  trees?: { titles: readonly string[]; open: number };
  problem?: string;
}

export const arrival = signal<DroppedItem | undefined>(undefined);

const waiting = signal<{ view: Target; name: string; found: readonly FoundFile[] } | undefined>(undefined);

/** Opens a dropped or pasted item: detects its kind and passes it to the view for that kind. */
export async function arrive(name: string, found: readonly FoundFile[]): Promise<void> {
  const [first] = found;
  if (!first) {
    arrival.value = { name, found, view: undefined, guess: { view: undefined, what: "an empty folder" } };
    return;
  }
  const now = opener.peek();
  // The open view takes files that it wants, even if they match another kind.
  const isWanted = now && "wants" in now && found.some(({ path }) => now.wants(path));
  const guess =
    (isWanted ? undefined : await detectFiles(found.map(({ path }) => path))) ??
    (await detect(first.path, new Uint8Array(await (await first.file()).arrayBuffer())));
  const here = now?.view as Target | undefined;
  if (isWanted && here) {
    const files = (await detectFiles(found.map(({ path }) => path))) ?? guess;
    await open({ name, found, guess: { ...files, view: here }, view: here });
  } else {
    // Unknown files go to the open view, which reports what is wrong with them.
    const shows = here && now && "onFile" in now ? here : undefined;
    await open({ name, found, guess, view: guess.view ?? shows });
  }
}

/** Opens a pasted text. */
export function arriveText(text: string): Promise<void> {
  const file = new File([text], "Pasted", { type: "text/plain" });
  return arrive(file.name, [{ path: file.name, file: async () => file }]);
}

/** Opens the last item as another kind. */
export async function openAs(view: Target): Promise<void> {
  const now = arrival.peek();
  if (now) await open({ name: now.name, found: now.found, guess: now.guess, view });
}

/** Opens another tree from a file of another loom. */
export async function openTree(place: number): Promise<void> {
  const now = arrival.peek();
  if (now?.trees) await open({ ...now, trees: { ...now.trees, open: place } });
}

async function open(next: DroppedItem): Promise<void> {
  arrival.value = next;
  const { view, name } = next;
  if (view === undefined) return;
  let { found } = next;
  const isForeign = next.guess.imported || next.guess.view !== "loom";
  if (view === "loom" && isForeign && found[0]) {
    try {
      const imported = await importTree(name, found[0], next.trees?.open ?? 0);
      found = [imported.file];
      const { titles } = imported;
      arrival.value = {
        ...next,
        guess: { ...next.guess, what: imported.what },
        ...(titles.length > 1 ? { trees: { titles, open: next.trees?.open ?? 0 } } : {}),
      };
    } catch (error) {
      // If its view is open, that view reports what is wrong with it.
      const isHere = opener.peek()?.view === "loom";
      arrival.value = {
        ...next,
        guess: { view: undefined, what: "an unknown format" },
        view: isHere ? "loom" : undefined,
        problem: (error as Error).message,
      };
      if (!isHere) return;
    }
  }
  waiting.value = { view, name, found };
  if (currentView() !== view) location.hash = `#/${view}`;
}

const FORMATS: Record<string, string> = { chatgpt: "ChatGPT", "open-webui": "Open WebUI", claude: "Claude" };

/** Imports a file of another loom as a Loom tree for the Loom view. */
async function importTree(
  name: string,
  first: FoundFile,
  place: number,
): Promise<{ file: FoundFile; what: string; titles: string[] }> {
  const [{ importLoom }] = await Promise.all([import("ctxweave/import"), loadArea("import")]);
  const { trees, format } = importLoom(new Uint8Array(await (await first.file()).arrayBuffer()));
  const tree = trees[place];
  if (!tree) throw new Error("it contains no tree");
  const titles = trees.map(({ title, id }, at) => title || id || `Tree ${at + 1}`);
  const { media, tip } = tree;
  const json = JSON.stringify({ tree: tree.tree, ...(media ? { media } : {}), ...(tip === undefined ? {} : { tip }) });
  const file = new File([json], trees.length > 1 ? (titles[place] ?? name) : name);
  return {
    file: { path: file.name, file: async () => file },
    what: format === "messages" ? "a chat, as a Loom tree" : `a file of ${FORMATS[format] ?? format}`,
    titles,
  };
}

// Passes an incoming item to its view once that is open.
effect(() => {
  const next = waiting.value;
  const to = opener.value;
  if (!next || to?.view !== next.view || to.ready === false) return;
  waiting.value = undefined;
  untracked(() => void give(to, next));
});

async function give(to: Opener, { name, found }: { name: string; found: readonly FoundFile[] }): Promise<void> {
  if ("onFile" in to) {
    const file = await found[0]?.file();
    if (file) to.onFile(file);
    return;
  }
  // A single file opened as part of a folder gets the name that this folder requires.
  const [only, ...others] = found;
  const named = ["AGENTS.md", "brief.md"].find(to.wants);
  const wanted = found.filter(({ path }) => to.wants(path));
  const single = only && others.length === 0 && wanted.length === 0 && named ? [{ ...only, path: named }] : wanted;
  try {
    to.onOpen(await readFolder(name, single));
  } catch (error) {
    to.onProblem((error as Error).message);
  }
}

/** The views that open files, by name. */
export const TARGETS = VIEW_LIST.flatMap(({ id, name }) =>
  id === "start" ? [] : [{ value: id satisfies Target as Target, name: name as string }],
);
