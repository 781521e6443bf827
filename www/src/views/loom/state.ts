import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type {
  BufferAssembly,
  BufferRequest,
  CtxweaveError,
  DialogueAssembly,
  DialogueRequest,
  LoomNode,
  LoomTreeData,
  Media,
  NodeReport,
} from "ctxweave/loom";
import { linkParams, writeAddress } from "../../shell/route.js";
import { PersistedDocument } from "../../ui/own.js";
import { estimateOf } from "./estimate.js";
import { readLink, writeLink } from "./link.js";
import { openText } from "./open-file.js";
import { messageAt, slotAfter, withPending, type Pending } from "./pending.js";
import { isHeld, liveBuffer, liveDialogue, measurePending } from "./resident.js";
import { fetchSample, OWN_WINDOW, SAMPLES } from "./samples.js";
import {
  buildRequest,
  freshSettings,
  treeWithExclusions,
  withMode,
  withProvider,
  type Mode,
  type PageEncoding,
  type ProviderName,
  type Settings,
} from "./settings.js";
import { drawnPath, indexTree, withNodes, type TreeIndex } from "./tree-index.js";
import { isLoaded, loadVocabulary } from "../../ui/vocabularies.js";

/** An open tree, and its source. */
export interface OpenTree {
  /** A sample's id, or `file`. */
  source: string;
  name: string;
  tree: LoomTreeData;
  media: Record<string, Media>;
  /** The initial settings for this tree; a link contains only differences. */
  start: Settings;
  /** The initial tip. Default: the end of the longest path. */
  firstTip?: string;
}

export type Outcome =
  | { kind: "dialogue"; result: DialogueAssembly; milliseconds: number; first: boolean }
  | { kind: "buffer"; result: BufferAssembly; milliseconds: number; first: boolean }
  | { kind: "error"; code: string; message: string; details: Record<string, unknown> };

/** The open tree and the position in it, as in a link. */
export const own = new PersistedDocument<{ tree: OpenTree; link: string }>("loom");
export const open = computed(() => own.value.value?.tree);
export const settings = signal<Settings>(freshSettings(OWN_WINDOW, "dialogue"));
export const tip = signal<string | undefined>(undefined);
/** Why the last attempt to open something failed; the previous tree remains open. */
export const openProblem = signal<{ name: string; message: string; hint: string } | undefined>(undefined);
/** The sample being loaded. */
export const opening = signal<string | undefined>(undefined);
/** The node under the pointer, and the node of the keyboard cursor; the first takes precedence for the shown text. */
export const hovered = signal<string | undefined>(undefined);
export const cursor = signal<string | undefined>(undefined);

/** A separate signal, so that the tree is indexed and drawn again when it changes and not on each keystroke. */
const excluded = computed(() => settings.value.excluded);

/** The tree of the file; exclusions do not change its structure. */
const fileIndex = computed(() => open.value && indexTree(open.value.tree));

export const index = computed<TreeIndex | undefined>(
  () => fileIndex.value && withNodes(fileIndex.value, treeWithExclusions(fileIndex.value.tree, excluded.value)),
);

/** The effective exact tokenizer: the selected one, once its vocabulary is loaded. */
export const tokenizer = computed<PageEncoding | undefined>(() => {
  const asked = settings.value.tokenizer;
  return asked && isLoaded(asked) ? asked : undefined;
});

const place = computed(() => index.value && slotAfter(index.value, tip.value));

/** The message being written, as a node. Documents have their working buffer instead. */
export const pending = computed<Pending | undefined>(() => {
  const { mode, pendingMessage = "" } = settings.value;
  return mode === "dialogue" && place.value ? messageAt(place.value, pendingMessage) : undefined;
});

/** The request to the resident tree: the message being written is the tip, but not in `nodes`. */
const asked = computed<DialogueRequest | BufferRequest | undefined>(() => {
  const at = open.value;
  const from = pending.value?.node.id ?? tip.value;
  return at && from !== undefined ? buildRequest(at.tree, at.media, from, settings.value, tokenizer.value) : undefined;
});

/** The request as a single call. */
export const request = computed<DialogueRequest | BufferRequest | undefined>(() => {
  const input = asked.value;
  const message = pending.value;
  return input && message ? { ...input, tree: withPending(input.tree, message) } : input;
});

export const outcome = computed<Outcome | undefined>(() => {
  const input = asked.value;
  if (!input) return undefined;
  const first = !isHeld(input.tree);
  const begun = performance.now();
  try {
    return settings.value.mode === "dialogue"
      ? { kind: "dialogue", result: liveDialogue(input, pending.value), milliseconds: performance.now() - begun, first }
      : { kind: "buffer", result: liveBuffer(input), milliseconds: performance.now() - begun, first };
  } catch (error) {
    const { code = "error", message, details = {} } = error as CtxweaveError;
    return { kind: "error", code, message, details: details as Record<string, unknown> };
  }
});

