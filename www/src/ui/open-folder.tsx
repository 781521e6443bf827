import { useRef } from "preact/hooks";
import { Button } from "./button.js";

/** A file of an opened folder, with its path relative to the folder. */
export interface OpenedFile {
  path: string;
  bytes: Uint8Array;
}

/** An opened folder; `skipped` counts files that were too many or too large to read. */
export interface OpenedFolder {
  name: string;
  files: OpenedFile[];
  skipped: number;
}

/** Maximum number of files. */
const MAX_FILES = 20_000;
const MAX_FILE_BYTES = 4_000_000;

/** Folders without user files, hidden in most file managers. */
const PASSED_OVER = new Set([".git", "node_modules"]);

/** A file that was found but not read yet. */
export interface FoundFile {
  path: string;
  file: () => Promise<File>;
}

interface DirectoryHandle {
  name: string;
  values(): AsyncIterable<
    ({ kind: "directory" } & DirectoryHandle) | { kind: "file"; name: string; getFile(): Promise<File> }
  >;
}

type Picker = () => Promise<DirectoryHandle>;

/**
 * A button that opens a folder from the disk, read-only: with the browser's picker if it has one, otherwise with a file
 * input for folders. Nothing leaves the page.
 */
export function OpenFolder(props: {
  label: string;
  /** Which files to read. */
  wants: (path: string) => boolean;
  onOpen: (folder: OpenedFolder) => void;
  onProblem: (message: string) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const open = async (): Promise<void> => {
    const picker = (globalThis as { showDirectoryPicker?: Picker }).showDirectoryPicker;
    if (!picker) {
      input.current?.click();
      return;
    }
    try {
      const handle = await picker();
      const found: FoundFile[] = [];
      await walk(handle, "", props.wants, found);
      props.onOpen(await readFolder(handle.name, found));
    } catch (error) {
      // The picker was closed without a choice.
      if ((error as Error).name !== "AbortError") props.onProblem((error as Error).message);
    }
  };
  const openList = async (list: readonly File[]): Promise<void> => {
    try {
      const name = list[0]?.webkitRelativePath.split("/")[0] ?? "folder";
      const found = list
        .map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/"), file: async () => file }))
        .filter(({ path }) => !path.split("/").some((part) => PASSED_OVER.has(part)) && props.wants(path));
      props.onOpen(await readFolder(name, found));
    } catch (error) {
      props.onProblem((error as Error).message);
    }
  };
  return (
    <>
      <Button label={props.label} icon="file" onClick={() => void open()} />
      <input
        ref={(element) => {
          input.current = element;
          // Not in all type declarations, so it is set as an attribute.
          element?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        multiple
        class="sr-only"
        aria-label="A folder from your disk"
        data-folder-input
        tabIndex={-1}
        onChange={(event) => {
          const field = event.currentTarget;
          const list = [...(field.files ?? [])];
          if (list.length > 0) void openList(list);
          field.value = "";
        }}
      />
    </>
  );
}

async function walk(
  folder: DirectoryHandle,
  path: string,
  wants: (path: string) => boolean,
  found: FoundFile[],
): Promise<void> {
  for await (const entry of folder.values()) {
    const at = path ? `${path}/${entry.name}` : entry.name;
    if (entry.kind === "directory") {
      if (!PASSED_OVER.has(entry.name)) await walk(entry, at, wants, found);
    } else if (wants(at)) {
      found.push({ path: at, file: () => entry.getFile() });
    }
  }
}

/** Reads the files that were found, up to the limits. */
export async function readFolder(name: string, found: FoundFile[]): Promise<OpenedFolder> {
  const files: OpenedFile[] = [];
  let skipped = 0;
  for (const { path, file } of found) {
    const content = files.length < MAX_FILES ? await file() : undefined;
    if (content && content.size <= MAX_FILE_BYTES) {
      files.push({ path, bytes: new Uint8Array(await content.arrayBuffer()) });
    } else skipped += 1;
  }
  return { name, files, skipped };
}
