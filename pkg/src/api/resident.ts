/// <reference lib="esnext.disposable" />
/** The resident tree. */

import { callJson } from "../call.js";
import { CtxweaveError } from "../error.js";
import type * as glue from "../glue.js";
import { writeRequest } from "../request.js";
import { call } from "../runtime.js";
import { asBytes, guarded, reasonOf } from "../source.js";
import type { Diagnostic, ReadonlyData, WithUnknownFields } from "../types/common.js";
import type { BufferAssembly, Cut, DialogueAssembly, LoomNode, LoomTreeData } from "../types/loom.js";
import type {
  ChangeReport,
  ChangeSet,
  ChangesSince,
  DialogueSummary,
  EachOf,
  NodeIds,
  PathMeasure,
  PromptComparison,
  RemovalReport,
  SearchMatch,
  SearchOptions,
  SummarizedBody,
  TreeBodyOptions,
  TreeBufferOptions,
  TreeChange,
  TreeDialogueOptions,
  TreeOptions,
  TreePreview,
  TreePromptOptions,
  TreeRelative,
  TreeRemoval,
  TreeSettings,
  TreeSize,
} from "../types/resident.js";
import { checkedText, invalid } from "./checked.js";
import { type Handle as AnyHandle, Handles } from "./handles.js";
import { type KeptMessages, unpackAssembly, unpackDialogue, unpackReport } from "./packed.js";

/**
 * A tree that lives in the wasm: changed in place, and assembled repeatedly. Returns the same results as
 * `assembleDialogue`, `assembleBuffer` and `requestBody` for the same nodes and edges, but counts each text once, so
 * that a keystroke costs only what is in the window. See docs/resident.md.
 *
 * A call that throws leaves the tree unchanged. Call `free` when done, or declare it with `using`; otherwise the
 * garbage collector frees it eventually. Methods of a freed tree throw `handle_freed`; after a restart of the module
 * they throw `handle_lost`.
 */
export class LoomTree {
  /** @param tree the tree, or the bytes of its JSON */
  constructor(tree: ReadonlyData<WithUnknownFields<LoomTreeData>> | ArrayBuffer | ArrayBufferView) {
    const json = asBytes(tree, "tree") ?? writeRequest(tree).json;
    const raw = call((wasm) => new wasm.LoomTree(json));
    handles.set(this, { raw, defaults: {}, kept: { number: 0, messages: [] } });
  }

  /** Repairs made to the tree when it was created. */
  get diagnostics(): Diagnostic[] {
    return ask(this, "diagnostics", () => null) as Diagnostic[];
  }

  /** Size of the tree, and of its caches. */
  get size(): TreeSize {
    return ask(this, "size", () => null) as TreeSize;
  }

  /** Adds nodes and edges, or replaces those with the same id; a replaced edge keeps its position. */
  upsert(change: ReadonlyData<TreeChange>): ChangeReport {
    return ask(this, "upsert", () => change) as ChangeReport;
  }

  /**
   * Appends to the text of a node, while a reply streams: to its last block if that is a text, otherwise as a new
   * block. Its cost, and that of the next count, is proportional to the appended text. The halves of a surrogate pair
   * may come in two calls.
   *
   * @throws {CtxweaveError} `node_not_found`
   */
  append(nodeId: string, text: string): ChangeReport {
    return ask(this, "append", () => ({ nodeId, ...withHalves(checkedText(text, "text")) })) as ChangeReport;
  }

  /**
   * Removes nodes and edges. Removing a node also removes the edges to it; an edge from it loses this source, and is
   * removed if no possible predecessor is left.
   *
   * @throws {CtxweaveError} `node_not_found`, `edge_not_found`
   */
  remove(removal: ReadonlyData<TreeRemoval>): RemovalReport {
    return ask(this, "remove", () => removal) as RemovalReport;
  }