/** The duration of an assembly without reading the tree: after a first one it is repeated when the page is idle. */
export const warmTime = signal<number | undefined>(undefined);

effect(() => {
  const made = outcome.value;
  warmTime.value = undefined;
  if (!made || made.kind === "error" || !made.first) return undefined;
  const timer = setTimeout(() => {
    const input = asked.peek();
    if (!input || outcome.peek() !== made) return;
    const begun = performance.now();
    if (made.kind === "dialogue") liveDialogue(input, pending.peek());
    else liveBuffer(input);
    warmTime.value = performance.now() - begun;
  }, 300);
  return () => clearTimeout(timer);
});

/** While counts are exact: the estimate for the same messages. */
export const estimate = computed<number | undefined>(() => {
  const made = outcome.value;
  const exact = tokenizer.value;
  return exact && made && made.kind !== "error" ? estimateOf(made.result, exact) : undefined;
});

/** The cost of the message being written, and the tokens left for its path. */
export const pendingCost = computed<{ tokens: number; remaining: number } | undefined>(() => {
  const input = asked.value;
  const message = pending.value;
  if (!input || !message) return undefined;
  try {
    const { tokens, path } = measurePending(input, message);
    return { tokens, remaining: path.remaining };
  } catch {
    // The outcome reports the error.
    return undefined;
  }
});

/** A node by id, including the message being written. */
export function nodeWith(id: string): LoomNode | undefined {
  const message = pending.value?.node;
  return message?.id === id ? message : index.value?.node.get(id);
}

/** The library's path; if it failed, the path to the tip as drawn. */
export const path = computed<string[]>(() => {
  const made = outcome.value;
  if (made && made.kind !== "error") {
    const message = pending.value?.node.id;
    return made.result.report.path.filter((id) => id !== message);
  }
  return index.value && tip.value !== undefined ? drawnPath(index.value, tip.value) : [];
});

/** Each node's row in the report. */
export const rows = computed<Map<string, NodeReport>>(() => {
  const made = outcome.value;
  return new Map(made && made.kind !== "error" ? made.result.report.nodes.map((row) => [row.nodeId, row]) : []);
});

export function change(fields: Partial<Settings>): void {
  settings.value = { ...settings.value, ...fields };
}

/** The optional settings that do not depend on others, as the provider does. */
type OptionalSetting = Exclude<
  { [K in keyof Settings]-?: object extends Pick<Settings, K> ? K : never }[keyof Settings],
  "provider"
>;

/** Sets an optional setting; undefined restores the tree's value or the default. */
export function setOrClear<K extends OptionalSetting>(key: K, value: Settings[K] | undefined): void {
  const next = { ...settings.value };
  if (value === undefined || value === "") delete next[key];
  else next[key] = value as Settings[K];
  settings.value = next;
}

export function setProvider(provider: ProviderName | undefined): void {
  settings.value = withProvider(settings.value, provider);
}

export function setMode(mode: Mode): void {
  settings.value = withMode(settings.value, mode);
}

export function setPreference<K extends keyof Settings["preferences"]>(
  key: K,
  value: Settings["preferences"][K] | undefined,
): void {
  const preferences = { ...settings.value.preferences };
  if (value === undefined) delete preferences[key];
  else preferences[key] = value;
  change({ preferences });
}

/** Chooses the edge by which the path reaches a node; undefined reverts the choice. */
export function choose(nodeId: string, edgeId: string | undefined): void {
  const choices = { ...settings.value.choices };
  if (edgeId === undefined) delete choices[nodeId];
  else choices[nodeId] = edgeId;
  change({ choices });
}

/** Toggles the exclusion of a node; a value equal to the file's is not stored. */
export function toggleExcluded(id: string): void {
  const node = open.value?.tree.nodes.find((n) => n.id === id);
  if (!node) return;
  const inFile = node.metadata?.excluded === true;
  const excluded = { ...settings.value.excluded };
  const now = excluded[id] ?? inFile;
  if (now === !inFile) delete excluded[id];
  else excluded[id] = !now;
  change({ excluded });
}

export function pickTip(id: string): void {
  batch(() => {
    tip.value = id;
    cursor.value = id;
  });
}

/** Opens a sample with its initial settings, or those of a link. */
export async function openSample(id: string, link?: URLSearchParams): Promise<void> {
  const sample = SAMPLES.find((s) => s.id === id) ?? SAMPLES[0];
  // An address was typed or revisited: it is opened, and undo restores the previous document.
  if (!sample || (!link && !(await own.mayReplace()))) return;
  opening.value = sample.id;
  try {
    const { tree, media } = await fetchSample(sample);
    await show(
      {
        source: sample.id,
        name: sample.name,
        tree,
        media,
        start: freshSettings(sample.contextWindow, tree.mode ?? "dialogue"),
        firstTip: sample.tip,
      },
      link,
    );
  } catch (error) {
    openProblem.value = {
      name: sample.name,
      message: (error as Error).message,
      hint: "Try again, or open a file.",
    };
  } finally {
    opening.value = undefined;
  }
}

