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
  TargetProvider,
} from "ctxweave/loom";
import { linkParams, writeAddress } from "../../shell/route.js";
import { attempt } from "../../ui/attempt.js";
import { PersistedDocument } from "../../ui/own.js";
import { estimateOf } from "./estimate.js";
import { readLink, writeLink } from "./link.js";
import { readTree, type TreeFile } from "./open-file.js";
import { messageAt, slotAfter, withPending, type Pending } from "./pending.js";
import { layoutTree } from "./layout.js";
import { askTree } from "./resident.js";
import { fetchSample, SAMPLES, type Sample } from "./samples.js";
import {
  buildRequest,
  freshSettings,
  treeWithExclusions,
  withMode,
  withProvider,
  type Mode,
  type PageEncoding,
  type Settings,
} from "./settings.js";
import { ancestry, indexTree, nodesById, type TreeIndex } from "./tree-index.js";
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
  firstTip: string | undefined;
}

type Assembly = { kind: "dialogue"; result: DialogueAssembly } | { kind: "buffer"; result: BufferAssembly };

export type Outcome =
  | (Assembly & { milliseconds: number; first: boolean })
  | { kind: "error"; code: string; message: string; details: Record<string, unknown> };

/** The window for a user's tree. */
const OWN_WINDOW = 8192;

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

/** The positions of the nodes in the drawing. */
export const layout = computed(() => fileIndex.value && layoutTree(fileIndex.value));

/** The tips, those with the longest path first. */
export const tips = computed<string[]>(() => {
  const depthOf = (id: string): number => layout.value?.at.get(id)?.depth ?? 0;
  return (fileIndex.value?.leaves ?? []).toSorted((a, b) => depthOf(b) - depthOf(a));
});

export const index = computed<TreeIndex | undefined>(() => {
  const file = fileIndex.value;
  if (!file) return undefined;
  const tree = treeWithExclusions(file.tree, excluded.value);
  return tree === file.tree ? file : { ...file, tree, node: nodesById(tree) };
});

const askedTokenizer = computed(() => settings.value.tokenizer);

effect(() => {
  const name = askedTokenizer.value;
  if (name) void untracked(() => loadVocabulary(name));
});

