import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { dropped, openDropped, openDroppedText, opener, type Opener } from "../shell/dropped.js";
import { currentView } from "../shell/route.js";
import type { FoundFile } from "./open-folder.js";
import { LARGE } from "./text-parts.js";
import { useEvents } from "./use-events.js";

/** Registers how the open view opens incoming items. */
export function useOpener(mine: Opener): void {
  // During the last render the address may already be that of another view.
  const [view] = useState(currentView);
  useEffect(() => {
    opener.value = { ...mine, view };
  });
  useEffect(
    () => () => {
      if (opener.peek()?.view === view) opener.value = undefined;
    },
    [],
  );
}

/** Starts the worker of a view when a large file arrives, while the file is read. */
export function usePrepared({ prepare }: { prepare: () => Promise<void> }): void {
  useEffect(
    () =>
      effect(() => {
        if ((dropped.value?.largest ?? 0) > LARGE) void prepare().catch(() => undefined);
      }),
    [],
  );
}

/** Whether the target is an editable field, which handles pasting itself. */
const isField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("textarea, input, select, [contenteditable]") !== null;

/** Accepts anything dropped or pasted on the page, and keeps the browser from navigating to it. */
export function Drop() {
  const [over, setOver] = useState(false);
  const isTaken = ({ dataTransfer, target }: DragEvent): boolean => {
    const types = dataTransfer?.types ?? [];
    return types.includes("Files") || (types.includes("text/plain") && !isField(target));
  };
  useEvents({
    dragover: (event) => {
      if (!isTaken(event)) return;
      event.preventDefault();
      setOver(true);
    },
    dragleave: (event) => {
      if (event.relatedTarget === null) setOver(false);
    },
    drop: (event) => {
      setOver(false);
      if (!isTaken(event)) return;
      event.preventDefault();
      if (event.dataTransfer) take(event.dataTransfer);
    },
    paste: (event) => {
      if (isField(event.target) || !event.clipboardData) return;
      event.preventDefault();
      take(event.clipboardData);
    },
  });
  return over ? (
    <div class="drop" aria-hidden="true">
      <p>
        {opener.value?.hint ?? "Drop it to open it"}
        <span class="quiet-text">Files for another view open there.</span>
      </p>
    </div>
  ) : null;
}

function take(data: DataTransfer): void {
  const { items, files } = data;
  const text = data.getData("text/plain");
  if (files.length === 0) {
    if (text.trim() !== "") void openDroppedText(text);
    return;
  }
  // Both lists are emptied after the event.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  const single = [...files].map((file): FoundFile => ({ path: file.name, file: async () => file }));
  void (async () => {
    const found: FoundFile[] = [];
    const [only] = entries;
    const folder = entries.length === 1 && only?.isDirectory ? only : undefined;
    for (const entry of entries) await walk(entry, folder ? "" : entry.name, found);
    const name = folder?.name ?? files[0]?.name ?? "dropped items";
    await openDropped(name, entries.length > 0 ? found : single);
  })();
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