/** Opens the text of a file; an invalid one only shows a message. */
export async function openFile(name: string, text: string): Promise<void> {
  const opened = openText(text);
  if (!opened.ok) {
    openProblem.value = { name, message: opened.message, hint: opened.hint };
  } else if (await own.mayReplace()) {
    show(fileOf(name, opened), undefined);
  }
}

function fileOf(
  name: string,
  { tree, media, tip: firstTip }: { tree: LoomTreeData; media: Record<string, Media>; tip?: string },
): OpenTree {
  const start = freshSettings(OWN_WINDOW, tree.mode ?? "dialogue");
  return { source: "file", name, tree, media, start, ...(firstTip === undefined ? {} : { firstTip }) };
}

/** The part of a user's tree that a link carries. */
export function content(): unknown {
  const { name, tree, media, firstTip: tip } = open.value ?? {};
  return { name, tree, media, tip };
}

/** The tree in a link. */
function linked(content: unknown): { tree: OpenTree; link: string } {
  const opened = openText(JSON.stringify(content));
  if (!opened.ok) throw new Error(opened.message);
  return { tree: fileOf(String((content as { name?: unknown }).name), opened), link: linkParams(VIEW).toString() };
}

function show(next: OpenTree, link: URLSearchParams | undefined): void {
  batch(() => {
    own.show({ tree: next, link: "" }, next.source === "file");
    look(next, link);
  });
}

/** After undo or redo: restores the position in the tree. */
export function lookAgain(): void {
  const at = own.value.peek();
  if (at) look(at.tree, new URLSearchParams(at.link));
}

/** Goes to the position in a link, or the initial one. */
function look(next: OpenTree, link: URLSearchParams | undefined): void {
  const { tips } = fileIndex.peek() ?? indexTree(next.tree);
  const linked = link?.get("tip") ?? undefined;
  // A tip in a link that the tree does not have is requested all the same, so that the error names it.
  const start = linked ?? next.firstTip ?? tips[0] ?? next.tree.nodes.at(-1)?.id;
  batch(() => {
    // The tokenizer does not depend on the tree, so it is kept.
    const { tokenizer: counted } = settings.value;
    settings.value = link ? readLink(link, next.start) : { ...next.start, ...(counted ? { tokenizer: counted } : {}) };
    tip.value = start;
    cursor.value = start;
    hovered.value = undefined;
    openProblem.value = undefined;
  });
}

const FIRST = SAMPLES[0]?.id ?? "";
const VIEW = "loom";

/**
 * Follows the link in the address: at the start, and on navigation. An address without a tree, such as a link to this
 * view, keeps the open tree.
 */
export async function followLink(): Promise<void> {
  if (await own.begin(linked)) lookAgain();
  const link = linkParams(VIEW);
  const source = link.get("tree");
  const at = open.peek();
  if (source === null) {
    if (at) rewriteLink();
    else await openSample(FIRST, link);
  } else if (at && source === at.source) {
    look(at, link);
  } else if (SAMPLES.some(({ id }) => id === source)) {
    await openSample(source, link);
  } else if (source === "file" && own.canUndo.peek()) {
    // Returns to a file from the sample that was opened after it.
    batch(() => {
      own.undo();
      lookAgain();
    });
  } else {
    await openSample(FIRST, new URLSearchParams());
    openProblem.value = {
      name: "This link",
      message:
        source === "file" ? "it refers to a file that this browser does not have" : `unknown sample \`${source}\``,
      hint: "The first sample is shown instead.",
    };
  }
}

/** Writes the tree and the settings into the address. Another tree adds an entry to the history. */
function rewriteLink(): void {
  const at = open.value;
  if (!at) return;
  const where = tip.value === undefined ? {} : { tip: tip.value };
  const link = writeLink({ source: at.source, ...where, settings: settings.value }, at.start);
  const before = linkParams(VIEW).get("tree");
  writeAddress(VIEW, link, before !== null && before !== at.source);
  untracked(() => own.note({ tree: at, link: link.toString() }));
}

/** Loads the selected vocabulary; returns a function that stops it. */
export function keepVocabulary(): () => void {
  const asked = computed(() => settings.value.tokenizer);
  return effect(() => {
    const name = asked.value;
    if (name) void untracked(() => loadVocabulary(name));
  });
}

/** Writes every change into the address; returns a function that stops it. */
export function keepLink(): () => void {
  return effect(rewriteLink);
}