  /**
   * Applies a change given as data: the `inverse` of an edit, or a result of {@link changesSince}. An inverse restores
   * the tree before the edit, including the order of nodes and edges.
   *
   * @throws {CtxweaveError} `duplicate_id`, `edge_node_not_found`, `limit_exceeded`, `invalid_edit`
   */
  apply(change: ReadonlyData<ChangeSet>): RemovalReport {
    return ask(this, "apply", () => change) as RemovalReport;
  }

  /** Number of edits that changed something. */
  get revision(): number {
    return ask(this, "revision", () => null) as number;
  }

  /** The tree as given, in order, including unknown fields. */
  toJSON(): LoomTreeData {
    return ask(this, "toJSON", () => null) as LoomTreeData;
  }

  /** The same as JSON bytes, which `new LoomTree` accepts. */
  snapshot(): Uint8Array<ArrayBuffer> {
    return ask(this, "snapshot", () => null) as Uint8Array<ArrayBuffer>;
  }

  /**
   * The changes since a revision of this tree, to store little, or to update a copy with `apply`. Without a revision,
   * or if it is too old or unknown, the whole tree with `replace`.
   */
  changesSince(revision?: number): ChangesSince {
    return ask(this, "changesSince", () => ({ revision })) as ChangesSince;
  }

  /**
   * Compares the prompt before and after a change, other options, or both, without applying them: as two assemblies
   * around `apply` would. The tree and its revision are unchanged.
   *
   * @throws {CtxweaveError} those of the change and of the two assemblies
   */
  preview(change: ReadonlyData<TreePreview>, options?: ReadonlyData<TreePromptOptions>): PromptComparison {
    return handles.use(this, (handle) => {
      if (typeof change !== "object" || change === null) throw invalid("change", "an object");
      const { options: others, ...made } = given(change);
      const before = withDefaults(handle, options);
      return compared(handle, "preview", before, over(before, others as object | undefined), { change: made });
    });
  }

  /** Compares the prompts of two branches, or of one branch with two sets of options. */
  compare(optionsA: ReadonlyData<TreePromptOptions>, optionsB: ReadonlyData<TreePromptOptions>): PromptComparison {
    return handles.use(this, (handle) =>
      compared(handle, "compare", withDefaults(handle, optionsA), withDefaults(handle, optionsB), {}),
    );
  }

  /**
   * Finds a text, in path order: each node before its children, a whole branch before the next. Matches do not overlap.
   */
  search(query: string, options?: ReadonlyData<SearchOptions>): SearchMatch[] {
    return ask(this, "search", () => ({ query, options })) as SearchMatch[];
  }

  /** Changes the settings of the tree, and the defaults of the options. */
  configure(settings: ReadonlyData<TreeSettings>): void {
    handles.use(this, (handle) => {
      if (typeof settings !== "object" || settings === null) throw invalid("settings", "an object");
      const defaults = { ...handle.defaults };
      const all = given(settings);
      for (const [key, value] of Object.entries(all)) {
        if (OWN.has(key)) continue;
        if (value === null) delete defaults[key];
        else defaults[key] = value;
      }
      keepOnePosition(defaults, all);
      callMethod(handle, "configure", { ...all, ...defaults });
      handle.defaults = defaults;
    });
  }

  /** The ids of the path to a node, oldest first. */
  path(tip: string, options?: ReadonlyData<TreeOptions>): string[] {
    return ask(this, "path", (handle) => ({ tip, options: withDefaults(handle, options) })) as string[];
  }

  /** The ids of all nodes, in the order in which they were added: the order of costs that are requested without ids. */
  nodeIds(): string[] {
    return ask(this, "nodeIds", () => null) as string[];
  }

  /**
   * A node as given, including unknown fields; for a list of ids, a list of nodes.
   *
   * @throws {CtxweaveError} `node_not_found`
   */
  node<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, LoomNode> {
    return askEach(this, "node", nodeId) as EachOf<Ids, LoomNode>;
  }

  /** The nodes without a predecessor, in the order in which they were added. */
  roots(): TreeRelative[] {
    return ask(this, "roots", () => null) as TreeRelative[];
  }

  /** The leaves, in the order in which they were added. */
  leaves(): TreeRelative[] {
    return ask(this, "leaves", () => null) as TreeRelative[];
  }

