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
import { liveBuffer, liveDialogue, measurePending } from "./resident.js";
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

/** A tree that is open, and how it came here. */
export interface OpenTree {
  /** A sample's id, or `file`. */
  source: string;
  name: string;
  tree: LoomTreeData;
  media: Record<string, Media>;
  /** What the page starts with for this tree; a link says only what differs. */
  start: Settings;
  /** Where it opens; without it, at the end of the longest path. */
  firstTip?: string;
}

export type Outcome =
  | { kind: "dialogue"; result: DialogueAssembly; milliseconds: number; first: boolean }
  | { kind: "buffer"; result: BufferAssembly; milliseconds: number; first: boolean }
  | { kind: "error"; code: string; message: string; details: Record<string, unknown> };

/** The tree that is open, and where in it one was, as a link says it. */
export const own = new PersistedDocument<{ tree: OpenTree; link: string }>("loom");
export const open = computed(() => own.value.value?.tree);
export const settings = signal<Settings>(freshSettings(OWN_WINDOW, "dialogue"));
export const tip = signal<string | undefined>(undefined);
/** Why the last attempt to open something failed; the tree that was open stays. */
export const openProblem = signal<{ name: string; message: string; hint: string } | undefined>(undefined);
/** The sample that is on its way. */
export const opening = signal<string | undefined>(undefined);
/** The node under the pointer, and the one the keyboard is at: the first wins for showing its text. */
export const hovered = signal<string | undefined>(undefined);
export const cursor = signal<string | undefined>(undefined);

/** By itself, so that the tree is indexed and drawn again when it changes and not with every letter. */
const excluded = computed(() => settings.value.excluded);

/** The tree of the file; what hangs where does not change with what is excluded. */
const fileIndex = computed(() => open.value && indexTree(open.value.tree));

export const index = computed<TreeIndex | undefined>(
  () => fileIndex.value && withNodes(fileIndex.value, treeWithExclusions(fileIndex.value.tree, excluded.value)),
);

/** The exact tokenizer that counts now: the one asked for, once its vocabulary is there. */
export const tokenizer = computed<PageEncoding | undefined>(() => {
  const asked = settings.value.tokenizer;
  return asked && isLoaded(asked) ? asked : undefined;
});

const place = computed(() => index.value && slotAfter(index.value, tip.value));

/** The message that is being written, as the node that it will be. Documents have their working buffer for that. */
export const pending = computed<Pending | undefined>(() => {
  const { mode, pendingMessage = "" } = settings.value;
  return mode === "dialogue" && place.value ? messageAt(place.value, pendingMessage) : undefined;
});

/** What is asked of the tree that stays: the message that is being written is its tip, but not among its nodes. */
const asked = computed<DialogueRequest | BufferRequest | undefined>(() => {
  const at = open.value;
  const from = pending.value?.node.id ?? tip.value;
  return at && from !== undefined ? buildRequest(at.tree, at.media, from, settings.value, tokenizer.value) : undefined;
});

/** The request as one call would have it. */
export const request = computed<DialogueRequest | BufferRequest | undefined>(() => {
  const input = asked.value;
  const message = pending.value;
  return input && message ? { ...input, tree: withPending(input.tree, message) } : input;
});

/** The tree that was assembled last: its first assembly also pays for reading it. */
let assembled: OpenTree | undefined;

