/** What each agent loads from the open folder, by the package's presets. */

import { computed, signal } from "@preact/signals";
import { agentPresets, planAgentFiles } from "ctxweave/folders";
import type { AgentFileOutcome, AgentFilesChain, AgentPreset } from "ctxweave/folders";
import { attempt } from "../../ui/attempt.js";
import { open, parentOf } from "./state.js";

/** What one agent loads. */
export interface Loaded {
  preset: AgentPreset;
  chain: AgentFilesChain;
}

/** The folder that stands for the root of the repository. */
const ROOT = "/repository";

/** The path within the repository. */
export const inRepository = (path: string): string => path.replace(`${ROOT}/`, "");

/** The chosen folder in which the agents start, from the root. */
export const chosenStart = signal("");
/** A file that the agents read after their start; empty for none. */
export const accessed = signal("");
/** The agent whose messages are shown. */
export const chosenAgent = signal("claude-code");

/** All folders of the repository that have files, the root first; none below a hidden one. */
export const startFolders = computed(() => {
  const found = new Set([""]);
  for (const { path } of open.value?.files ?? []) {
    let folder = parentOf(path.replace(/(^|\/)\..*$/u, "$1."));
    for (; folder !== ""; folder = parentOf(folder)) found.add(folder);
  }
  return [...found].toSorted();
});

export const startFolder = computed(() => startFolders.value.find((path) => path === chosenStart.value) ?? "");

/** What every agent loads. */
export const allLoads = computed(() =>
  attempt(() => {
    const files = open.value?.files.map(({ path, content }) => ({ path: `${ROOT}/${path}`, content })) ?? [];
    const path = accessed.value.trim().replace(/^\/+/u, "");
    const request = {
      cwd: startFolder.value === "" ? ROOT : `${ROOT}/${startFolder.value}`,
      root: ROOT,
      files,
      access: path === "" ? [] : [{ path: `${ROOT}/${path}` }],
    };
    return agentPresets().flatMap((preset): Loaded[] => {
      const plan = planAgentFiles({ ...request, agent: preset.name });
      // With all files there is nothing left to read.
      return plan.status === "ready" ? [{ preset, chain: plan.result }] : [];
    });
  }),
);

/** What became of a file for an agent: its place in the prompt, or the reason why it is missing. */
export function fateOf({ pieces, decisions }: AgentFilesChain, path: string): { place?: number; word: string } {
  const place = pieces.findIndex((piece) => piece.path === path);
  const piece = pieces[place];
  if (piece) return { place: place + 1, word: piece.step > 0 ? "after the access" : piece.truncated ? "cut" : "" };
  const { outcome = "missing" } = decisions.find((one) => one.path === path) ?? {};
  return { word: OUTCOMES[outcome] ?? outcome };
}

const OUTCOMES: Partial<Record<AgentFileOutcome, string>> = {
  missing: "not looked at",
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
export function filesOf(loads: readonly Loaded[]): string[] {
  const found = loads.flatMap(({ chain }) => chain.decisions).filter(({ outcome }) => outcome !== "missing");
  return [...new Set(found.map(({ path }) => path))].filter((path) => path.startsWith(`${ROOT}/`)).toSorted();
}