  /**
   * The children of a node and its annotations, in the order of their edges. This query and the following ones take one
   * id, or a list of ids.
   *
   * @throws {CtxweaveError} `node_not_found`
   */
  children<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "children", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /**
   * The parents of a node, and the nodes that it annotates, in the order of its edges. An edit without edges has the
   * parents of the node that it is an edit of.
   */
  parents<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "parents", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /** The children of the node's parents, including the node if an edge leads to it; for a root the roots. */
  siblings<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "siblings", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /** The children of a node and their descendants, each once, after the node that it was reached from. */
  descendants<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "descendants", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /**
   * The node, its original and the other edits of that, each after the node that it is an edit of; then the nodes that
   * share an edge with it as predecessors.
   */
  versions<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "versions", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /**
   * Number of nodes before a node on its path. If several edges lead to a node, the first one counts.
   *
   * @throws {CtxweaveError} `node_not_found`, `path_cycle`
   */
  depth<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, number> {
    return askEach(this, "depth", nodeId) as EachOf<Ids, number>;
  }

  /** The last node that is on the paths to both, possibly one of them; undefined if the paths share none. */
  commonAncestor(a: string, b: string): string | undefined {
    return ask(this, "commonAncestor", () => ({ a, b })) as string | undefined;
  }

  /**
   * The next sibling of the last node of a path; undefined if missing. Skips pruned nodes unless the node is pruned;
   * the siblings of an annotation are the other annotations. If several edges lead to the node, `choices` selects one.
   *
   * @throws {CtxweaveError} `node_not_found`, `ambiguous_path`
   */
  nextSibling(nodeId: string, options?: ReadonlyData<TreeOptions>): TreeRelative | undefined {
    return ask(this, "nextSibling", (handle) => ({ nodeId, options: withDefaults(handle, options) })) as
      TreeRelative | undefined;
  }

  /** The previous sibling, by the same rules. */
  previousSibling(nodeId: string, options?: ReadonlyData<TreeOptions>): TreeRelative | undefined {
    return ask(this, "previousSibling", (handle) => ({ nodeId, options: withDefaults(handle, options) })) as
      TreeRelative | undefined;
  }

  /** Tokens of the content of each of these nodes, or of all in the order of `nodeIds`, counted alone. */
  tokensOf(nodeIds?: readonly string[], options?: ReadonlyData<TreeOptions>): Uint32Array<ArrayBuffer> {
    const { buffer } = costs(this, "tokensOf", nodeIds, options);
    return new Uint32Array(buffer);
  }

  /**
   * Tokens of the path to each of these nodes, or to all: the sum over its nodes, the node included, each counted
   * alone, without excluded and pruned ones. If several edges lead to a node and `choices` selects none, the first one
   * counts; a cyclic path gives NaN. {@link LoomTree.measurePath} returns the cost of a request.
   */
  pathTokens(nodeIds?: readonly string[], options?: ReadonlyData<TreeOptions>): Float64Array<ArrayBuffer> {
    const { buffer } = costs(this, "pathTokens", nodeIds, options);
    return new Float64Array(buffer);
  }

  /**
   * Tokens of each node and its descendants. A node with several incoming edges is counted under the one that its path
   * takes.
   */
  subtreeTokens(nodeIds?: readonly string[], options?: ReadonlyData<TreeOptions>): Float64Array<ArrayBuffer> {
    const { buffer } = costs(this, "subtreeTokens", nodeIds, options);
    return new Float64Array(buffer);
  }

  /** The result of `measurePath` for each of these tips. */
  measurePaths(tips: readonly string[], options?: ReadonlyData<TreeOptions>): PathMeasure[] {
    return ask(this, "measurePaths", (handle) => ({ tips, options: withDefaults(handle, options) })) as PathMeasure[];
  }

  /** Measures a whole path as a dialogue, and compares it with the limit. Nothing is rendered. */
  measurePath(options: ReadonlyData<TreeOptions>): PathMeasure {
    return ask(this, "measurePath", (handle) => withDefaults(handle, options)) as PathMeasure;
  }