/** The effective exact tokenizer: the selected one, once its vocabulary is loaded. */
export const tokenizer = computed<PageEncoding | undefined>(() => {
  const asked = askedTokenizer.value;
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

function assemble(input: DialogueRequest | BufferRequest, message: Pending | undefined): Assembly {
  return settings.value.mode === "dialogue"
    ? { kind: "dialogue", result: askTree(input, message, (tree, options) => tree.assembleDialogue(options)) }
    : { kind: "buffer", result: askTree(input, undefined, (tree, options) => tree.assembleBuffer(options)) };
}

/** The edges of the tree that was assembled last. */
let assembled: unknown;

export const outcome = computed<Outcome | undefined>(() => {
  const input = asked.value;
  if (!input) return undefined;
  const first = assembled !== input.tree.edges;
  assembled = input.tree.edges;
  const begun = performance.now();
  try {
    const made = assemble(input, pending.value);
    return { ...made, milliseconds: performance.now() - begun, first };
  } catch (error) {
    const { code = "error", message, details = {} } = error as CtxweaveError;
    return { kind: "error", code, message, details: details as Record<string, unknown> };
  }
});

/** The duration of an assembly with counted texts: after a first one it is repeated when the page is idle. */
export const warmTime = signal<number | undefined>(undefined);

effect(() => {
  const made = outcome.value;
  warmTime.value = undefined;
  if (!made || made.kind === "error" || !made.first) return undefined;
  const timer = setTimeout(() => {
    const input = asked.peek();
    if (!input || outcome.peek() !== made) return;
    const begun = performance.now();
    assemble(input, pending.peek());
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
  const cost = attempt(() =>
    askTree(input, message, (tree, options) => ({
      tokens: tree.tokensOf([message.node.id], options)[0] ?? 0,
      remaining: tree.measurePath(options).remaining,
    })),
  );
  // The outcome reports an error.
  return cost.ok ? cost.value : undefined;
});

/** A node by id, including the message being written. */
export function nodeWith(id: string): LoomNode | undefined {
  const message = pending.value?.node;
  return message?.id === id ? message : index.value?.node.get(id);
}

const report = computed(() =>
  outcome.value && outcome.value.kind !== "error" ? outcome.value.result.report : undefined,
);

/** The library's path; if it failed, the path to the tip as drawn. */
export const path = computed<string[]>(() => {
  const message = pending.value?.node.id;
  if (report.value) return report.value.path.filter((id) => id !== message);
  return index.value && tip.value !== undefined ? ancestry(index.value.parent, tip.value).reverse() : [];
});

/** Each node's row in the report. */
export const rows = computed(() => new Map<string, NodeReport>(report.value?.nodes.map((row) => [row.nodeId, row])));

export function change(fields: Partial<Settings>): void {
  settings.value = { ...settings.value, ...fields };
}

/** The optional settings that do not depend on others, as the provider does. */
type OptionalSetting = Exclude<
  { [K in keyof Settings]-?: object extends Pick<Settings, K> ? K : never }[keyof Settings],
  "provider"
>;

/** A record with a field, or without it if the value is undefined. */
function withField<T extends object, K extends keyof T>(record: T, key: K, value: T[K] | undefined): T {
  const next = { ...record };
  if (value === undefined) delete next[key];
  else next[key] = value;
  return next;
}

/** Sets an optional setting; undefined or an empty text restores the tree's value or the default. */
export function setOrClear<K extends OptionalSetting>(key: K, value: Settings[K] | undefined): void {
  settings.value = withField<Settings, K>(settings.value, key, value === "" ? undefined : value);
}

export function setProvider(provider: TargetProvider | undefined): void {
  settings.value = withProvider(settings.value, provider);
}

export function setMode(mode: Mode): void {
  settings.value = withMode(settings.value, mode);
}

export function setPreference<K extends keyof Settings["preferences"]>(
  key: K,
  value: Settings["preferences"][K] | undefined,
): void {
  change({ preferences: withField(settings.value.preferences, key, value) });
}

/** Chooses the edge by which the path reaches a node; undefined reverts the choice. */
export function choose(nodeId: string, edgeId: string | undefined): void {
  change({ choices: withField(settings.value.choices, nodeId, edgeId) });
}

/** Toggles the exclusion of a node; a value equal to the file's is not stored. */
export function toggleExcluded(id: string): void {
  const inFile = fileIndex.value?.node.get(id)?.metadata?.excluded === true;
  const next = !(settings.value.excluded[id] ?? inFile);
  change({ excluded: withField(settings.value.excluded, id, next === inFile ? undefined : next) });
}

export function pickTip(id: string): void {
  batch(() => {
    tip.value = id;
    cursor.value = id;
  });
}

/** Opens a sample with its initial settings, or those of a link. */
export async function openSample(sample: Sample, link?: URLSearchParams): Promise<void> {
  // An address was typed or revisited: it is opened, and undo restores the previous document.
  if (!link && !(await own.mayReplace())) return;
  const { id: source, name, tip, contextWindow } = sample;
  opening.value = source;
  try {
    show(openTree(source, name, contextWindow, { ...(await fetchSample(sample)), tip }), link);
  } catch (error) {
    openProblem.value = { name, message: (error as Error).message, hint: "Try again, or open a file." };
  } finally {
    opening.value = undefined;
  }
}

/** Opens a file; an invalid one only shows a message. */
export async function openFile(file: File): Promise<void> {
  const { name } = file;
  try {
    const opened = readTree(await file.text());
    if (await own.mayReplace()) show(openTree("file", name, OWN_WINDOW, opened), undefined);
  } catch (error) {
    const { message, cause: hint = "Nothing was changed: the previous tree is still open." } = error as Error;
    openProblem.value = { name, message, hint: String(hint) };
  }
}

function openTree(source: string, name: string, contextWindow: number, { tree, media, tip }: TreeFile): OpenTree {
  return { source, name, tree, media, start: freshSettings(contextWindow, tree.mode ?? "dialogue"), firstTip: tip };
}

/** The part of a user's tree that a link carries. */
export function content(): unknown {
  const { name, tree, media, firstTip: tip } = open.value ?? {};
  return { name, tree, media, tip };
}

/** The tree in a link. */
function linked(content: unknown): { tree: OpenTree; link: string } {
  const name = String((content as { name?: unknown }).name);
  const tree = openTree("file", name, OWN_WINDOW, readTree(JSON.stringify(content)));
  return { tree, link: linkParams(VIEW).toString() };
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
  const linked = link?.get("tip") ?? undefined;
  // A tip in a link that the tree does not have is requested all the same, so that the error names it.
  const start = linked ?? next.firstTip ?? tips.peek()[0] ?? next.tree.nodes.at(-1)?.id;
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
  const sample = SAMPLES.find(({ id }) => id === source);
  if (source === null) {
    if (at) rewriteLink();
    else await openSample(SAMPLES[0], link);
  } else if (at && source === at.source) {
    look(at, link);
  } else if (sample) {
    await openSample(sample, link);
  } else if (source === "file" && own.canUndo.peek()) {
    // Returns to a file from the sample that was opened after it.
    batch(() => {
      own.undo();
      lookAgain();
    });
  } else {
    await openSample(SAMPLES[0], new URLSearchParams());
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
  const link = writeLink(at.source, tip.value, settings.value, at.start);
  const before = linkParams(VIEW).get("tree");
  writeAddress(VIEW, link, before !== null && before !== at.source);
  untracked(() => own.note({ tree: at, link: link.toString() }));
}

/** Writes every change into the address; returns a function that stops it. */
export function keepLink(): () => void {
  return effect(rewriteLink);
}
