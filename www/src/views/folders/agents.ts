/** What each agent loads from the open folder, by the package's presets. */

import { computed, signal } from "@preact/signals";
import { agentPresets, loadAgentFiles } from "ctxweave/folders";
import type { AgentFileFound, AgentFilesChain, AgentPreset } from "ctxweave/folders";
import { open, type OpenVault } from "./state.js";

/** What one agent loads. */
export interface Loaded {
  preset: AgentPreset;
  chain: AgentFilesChain;
}

/** The folder that stands for the root of the repository. */
const ROOT = "/repository";

/** The path within the repository. */
export const inRepository = (path: string): string => path.replace(`${ROOT}/`, "");

/** The folder in which the agents start, from the root. */
export const startFolder = signal("");
/** A file that the agents read after their start; empty for none. */
export const accessed = signal("");
/** The agent whose messages are shown. */
export const chosenAgent = signal("claude-code");

/** All folders of the repository that have files, the root first. */
export const startFolders = computed(() => {
  const found = new Set([""]);
  for (const { path } of open.value?.files ?? []) {
    const parts = path.split("/").filter((_, at, all) => at < all.length - 1);
    for (let end = 1; end <= parts.length; end++) {
      if (parts[end - 1]?.startsWith(".")) break;
      found.add(parts.slice(0, end).join("/"));
    }
  }
  return [...found].toSorted();
});

/** Looks at a path as a host would: a file, a folder, or nothing. */
function hostOf(files: OpenVault["files"]): (path: string) => AgentFileFound {
  const contents = new Map(files.map(({ path, content }) => [`${ROOT}/${path}`, content]));
  const folders = new Map<string, Set<string>>();
  for (const path of [...contents.keys(), `${ROOT}/.git/HEAD`]) {
    const parts = path.split("/");
    for (let end = 1; end < parts.length; end++) {
      const folder = parts.slice(0, end).join("/") || "/";
      const names = folders.get(folder) ?? new Set();
      folders.set(folder, names.add(parts[end] ?? ""));
    }
  }
  return (path) => {
    const entries = folders.get(path.replace(/(.)\/$/u, "$1"));
    return contents.get(path) ?? (entries ? { entries: [...entries] } : null);
  };
}

/** Loads the files of every agent. */
export function loadAll({ files }: OpenVault, folder: string, access: string): Promise<Loaded[]> {
  const look = hostOf(files);
  const cwd = folder === "" ? ROOT : `${ROOT}/${folder}`;
  return Promise.all(
    agentPresets().map(async (preset) => {
      const path = access.trim().replace(/^\/+/u, "");
      const request = { agent: preset.name, cwd, ...(path === "" ? {} : { access: [{ path: `${ROOT}/${path}` }] }) };
      return { preset, chain: await loadAgentFiles(request, look) };
    }),
  );
}

/** What became of a file for an agent: its place in the prompt, or the reason why it is missing. */
export function fateOf({ pieces, decisions }: AgentFilesChain, path: string): { place?: number; word: string } {
  const place = pieces.findIndex((piece) => piece.path === path);
  const piece = pieces[place];
  if (piece) return { place: place + 1, word: piece.step > 0 ? "after the access" : piece.truncated ? "cut" : "" };
  const outcome = decisions.find((one) => one.path === path)?.outcome;
  return { word: outcome === undefined || outcome === "missing" ? "not looked at" : (OUTCOMES[outcome] ?? outcome) };
}

const OUTCOMES: Record<string, string> = {
  shadowed: "shadowed",
  sameText: "the same text",
  tooLarge: "too large",
  linkText: "text of a link",
  overBudget: "over the budget",
  waiting: "waits for a path",
  onRequest: "on request",
  tooDeep: "too deep",
  notText: "no text",
};

/** The files of the repository that at least one agent looks at, in order. */
export const filesOf = (loads: readonly Loaded[]): string[] => {
  const found = loads.flatMap(({ chain }) => [
    ...chain.pieces.map(({ path }) => path),
    ...chain.decisions.flatMap(({ path, outcome }) => (outcome === "missing" ? [] : [path])),
  ]);
  return [...new Set(found)].filter((path) => path.startsWith(`${ROOT}/`)).toSorted();
};
