import { batch, computed, signal } from "@preact/signals";
import {
  bubble,
  buildContextChain,
  countTokensBatch,
  discoverContextFolders,
  parseContextFile,
} from "ctxweave/folders";
import type { ChainRequest, ContextChain, ContextFile, ParsedContextFile, Notified } from "ctxweave/folders";
import { keepAddress, linkParams } from "../../shell/route.js";
import { attempt, type Attempt } from "../../ui/attempt.js";
import type { OpenedFolder } from "../../ui/open-folder.js";
import { PersistedDocument } from "../../ui/own.js";
import { isAgentFile, isContextFile } from "./names.js";
import { fetchSample } from "./samples.js";

export interface OpenVault {
  name: string;
  /** Whether it is the sample, which a link only has to name. */
  sample: boolean;
  files: ContextFile[];
  /** Contents of edited files before the edit. */
  before: Record<string, ContextFile["content"]>;
}

export interface Settings {
  includeWatched: NonNullable<ChainRequest["includeWatched"]>;
  parentChain: boolean;
  /** 0 for no limit. */
  maxTokens: number;
}

const START: Settings = { includeWatched: "ancestors", parentChain: false, maxTokens: 0 };
const START_SELECTED = ["Projects/parachute/chat/ui", "Areas/taiji"];

export const own = new PersistedDocument<OpenVault>("folders");
export const open = own.value;
export const problem = signal<string | undefined>(undefined);
export const selected = signal<readonly string[]>([]);
export const settings = signal<Settings>(START);
/** The file in the editor. */
export const file = signal<string | undefined>(undefined);

/** A folder of the tree: with a context file, or an ancestor of such a folder. */
export interface TreeFolder {
  path: string;
  name: string;
  /** Its context file, if it has one. */
  file?: string;
  parsed?: ParsedContextFile;
  tokens: number;
  children: TreeFolder[];
}

/** The files of the chain; agents load others as well. */
export const contextFiles = computed(() => open.value?.files.filter(({ path }) => isContextFile(path)) ?? []);

/** The files of the folder, by path. */
const byPath = computed(() => new Map(open.value?.files.map((one) => [one.path, one]) ?? []));

export const tree = computed<TreeFolder | undefined>(() => {
  const at = open.value;
  if (!at) return undefined;
  const root: TreeFolder = { path: "", name: "/", tokens: 0, children: [] };
  const known = new Map([["", root]]);
  const folderAt = (path: string): TreeFolder => {
    const there = known.get(path);
    if (there) return there;
    const cut = path.lastIndexOf("/");
    const made: TreeFolder = { path, name: path.slice(cut + 1), tokens: 0, children: [] };
    known.set(path, made);
    folderAt(cut < 0 ? "" : path.slice(0, cut)).children.push(made);
    return made;
  };
  const found = discoverContextFolders(contextFiles.value.map(({ path }) => path)).folders;
  const parsed = found.map((one) => parseContextFile(one.file, byPath.value.get(one.file)?.content ?? ""));
  const tokens = countTokensBatch(parsed.map(({ body }) => body.trim()));
  for (const [place, one] of found.entries()) {
    const folder = folderAt(one.path);
    folder.file = one.file;
    const read = parsed[place];
    if (read) folder.parsed = read;
    folder.tokens = tokens[place] ?? 0;
  }
  return root;
});

export const outcome = computed<Attempt<{ request: ChainRequest; chain: ContextChain; prompt: string }> | undefined>(
  () => {
    const at = open.value;
    if (!at) return undefined;
    const { maxTokens, ...rest } = settings.value;
    const request: ChainRequest = {
      files: contextFiles.value,
      selected: selected.value,
      ...rest,
      ...(maxTokens > 0 ? { maxTokens } : {}),
    };
    return attempt(() => {
      const { prompt, ...chain } = buildContextChain({ ...request, render: true });
      return { request, chain, prompt };
    });
  },
);

/** The watchers to notify if the shown file changed, and whether it has. */
export const told = computed<{ changed: boolean; list: Notified[] } | undefined>(() => {
  const at = open.value;
  if (!at || file.value === undefined) return undefined;
  return { changed: file.value in at.before, list: bubble([file.value], contextFiles.value) };
});

