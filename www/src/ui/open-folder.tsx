import { FilesButton } from "./button.js";

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
export const isPassedOver = (name: string): boolean => name === ".git" || name === "node_modules";

type Picker = () => Promise<FileSystemDirectoryHandle>;

/** A file that was found but not read yet. */
export interface FoundFile {
  path: string;
  file: () => Promise<File>;
}

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
  const { label, wants, onOpen, onProblem } = props;
  const open = async (read: () => Promise<OpenedFolder>): Promise<void> => {
    try {
      onOpen(await read());
    } catch (error) {
      // The picker was closed without a choice.
      if ((error as Error).name !== "AbortError") onProblem((error as Error).message);
    }
  };
  const openPicked = async (picker: Picker): Promise<OpenedFolder> => {
    const handle = await picker();
    return readFolder(handle.name, await filesIn(handle, wants));
  };
  const openFiles = (files: [File, ...File[]]): Promise<OpenedFolder> => {
    const [name = "folder"] = files[0].webkitRelativePath.split("/");
    const found = files
      .map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/"), file: async () => file }))
      .filter(({ path }) => !path.split("/").some(isPassedOver) && wants(path));
    return readFolder(name, found);
  };
  return (
    <FilesButton
      label={label}
      about="A folder from your disk"
      isFolder
      onPick={(input) => {
        const { showDirectoryPicker: picker } = globalThis as { showDirectoryPicker?: Picker };
        if (picker) void open(() => openPicked(picker));
        else input.click();
      }}
      onFiles={(files) => void open(() => openFiles(files))}
    />
  );
}

async function filesIn(
  folder: FileSystemDirectoryHandle,
  wants: (path: string) => boolean,
  path = "",
  found: FoundFile[] = [],
): Promise<FoundFile[]> {
  for await (const entry of folder.values()) {
    const at = path + entry.name;
    if (entry.kind === "directory") {
      if (!isPassedOver(entry.name)) await filesIn(entry, wants, `${at}/`, found);
    } else if (wants(at)) found.push({ path: at, file: () => entry.getFile() });
  }
  return found;
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