export const outcome = computed<Outcome | undefined>(() => {
  const input = asked.value;
  if (!input) return undefined;
  const first = assembled !== open.value;
  assembled = open.value;
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

/** What an assembly takes once the tree was read: after a first one it is done once more, when there is time. */
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

/** While the count is exact: what the estimate would have said of the very same messages. */
export const estimate = computed<number | undefined>(() => {
  const made = outcome.value;
  const exact = tokenizer.value;
  return exact && made && made.kind !== "error" ? estimateOf(made.result, exact) : undefined;
});

/** What the message costs that is being written, and how far its whole path is from the limit. */
export const pendingCost = computed<{ tokens: number; remaining: number } | undefined>(() => {
  const input = asked.value;
  const message = pending.value;
  if (!input || !message) return undefined;
  try {
    const { tokens, path } = measurePending(input, message);
    return { tokens, remaining: path.remaining };
  } catch {
    // The outcome says what is wrong.
    return undefined;
  }
});

/** A node by its id, also the one that is not in the tree yet. */
export function nodeWith(id: string): LoomNode | undefined {
  const message = pending.value?.node;
  return message?.id === id ? message : index.value?.node.get(id);
}

/** The path in the tree that the library walked, or, where it gave none, the way back as it is drawn. */
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

/** Sets one optional setting, or, given nothing, lets the tree and the defaults decide again. */
export function setOrClear<
  K extends
    | "model"
    | "cache"
    | "tokenizer"
    | "instructionScope"
    | "systemPrompt"
    | "workingBuffer"
    | "pendingMessage"
    | "bufferSystem"
    | "aware",
>(key: K, value: Settings[K] | undefined): void {
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

/** Says by which edge the path comes to a node, or leaves it open again. */
export function choose(nodeId: string, edgeId: string | undefined): void {
  const choices = { ...settings.value.choices };
  if (edgeId === undefined) delete choices[nodeId];
  else choices[nodeId] = edgeId;
  change({ choices });
}

/** Excludes a node, or takes that back; back at what the file says, nothing is noted. */
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

/** Opens a sample with its own start, or with what a link says. */
export async function openSample(id: string, link?: URLSearchParams): Promise<void> {
  const sample = SAMPLES.find((s) => s.id === id) ?? SAMPLES[0];
  // An address was typed or gone back to: what it says is done, and what it replaces is a step back.
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
      hint: "Try again, or open a file of your own.",
    };
  } finally {
    opening.value = undefined;
  }
}

/** Opens the text of a file; a bad one changes nothing but the message. */
export async function openFile(name: string, text: string): Promise<void> {
  const opened = openText(text);
  if (!opened.ok) {
    openProblem.value = { name, message: opened.message, hint: opened.hint };
  } else if (await own.mayReplace()) {
    show(fileOf(name, opened), undefined);
  }
}

function fileOf(name: string, { tree, media }: { tree: LoomTreeData; media: Record<string, Media> }): OpenTree {
  return { source: "file", name, tree, media, start: freshSettings(OWN_WINDOW, tree.mode ?? "dialogue") };
}

/** What a link carries of a tree of one's own. */
export function content(): unknown {
  const { name, tree, media } = open.value ?? {};
  return { name, tree, media };
}

/** A tree that a link carries. */
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

/** After a step back or forth: the tree is there again, and where one was in it. */
export function lookAgain(): void {
  const at = own.value.peek();
  if (at) look(at.tree, new URLSearchParams(at.link));
}

/** Goes where a link says, or where a tree begins. */
function look(next: OpenTree, link: URLSearchParams | undefined): void {
  const { tips } = fileIndex.peek() ?? indexTree(next.tree);
  const linked = link?.get("tip") ?? undefined;
  // A tip that a link names and the tree does not have is asked for all the same: the error says which it is.
  const start = linked ?? next.firstTip ?? tips[0] ?? next.tree.nodes.at(-1)?.id;
  batch(() => {
    // How tokens are counted is no matter of the tree, so it outlasts a change of trees.
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
 * Follows the link in the address: at the start, and when someone goes back or pastes another. An address that names
 * no tree, as in the link to this view, keeps what is open.
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
    // Back to a file from the sample that was opened after it.
    batch(() => {
      own.undo();
      lookAgain();
    });
  } else {
    await openSample(FIRST, new URLSearchParams());
    openProblem.value = {
      name: "This link",
      message:
        source === "file"
          ? "it was made for a file that this browser does not have"
          : `there is no sample named \`${source}\``,
      hint: "The first sample stands in for it.",
    };
  }
}

/** Writes what is open and set into the address. Another tree is a step to go back from. */
function rewriteLink(): void {
  const at = open.value;
  if (!at) return;
  const where = tip.value === undefined ? {} : { tip: tip.value };
  const link = writeLink({ source: at.source, ...where, settings: settings.value }, at.start);
  const before = linkParams(VIEW).get("tree");
  writeAddress(VIEW, link, before !== null && before !== at.source);
  untracked(() => own.note({ tree: at, link: link.toString() }));
}

/** Loads the vocabulary that is asked for, by a person or by a link; gives back the way to stop. */
export function keepVocabulary(): () => void {
  const asked = computed(() => settings.value.tokenizer);
  return effect(() => {
    const name = asked.value;
    if (name) void untracked(() => loadVocabulary(name));
  });
}

/** Writes every change into the address; gives back the way to stop. */
export function keepLink(): () => void {
  return effect(rewriteLink);
}
