import { computed, signal } from "@preact/signals";
import { planContextLoading, readContext } from "ctxweave/workspace";
import type { WorkspaceInput, WorkspaceLimits } from "ctxweave/workspace";
import sample from "../../../../examples/workspace?folder";
import { attempt } from "../../ui/attempt.js";
import type { OpenedFile, OpenedFolder } from "../../ui/open-folder.js";
import { PersistedDocument } from "../../ui/own.js";
import { sampleFiles } from "../../ui/sample-files.js";

/** Content of a file: text, or bytes that were not edited. */
type Content = string | Uint8Array;

/** The files of a workspace next to its brief, by field. */
export const FILES = {
  brief: "brief.md",
  notes: "notes.md",
  log: "log.jsonl",
  gaps: "vocabulary_gaps.jsonl",
} as const;

type Field = keyof typeof FILES;
const FIELDS = Object.keys(FILES) as Field[];

interface Workspace extends Partial<Record<Field, Content>> {
  name: string;
  /** Taste files by name; `_default` is always loaded. */
  tastes: Record<string, Content>;
}

export const own = new PersistedDocument<Workspace>("workspace");
export const open = own.value;
export const problem = signal<string | undefined>(undefined);
export const limits = signal<Record<keyof Omit<WorkspaceLimits, "inputBytes">, number>>({
  notesHeadLines: 10,
  notesTailLines: 30,
  logEntries: 10,
  gapRecords: 10,
});

export const DEFAULT_TASTE = "_default";

export const input = computed<WorkspaceInput | undefined>(() => {
  if (!open.value) return undefined;
  const { brief, notes, log, gaps, tastes } = open.value;
  const { [DEFAULT_TASTE]: common, ...genres } = tastes;
  return { tastes: { default: common, genres }, brief, notes, log, gaps, limits: limits.value };
});

export const outcome = computed(() => {
  const request = input.value;
  return request && attempt(() => readContext(request));
});

/** The tastes that the brief names. */
export const declared = computed(() =>
  planContextLoading({ brief: open.value?.brief }).files.flatMap(({ genre }) => genre ?? []),
);

/** A file in the editor; missing ones are empty. */
export interface EditedFile {
  field: Field | "tastes";
  /** The name of a taste. */
  taste?: string;
  name: string;
  text: string;
}

export const files = computed<EditedFile[]>(() => {
  const { tastes = {}, ...others }: Partial<Workspace> = open.value ?? {};
  const names = new Set([DEFAULT_TASTE, ...declared.value, ...Object.keys(tastes)]);
  return [
    ...FIELDS.map((field) => ({ field, name: FILES[field], text: textOf(others[field]) })),
    ...Array.from(names, (taste): EditedFile => {
      return { field: "tastes", taste, name: `${taste}.md`, text: textOf(tastes[taste]) };
    }),
  ];
});

/** The text of a file; invalid UTF-8 is shown as far as possible. */
const textOf = (content: Content = ""): string =>
  typeof content === "string" ? content : new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);

export function edit({ field, taste }: EditedFile, text: string): void {
  const at = open.value;
  if (!at) return;
  own.edit({ ...at, [field]: taste === undefined ? text : { ...at.tastes, [taste]: text } });
}

const fetchSample = sampleFiles("workspace", sample);

export async function openSample(): Promise<void> {
  try {
    if (!(await own.mayReplace())) return;
    const files = (await fetchSample()).filter(({ path }) => wants(path));
    own.show(workspaceOf({ name: "Sample", files, skipped: 0 }), false);
    problem.value = undefined;
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

/** Which files of a folder to read. */
export const wants = (path: string): boolean => fieldOf(path) !== undefined || /(^|\/)tastes\/[^/]+\.md$/.test(path);

/** The workspace in a folder: next to the topmost brief; the tastes are in the folder `tastes`. */
function workspaceOf(folder: OpenedFolder): Workspace {
  const files = folder.files.toSorted((a, b) => depth(a) - depth(b) || (a.path < b.path ? -1 : 1));
  const workspace: Workspace = { name: folder.name, tastes: {} };
  const first = files.find(({ path }) => fieldOf(path) === "brief") ?? files.find(({ path }) => fieldOf(path));
  for (const { path, bytes } of files) {
    const field = fieldOf(path);
    if (!field) workspace.tastes[nameOf(path).replace(/\.md$/, "")] ??= bytes;
    else if (first && folderOf(path) === folderOf(first.path)) workspace[field] = bytes;
  }
  return workspace;
}

/** Opens a folder from the disk. */
export async function use(folder: OpenedFolder): Promise<void> {
  if (folder.files.length === 0) {
    const known = [...Object.values(FILES), "tastes/*.md"].join("`, `");
    problem.value = `\`${folder.name}\` contains no file of a workspace: \`${known}\``;
    return;
  }
  if (!(await own.offer(workspaceOf(folder), true))) return;
  problem.value = folder.skipped > 0 ? `${folder.skipped} files were too large or too many to be read` : undefined;
}

/** Opens the document of the link, the last workspace, or the sample. */
export async function begin(): Promise<void> {
  if (!(await own.begin(linked)) && open.peek() === undefined) await openSample();
}

/** The workspace in a link. */
function linked(content: unknown): Workspace {
  const { name, tastes, ...rest } = content as Workspace;
  if (typeof tastes !== "object" || tastes === null) throw new Error("it is not a workspace");
  return { ...rest, name: String(name), tastes };
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const folderOf = (path: string): string => path.slice(0, path.length - nameOf(path).length);
const fieldOf = (path: string): Field | undefined => FIELDS.find((field) => FILES[field] === nameOf(path));
const depth = ({ path }: OpenedFile): number => path.split("/").length;