  /** The cut of a path as a dialogue, as in reports; undefined if the whole path fits. */
  wouldCut(options: ReadonlyData<TreeOptions>): Cut | undefined {
    return ask(this, "wouldCut", (handle) => withDefaults(handle, options)) as Cut | undefined;
  }

  /** Assembles messages, like the function `assembleDialogue`. */
  assembleDialogue(options: ReadonlyData<TreeDialogueOptions>): DialogueAssembly {
    return handles.use(this, (handle) => unpackAssembly(packed(handle, options, true), handle.kept));
  }

  /**
   * Assembles the same messages with a report of numbers only, whose cost does not depend on the part of the path that
   * is cut: fast enough for every keystroke.
   */
  summarizeDialogue(options: ReadonlyData<TreeDialogueOptions>): DialogueSummary {
    return handles.use(this, (handle) => unpackDialogue(packed(handle, options, false), handle.kept));
  }

  /** Assembles a document, like the function `assembleBuffer`. */
  assembleBuffer(options: ReadonlyData<TreeBufferOptions>): BufferAssembly {
    return ask(this, "assembleBuffer", (handle) => withDefaults(handle, options)) as BufferAssembly;
  }

  /** Writes the target's request body, like the function `requestBody`: JSON in UTF-8. */
  requestBody(options: ReadonlyData<TreeBodyOptions>): Uint8Array<ArrayBuffer> {
    return bodyOf(this, options, false) as Uint8Array<ArrayBuffer>;
  }

  /**
   * Writes bodies for `n` answers to one prompt: a single one if the provider supports it (`openai`, `gemini`,
   * `completion`), otherwise the same body `n` times.
   */
  requestBodies(options: ReadonlyData<TreeBodyOptions> & { readonly n: number }): Uint8Array<ArrayBuffer>[] {
    const { n, ...rest } = given(options);
    if (!Number.isSafeInteger(n) || (n as number) < 1) throw invalid("n", "a whole number, 1 or more");
    const count = n as number;
    const all = handles.use(this, (handle) => withDefaults(handle, rest));
    const [together, target] = askingFor(count, all["target"]);
    const body = this.requestBody({ ...rest, target } as TreeBodyOptions);
    return together ? [body] : Array.from({ length: count }, (_, at) => (at === 0 ? body : body.slice()));
  }

  /** Writes the same body, with a short report. */
  requestBodyWithReport(options: ReadonlyData<TreeBodyOptions>): SummarizedBody {
    const [body, report] = bodyOf(this, options, true) as [Uint8Array<ArrayBuffer>, unknown];
    return { body, ...unpackReport(report) };
  }

  /** Frees the memory. Idempotent. */
  free(): void {
    handles.free(this);
  }

  [Symbol.dispose](): void {
    this.free();
  }
}

/** A text without the lone surrogates at its ends, which JSON cannot carry. */
function withHalves(text: string): { text: string; low?: number; high?: number } {
  const low = /^[\udc00-\udfff]/.test(text) ? text.charCodeAt(0) : undefined;
  const high = /[\ud800-\udbff]$/.test(text) ? text.charCodeAt(text.length - 1) : undefined;
  if (low === undefined && high === undefined) return { text };
  const inside = text.slice(low === undefined ? 0 : 1, high === undefined ? undefined : -1);
  return { text: inside, ...(low !== undefined && { low }), ...(high !== undefined && { high }) };
}

/** Settings stored in the tree; all others are defaults of options. */
const OWN = new Set([
  "title",
  "mode",
  "systemContext",
  "bufferModeSystemContext",
  "bufferPrefix",
  "preferences",
  "limits",
  "media",
]);

interface Handle extends AnyHandle {
  raw: glue.LoomTree;
  defaults: Record<string, unknown>;
  /** Messages from the wasm, kept so that they do not have to cross again. */
  kept: KeptMessages;
}

const handles = new Handles<Handle>("tree", "nodes and edges");

