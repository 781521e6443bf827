import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { readFolder, type FoundFile, type OpenedFolder } from "./open-folder.js";

/** What a view does with files that are dropped: it takes one, or a folder. */
export type Opener = { hint: string } & (
  | { onFile: (file: File) => void }
  | {
      wants: (path: string) => boolean;
      onOpen: (folder: OpenedFolder) => void;
      onProblem: (message: string) => void;
    }
);

const opener = signal<Opener | undefined>(undefined);

/** Says what the view that is open does with what is dropped. */
export function useOpener(mine: Opener): void {
  useEffect(() => {
    opener.value = mine;
  });
  useEffect(
    () => () => {
      opener.value = undefined;
    },
    [],
  );
}

/** Files may be dropped anywhere, and never make the browser leave the page. As one is held over it, the view's hint is shown. */
export function Drop() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const off = new AbortController();
    const listen = { signal: off.signal };
    const carriesFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
    addEventListener(
      "dragover",
      (event) => {
        if (!carriesFile(event)) return;
        event.preventDefault();
        setOver(true);
      },
      listen,
    );
    addEventListener(
      "dragleave",
      (event) => {
        if (event.relatedTarget === null) setOver(false);
      },
      listen,
    );
    addEventListener(
      "drop",
      (event) => {
        if (!carriesFile(event)) return;
        event.preventDefault();
        setOver(false);
        if (event.dataTransfer && opener.value) take(opener.value, event.dataTransfer);
      },
      listen,
    );
    return () => off.abort();
  }, []);
  return over && opener.value ? (
    <div class="drop" aria-hidden="true">
      <p>{opener.value.hint}</p>
    </div>
  ) : null;
}

function take(to: Opener, { items, files }: DataTransfer): void {
  const first = files[0];
  if ("onFile" in to) {
    if (first) to.onFile(first);
    return;
  }
  // Both lists are empty once the event is over.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const single = [...files].map((file): FoundFile => ({ path: file.name, file: async () => file }));
  void (async () => {
    const found: FoundFile[] = [];
    const [only] = entries;
    const folder = entries.length === 1 && only?.isDirectory ? only : undefined;
    for (const entry of entries) await walk(entry, folder ? "" : entry.name, found);
    const all = entries.length > 0 ? found : single;
    const wanted = all.filter(({ path }) => to.wants(path));
    to.onOpen(await readFolder(folder?.name ?? first?.name ?? "what was dropped", wanted));
  })().catch((error: unknown) => to.onProblem((error as Error).message));
}

async function walk(entry: FileSystemEntry, path: string, found: FoundFile[]): Promise<void> {
  if (entry.isFile) {
    const file = (): Promise<File> => new Promise((yes, no) => (entry as FileSystemFileEntry).file(yes, no));
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((yes, no) => reader.readEntries(yes, no));
    if (some.length === 0) return;
    for (const inner of some) {
      if (inner.name !== ".git" && inner.name !== "node_modules") {
        await walk(inner, path ? `${path}/${inner.name}` : inner.name, found);
      }
    }
  }
}