export function textOf(path: string): string {
  const content = byPath.value.get(path)?.content;
  if (typeof content === "string") return content;
  return content instanceof Uint8Array ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(content) : "";
}

export function type(path: string, text: string): void {
  const at = open.value;
  const one = byPath.value.get(path);
  if (!at || !one) return;
  own.edit({
    ...at,
    before: path in at.before ? at.before : { ...at.before, [path]: one.content },
    files: at.files.map((other) => (other === one ? { path, content: text } : other)),
  });
}

/** Reverts the shown file. */
export function restore(path: string): void {
  const at = open.value;
  if (!at) return;
  const { [path]: content, ...before } = at.before;
  if (content === undefined) return;
  const files = at.files.map((other) => (other.path === path ? { path, content } : other));
  own.edit({ ...at, before, files });
}

export function toggle(path: string): void {
  const now = selected.value;
  selected.value = now.includes(path) ? now.filter((other) => other !== path) : [...now, path];
}

export function change(fields: Partial<Settings>): void {
  settings.value = { ...settings.value, ...fields };
}

/** Which files of a folder to read. */
export const wants = isAgentFile;

export async function use(folder: OpenedFolder): Promise<void> {
  if (folder.files.length === 0) {
    problem.value = `no folder in \`${folder.name}\` has an \`AGENTS.md\`, a \`CLAUDE.md\` or another file that agents load`;
    return;
  }
  const files = folder.files.map(({ path, bytes }) => ({ path, content: bytes }));
  if (!(await own.offer({ name: folder.name, sample: false, files, before: {} }, true))) return;
  batch(() => {
    look(new URLSearchParams());
    if (folder.skipped > 0) problem.value = `${folder.skipped} files were too large or too many to be read`;
  });
}

export async function openSample(): Promise<void> {
  try {
    if (!(await own.mayReplace())) return;
    const files = (await fetchSample()).filter(({ path }) => isContextFile(path));
    const name = "Sample vault";
    own.show(
      { name, sample: true, files: files.map(({ path, bytes }) => ({ path, content: bytes })), before: {} },
      false,
    );
    look(linkParams(VIEW));
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

const VIEW = "folders";

/** Opens the document of the link, the last vault, or the sample, with the selection in the address. */
export async function begin(): Promise<void> {
  if (!(await own.begin(linked)) && open.peek() === undefined) await openSample();
  else if (linkParams(VIEW).size > 0 || file.peek() === undefined) look(linkParams(VIEW));
}

/** The vault in a link. */
function linked(content: unknown): OpenVault {
  const { name, files, before = {} } = content as OpenVault;
  if (!Array.isArray(files)) throw new Error("it is not a list of files");
  return { name: String(name), sample: false, files, before };
}

/** Applies the selection and settings of the address, otherwise the initial ones. */
function look(link: URLSearchParams): void {
  const at = open.peek();
  if (!at) return;
  const include = link.get("watched");
  const first = discoverContextFolders(contextFiles.peek().map(({ path }) => path)).folders[0];
  const start = at.sample ? START_SELECTED : first ? [first.path] : [];
  const linkedFile = link.get("file");
  batch(() => {
    selected.value = link.has("select") ? link.getAll("select") : start;
    settings.value = {
      includeWatched: include === "all" || include === "none" ? include : "ancestors",
      parentChain: link.has("parents"),
      maxTokens: Math.max(0, Number(link.get("max")) || 0),
    };
    file.value = linkedFile ?? (at.sample ? "Projects/parachute/AGENTS.md" : at.files[0]?.path);
    problem.value = undefined;
  });
}

/** Writes the selection into the address; returns a function that stops it. */
export function keepLink(): () => void {
  return keepAddress(VIEW, () => {
    if (!open.value) return undefined;
    const { includeWatched, parentChain, maxTokens } = settings.value;
    const link = new URLSearchParams();
    for (const path of selected.value) link.append("select", path);
    if (selected.value.length === 0) link.append("select", " ");
    if (includeWatched !== "ancestors") link.set("watched", includeWatched);
    if (parentChain) link.set("parents", "1");
    if (maxTokens > 0) link.set("max", String(maxTokens));
    if (file.value) link.set("file", file.value);
    return link;
  });
}