/** Calls a method of the handle by its name. */
function ask(tree: LoomTree, name: string, request: (handle: Handle) => unknown): unknown {
  return handles.use(tree, (handle) => callMethod(handle, name, request(handle)));
}

/** The same for one id or a list of ids. */
function askEach(tree: LoomTree, name: string, nodeId: NodeIds): unknown {
  return ask(tree, name, () => ({ nodeId }));
}

/** Costs of nodes, as the bytes of numbers. */
function costs(
  tree: LoomTree,
  name: string,
  nodeIds: readonly string[] | undefined,
  options: ReadonlyData<TreeOptions> | undefined,
): Uint8Array<ArrayBuffer> {
  const request = (handle: Handle): object => ({ nodeIds, options: withDefaults(handle, options) });
  return ask(tree, name, request) as Uint8Array<ArrayBuffer>;
}

function callMethod(handle: Handle, name: string, args: unknown): unknown {
  return callJson(name, args, { handle });
}

function packed(handle: Handle, options: object, withRows: boolean): unknown {
  const { json, bytes, counter } = writeRequest(withDefaults(handle, options));
  return call(() => handle.raw.packDialogue(json, bytes, counter, handle.kept.number, withRows), handle);
}

function bodyOf(tree: LoomTree, options: ReadonlyData<TreeBodyOptions>, withReport: boolean): unknown {
  return handles.use(tree, (handle) => {
    const { json, bytes, counter } = writeRequest(withDefaults(handle, options));
    return call(() => handle.raw.requestBody(json, bytes, counter, withReport), handle);
  });
}

/** Builds the request of a comparison from two sets of options. A custom tokenizer counts both. */
function compared(
  handle: Handle,
  name: string,
  options: Record<string, unknown>,
  others: Record<string, unknown>,
  request: object,
): PromptComparison {
  const then = { ...others };
  if (then["tokenizer"] === options["tokenizer"]) delete then["tokenizer"];
  if (typeof then["tokenizer"] === "object" && then["tokenizer"] !== null) {
    throw invalid("tokenizer", "a name if it differs from that of the first prompt");
  }
  return callMethod(handle, name, { ...request, options, then }) as PromptComparison;
}

/** The target that requests `n` answers, if one body can. */
function askingFor(n: number, target: unknown): [together: boolean, target: unknown] {
  if (typeof target !== "object" || target === null) return [false, target];
  const fields = guarded("options.target", () => ({ ...target })) as { provider?: unknown; generationConfig?: object };
  switch (fields.provider) {
    case "openai":
    case "completion":
      return [true, n === 1 ? target : { ...fields, n }];
    case "gemini":
      return [
        true,
        n === 1 ? target : { ...fields, generationConfig: { ...fields.generationConfig, candidateCount: n } },
      ];
    default:
      return [false, target];
  }
}

/** Merges the options over the defaults. */
function withDefaults(handle: Handle, options: object | undefined): Record<string, unknown> {
  return over(handle.defaults, options);
}

/** Merges options over others. */
function over(below: Record<string, unknown>, options: object | undefined): Record<string, unknown> {
  if (options === undefined || options === null) return below;
  if (typeof options !== "object") throw invalid("options", "an object");
  const own = given(options);
  const all = { ...below, ...own };
  keepOnePosition(all, own);
  return all;
}

/** The fields with a value other than undefined. */
function given(options: object): Record<string, unknown> {
  try {
    const own: Record<string, unknown> = { ...options };
    for (const key in own) if (own[key] === undefined) delete own[key];
    return own;
  } catch (cause) {
    const message = `the options cannot be read: reading one threw: ${reasonOf(cause)}`;
    throw new CtxweaveError("invalid_input", message, {}, { cause });
  }
}

/** `path` and `tip` are alternatives: the one in the options replaces the other in the defaults. */
function keepOnePosition(all: Record<string, unknown>, given: Record<string, unknown>): void {
  const has = (name: string): boolean => (given[name] ?? undefined) !== undefined;
  if (has("path") && !has("tip")) delete all["tip"];
  if (has("tip") && !has("path")) delete all["path"];
}
