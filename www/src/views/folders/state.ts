import { batch, computed, signal } from "@preact/signals";
import {
  bubble,
  buildContextChain,
  countTokensBatch,
  discoverContextFolders,
  parseContextFile,
} from "ctxweave/folders";
import type { ChainRequest, ContextFile, ContextFolder } from "ctxweave/folders";
import vault from "../../../../examples/vault?folder";
import { keepAddress, linkParams, wordIn } from "../../shell/route.js";
import { attempt } from "../../ui/attempt.js";
import type { OpenedFile, OpenedFolder } from "../../ui/open-folder.js";
import { PersistedDocument } from "../../ui/own.js";
import { sampleFiles } from "../../ui/sample-files.js";

const VIEW = "folders";

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

const START_SELECTED = ["Projects/parachute/chat/ui", "Areas/taiji"];

export const own = new PersistedDocument<OpenVault>(VIEW);
export const open = own.value;
export const problem = signal<string | undefined>(undefined);
export const selected = signal<readonly string[]>([]);
export const settings = signal<Settings>({ includeWatched: "ancestors", parentChain: false, maxTokens: 0 });
/** The path of the file in the editor. */
export const file = signal<string | undefined>(undefined);

const isContextFile = (path: string): boolean => /(^|\/)(AGENTS|CLAUDE)\.md$/u.test(path);

/** Names that context files and rules have. */
const CONTEXT_NAMES =
  /(^|\/)((AGENTS|CLAUDE|GEMINI|QWEN|CONTEXT)\.md|AGENTS\.override\.md|CLAUDE\.local\.md|opencode\.json)$/u;
const RULE_FOLDERS = /(^|\/)(\.(claude|qwen|clinerules|cursor|kilo|kilocode|continue|kiro|github)\/|\.clinerules$)/u;

/** Whether an agent may load a file. */
export const isAgentFile = (path: string): boolean =>
  CONTEXT_NAMES.test(path) || (RULE_FOLDERS.test(path) && /(\.(md|mdc)|\.clinerules)$/u.test(path));

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** The files of the chain; agents load others as well. */
export const contextFiles = computed(() => open.value?.files.filter(({ path }) => isContextFile(path)) ?? []);

/** The contents of all files, by path. */
export const contents = computed(() => new Map(open.value?.files.map(({ path, content }) => [path, content]) ?? []));

/** The folders with a context file. */
const contextFolders = computed(() => discoverContextFolders(contextFiles.value.map(({ path }) => path)).folders);

/** A folder of the tree: with a context file and its tokens, or an ancestor of such a folder. */
type TreeFolder = Partial<ContextFolder> & { path: string; tokens: number };

/** All folders, each before those in it. */
export const tree = computed(() => {
  const found = new Map<string, TreeFolder>([["", { path: "", tokens: 0 }]]);
  const texts = contextFolders.value.map(({ file }) =>
    parseContextFile(file, contents.value.get(file) ?? "").body.trim(),
  );
  for (const [place, tokens] of countTokensBatch(texts).entries()) {
    const folder = contextFolders.value[place];
    if (folder) found.set(folder.path, { ...folder, tokens });
  }
  for (const { path } of found.values()) {
    const parent = parentOf(path);
    if (!found.has(parent)) found.set(parent, { path: parent, tokens: 0 });
  }
  const order = ({ path }: TreeFolder): string => path.replaceAll("/", "\0");
  return [...found.values()].toSorted((one, other) => (order(one) < order(other) ? -1 : 1));
});

/** The prompt of the selected folders, and the request for it. */
export const outcome = computed(() => {
  if (!open.value) return undefined;
  const { maxTokens, ...rest } = settings.value;
  const limit = maxTokens > 0 ? { maxTokens } : {};
  const request: ChainRequest = { files: contextFiles.value, selected: selected.value, ...rest, ...limit };
  return attempt(() => {
    const { prompt, ...chain } = buildContextChain({ ...request, render: true });
    return { request, chain, prompt };
  });
});

/** The watchers to notify if the file in the editor changed, and whether it has. */
export const notified = computed(() => {
  if (!open.value || file.value === undefined) return { isChanged: false, watchers: [] };
  return { isChanged: file.value in open.value.before, watchers: bubble([file.value], contextFiles.value) };
});

export function textOf(path: string): string {
  const content = contents.value.get(path);
  if (typeof content === "string") return content;
  return content instanceof Uint8Array ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(content) : "";
}

/** Writes a text into a file. */
export function type(path: string, text: string): void {
  const content = contents.value.get(path);
  if (open.value && content !== undefined) put(path, text, { [path]: content, ...open.value.before });
}

/** Reverts a file. */
export function restore(path: string): void {
  const { [path]: content, ...before } = open.value?.before ?? {};
  if (content !== undefined) put(path, content, before);
}

function put(path: string, content: ContextFile["content"], before: OpenVault["before"]): void {
  if (!open.value) return;
  const files = open.value.files.map((one) => (one.path === path ? { path, content } : one));
  own.edit({ ...open.value, before, files });
}

export function toggle(path: string): void {
  const now = selected.value;
  selected.value = now.includes(path) ? now.filter((other) => other !== path) : [...now, path];
}

export function change(fields: Partial<Settings>): void {
  settings.value = { ...settings.value, ...fields };
}

function vaultOf(name: string, files: readonly OpenedFile[], sample: boolean): OpenVault {
  return { name, sample, files: files.map(({ path, bytes }) => ({ path, content: bytes })), before: {} };
}

export async function openFolder({ name, files, skipped }: OpenedFolder): Promise<void> {
  if (files.length === 0) {
    problem.value = `no folder in \`${name}\` has an \`AGENTS.md\`, a \`CLAUDE.md\` or another file that agents load`;
    return;
  }
  if (!(await own.offer(vaultOf(name, files, false), true))) return;
  look(new URLSearchParams());
  if (skipped > 0) problem.value = `${skipped} files were too large or too many to be read`;
}

const fetchSample = sampleFiles(VIEW, vault);

export async function openSample(): Promise<void> {
  try {
    if (!(await own.mayReplace())) return;
    const files = (await fetchSample()).filter(({ path }) => isContextFile(path));
    own.show(vaultOf("Sample vault", files, true), false);
    look(linkParams(VIEW));
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

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
  const start = at.sample
    ? START_SELECTED
    : contextFolders
        .peek()
        .slice(0, 1)
        .map(({ path }) => path);
  batch(() => {
    selected.value = link.has("select") ? link.getAll("select") : start;
    settings.value = {
      includeWatched: wordIn(link, "watched", ["all", "none"]) ?? "ancestors",
      parentChain: link.has("parents"),
      maxTokens: Math.max(0, Number(link.get("max")) || 0),
    };
    file.value = link.get("file") ?? (at.sample ? "Projects/parachute/AGENTS.md" : at.files[0]?.path);
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
