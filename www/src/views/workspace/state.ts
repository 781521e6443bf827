import { computed, signal } from "@preact/signals";
import { planContextLoading, readContext } from "ctxweave/workspace";
import type { WorkspaceInput, WorkspaceLimits } from "ctxweave/workspace";
import { attempt } from "../../ui/attempt.js";
import type { OpenedFile, OpenedFolder } from "../../ui/open-folder.js";
import { PersistedDocument } from "../../ui/own.js";
import { fetchSample } from "./samples.js";

/** Content of a field: text, or bytes that were not edited. */
type Text = string | Uint8Array;

export interface Workspace {
  name: string;
  brief?: Text;
  notes?: Text;
  log?: Text;
  gaps?: Text;
  /** Taste files by name; `_default` is always loaded. */
  tastes: Record<string, Text>;
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
  const at = open.value;
  if (!at) return undefined;
  const { [DEFAULT_TASTE]: taste, ...genres } = at.tastes;
  const { brief, notes, log, gaps } = at;
  const texts = Object.entries({ brief, notes, log, gaps }).filter(([, text]) => text !== undefined);
  return {
    tastes: { ...(taste === undefined ? {} : { default: taste }), genres },
    ...Object.fromEntries(texts),
    limits: limits.value,
  };
});

export const outcome = computed(() => {
  const given = input.value;
  return given && attempt(() => readContext(given));
});

/** The files to read, in loading order. */
export const plan = computed(() => {
  const brief = open.value?.brief;
  return planContextLoading(brief === undefined ? {} : { brief }).files;
});

/** The text of a field; invalid UTF-8 is shown as far as possible. */
export function shown(text: Text | undefined): string {
  return text instanceof Uint8Array ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(text) : (text ?? "");
}

export function change(field: "brief" | "notes" | "log" | "gaps", text: string): void {
  if (open.value) own.edit({ ...open.value, [field]: text });
}

export function changeTaste(name: string, text: string): void {
  if (open.value) own.edit({ ...open.value, tastes: { ...open.value.tastes, [name]: text } });
}

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

const FIELDS = {
  "brief.md": "brief",
  "notes.md": "notes",
  "log.jsonl": "log",
  "vocabulary_gaps.jsonl": "gaps",
} as const;

/** Which files of a folder to read. */
export function wants(path: string): boolean {
  const name = path.split("/").at(-1) ?? "";
  return name in FIELDS || /(^|\/)tastes\/[^/]+\.md$/.test(path);
}

/** The workspace in a folder: next to the topmost brief; the tastes are in the folder `tastes`. */
function workspaceOf(folder: OpenedFolder): Workspace {
  const byDepth = [...folder.files].sort((a, b) => depth(a) - depth(b) || (a.path < b.path ? -1 : 1));
  const workspace: Workspace = { name: folder.name, tastes: {} };
  const home = folderOf(byDepth.find(({ path }) => nameOf(path) === "brief.md") ?? byDepth.find(isField));
  for (const file of byDepth) {
    const field = FIELDS[nameOf(file.path) as keyof typeof FIELDS];
    if (field && folderOf(file) === home) workspace[field] = file.bytes;
    else if (!field) workspace.tastes[nameOf(file.path).replace(/\.md$/, "")] ??= file.bytes;
  }
  return workspace;
}

/** Opens a folder from the disk. */
export async function use(folder: OpenedFolder): Promise<void> {
  if (folder.files.length === 0) {
    problem.value = `\`${folder.name}\` contains no file of a workspace: \`brief.md\`, \`notes.md\`, \`log.jsonl\`, \`vocabulary_gaps.jsonl\`, \`tastes/*.md\``;
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

const isField = ({ path }: OpenedFile): boolean => nameOf(path) in FIELDS;
const nameOf = (path: string): string => path.split("/").at(-1) ?? "";
const folderOf = (file: OpenedFile | undefined): string => file?.path.split("/").slice(0, -1).join("/") ?? "";
const depth = ({ path }: OpenedFile): number => path.split("/").length;
