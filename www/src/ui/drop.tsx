import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { dropped, openDropped, openDroppedText, opener, type Opener } from "../shell/dropped.js";
import { currentView } from "../shell/route.js";
import { isPassedOver, type FoundFile } from "./open-folder.js";
import { LARGE } from "./text-parts.js";
import { useEvents } from "./use-events.js";

/** Registers how the open view opens incoming items. */
export function useOpener(mine: Opener): void {
  // During the last render the address may already be that of another view.
  const [view] = useState(currentView);
  useEffect(() => {
    opener.value = { ...mine, view };
    return () => {
      if (opener.peek()?.view === view) opener.value = undefined;
    };
  });
}

/** Starts the worker of a view when a large file arrives, while the file is read. */
export function usePrepared(worker: { prepare: () => Promise<void> }): void {
  useEffect(
    () =>
      effect(() => {
        if ((dropped.value?.largest ?? 0) > LARGE) void worker.prepare().catch(() => undefined);
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
    <div class="pointer-events-none fixed inset-0 z-20 grid place-items-center bg-paper/82" aria-hidden="true">
      <p class="rounded-m border-2 border-dashed border-accent bg-surface px-11 py-7 text-center text-[1.1rem]">
        {opener.value?.hint ?? "Drop it to open it"}
        <span class="quiet-text block text-s">Files for another view open there.</span>
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
  const [only] = entries;
  const folder = entries.length === 1 && only?.isDirectory ? only : undefined;
  const name = folder?.name ?? files[0]?.name ?? "dropped items";
  void Promise.all(entries.map((entry) => filesIn(entry, folder ? "" : entry.name))).then((found) =>
    openDropped(name, entries.length > 0 ? found.flat() : single),
  );
}

/** All files in a dropped folder, or the dropped file. */
async function filesIn(entry: FileSystemEntry, path: string): Promise<FoundFile[]> {
  if (entry.isFile) {
    const file = (): Promise<File> => new Promise((yes, no) => (entry as FileSystemFileEntry).file(yes, no));
    return [{ path, file }];
  }
  const found: Promise<FoundFile[]>[] = [];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((yes, no) => reader.readEntries(yes, no));
    if (some.length === 0) return (await Promise.all(found)).flat();
    const inside = some.filter(({ name }) => !isPassedOver(name));
    found.push(...inside.map((inner) => filesIn(inner, path ? `${path}/${inner.name}` : inner.name)));
  }
}
