/// <reference lib="esnext.disposable" />
/** The resident tree. */

import { callJson } from "../call.js";
import { CtxweaveError } from "../error.js";
import type * as glue from "../glue.js";
import { writeRequest } from "../request.js";
import { call } from "../runtime.js";
import { asBytes, reasonOf } from "../source.js";
import type { Diagnostic, ReadonlyData } from "../types/common.js";
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
 * A tree that lives in the wasm: changed in place, and assembled again and again. It gives what `assembleDialogue`,
 * `assembleBuffer` and `requestBody` give for the same nodes and edges, but no text is counted twice, and a keystroke costs
 * what is in the window.
 *
 * A call that throws leaves it as it was. Call `free` when it is done with (or say `using`); else the garbage collector
 * frees it some time. After that, and after the module had to be restarted, its methods throw `handle_freed` and
 * `handle_lost`.
 */
export class LoomTree {
  /** @param tree the tree, or the bytes of its JSON */
  constructor(tree: ReadonlyData<LoomTreeData> | ArrayBuffer | ArrayBufferView) {
    const json = asBytes(tree, "tree") ?? writeRequest(tree).json;
    const raw = call((wasm) => new wasm.LoomTree(json));
    handles.set(this, { raw, defaults: {}, kept: { number: 0, messages: [] } });
  }

  /** What had to be repaired in the tree when it was made. */
  get diagnostics(): Diagnostic[] {
    return ask(this, "diagnostics", () => null) as Diagnostic[];
  }

  /** How large it is, and how much is remembered. */
  get size(): TreeSize {
    return ask(this, "size", () => null) as TreeSize;
  }

  /** Adds nodes and edges; one whose id is in the tree is put in its place, and an edge keeps its order. */
  upsert(change: ReadonlyData<TreeChange>): ChangeReport {
    return ask(this, "upsert", () => change) as ChangeReport;
  }

  /**
   * Adds to the text of a node, while a reply streams: to its last block where that is a text, else as a block after it. It
   * costs what is added, and so does what is counted next. A character whose halves come in two texts is whole when both are
   * there.
   *
   * @throws {CtxweaveError} `node_not_found`
   */
  append(nodeId: string, text: string): ChangeReport {
    return ask(this, "append", () => ({ nodeId, ...withHalves(checkedText(text, "text")) })) as ChangeReport;
  }

  /**
   * Removes nodes and edges. With a node go the edges that lead to it; an edge that starts from it loses that source, and
   * goes too when no source is left that it could come from.
   *
   * @throws {CtxweaveError} `node_not_found`, `edge_not_found`
   */
  remove(removal: ReadonlyData<TreeRemoval>): RemovalReport {
    return ask(this, "remove", () => removal) as RemovalReport;
  }

  /**
   * Makes a change that is given as data: what an edit gave as its `inverse`, or what {@link changesSince} gave. After an inverse the
   * tree is as it was before the edit, with the order of nodes and edges.
   *
   * @throws {CtxweaveError} `duplicate_id`, `edge_node_not_found`, `limit_exceeded`, `invalid_edit`
   */
  apply(change: ReadonlyData<ChangeSet>): RemovalReport {
    return ask(this, "apply", () => change) as RemovalReport;
  }

  /** How many edits there were that changed something. */
  get revision(): number {
    return ask(this, "revision", () => null) as number;
  }

  /** The tree as it was given, in order, with the fields that the model does not name. */
  toJSON(): LoomTreeData {
    return ask(this, "toJSON", () => null) as LoomTreeData;
  }

  /** The same as bytes of JSON, which `new LoomTree` takes. */
  snapshot(): Uint8Array<ArrayBuffer> {
    return ask(this, "snapshot", () => null) as Uint8Array<ArrayBuffer>;
  }

  /**
   * What changed since a revision of this tree: for storing little, and for a copy of it elsewhere, which `apply` brings up to date.
   * Without a revision, and where it is too long ago or none of this tree, it is all of the tree, with `replace`.
   */
  changesSince(revision?: number): ChangesSince {
    return ask(this, "changesSince", () => ({ revision })) as ChangesSince;
  }

  /**
   * What the prompt would gain and lose by a change, by other options, or by both, without making it: what `apply` and two
   * assemblies would show. Tree and revision stay as they are.
   *
   * @throws {CtxweaveError} what the change and the two assemblies would throw
   */
  preview(change: ReadonlyData<TreePreview>, options?: ReadonlyData<TreePromptOptions>): PromptComparison {
    return handles.use(this, (handle) => {
      if (typeof change !== "object" || change === null) throw invalid("change", "an object");
      const { options: others, ...made } = given(change);
      const before = withDefaults(handle, options);
      return compared(handle, "preview", before, over(before, others as object | undefined), { change: made });
    });
  }

  /** The prompts of two branches, or of one with two settings, next to each other. */
  compare(optionsA: ReadonlyData<TreePromptOptions>, optionsB: ReadonlyData<TreePromptOptions>): PromptComparison {
    return handles.use(this, (handle) =>
      compared(handle, "compare", withDefaults(handle, optionsA), withDefaults(handle, optionsB), {}),
    );
  }

  /**
   * Where a text stands: in path order, each node before its children, a branch to its end before the next. Matches do not
   * overlap.
   */
  search(query: string, options?: ReadonlyData<SearchOptions>): SearchMatch[] {
    return ask(this, "search", () => ({ query, options })) as SearchMatch[];
  }

  /** Changes what the tree says about itself, and the defaults of the options. */
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

  /** The ids of the path that ends at a node, oldest first. */
  path(tip: string, options?: ReadonlyData<TreeOptions>): string[] {
    return ask(this, "path", (handle) => ({ tip, options: withDefaults(handle, options) })) as string[];
  }

  /** The ids of all nodes, in the order in which they were given: that of costs that are asked for without ids. */
  nodeIds(): string[] {
    return ask(this, "nodeIds", () => null) as string[];
  }

  /**
   * A node as it was given, with the fields that the model does not name; for a list of ids a list of nodes.
   *
   * @throws {CtxweaveError} `node_not_found`
   */
  node<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, LoomNode> {
    return askEach(this, "node", nodeId) as EachOf<Ids, LoomNode>;
  }

  /** The nodes where paths begin, in the order in which they were given. */
  roots(): TreeRelative[] {
    return ask(this, "roots", () => null) as TreeRelative[];
  }

  /** The leaves, in the order in which they were given. */
  leaves(): TreeRelative[] {
    return ask(this, "leaves", () => null) as TreeRelative[];
  }

  /**
   * The children of a node, and the remarks about it, in the order of their edges. This and what follows is for one id,
   * or for a list of them at once.
   *
   * @throws {CtxweaveError} `node_not_found`
   */
  children<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "children", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /**
   * The parents of a node, and the nodes that it is a remark about, in the order of its edges. An edit without an edge of its own stands
   * where the node stands that it is an edit of.
   */
  parents<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "parents", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /** The children of the node's parents, itself among them where an edge leads to it; for a root the roots. */
  siblings<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "siblings", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /** The node's children and all of theirs, each after the one that it was come to from, and once. */
  descendants<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "descendants", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /**
   * The node, what it is an edit of, and the other edits of that, each after what it is an edit of; then those that an edge names as
   * its predecessor next to it.
   */
  versions<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, TreeRelative[]> {
    return askEach(this, "versions", nodeId) as EachOf<Ids, TreeRelative[]>;
  }

  /**
   * How many nodes the path to a node has before it. Where several edges lead to a node, it takes the first.
   *
   * @throws {CtxweaveError} `node_not_found`, `path_cycle`
   */
  depth<Ids extends NodeIds>(nodeId: Ids): EachOf<Ids, number> {
    return askEach(this, "depth", nodeId) as EachOf<Ids, number>;
  }

  /** The last node that is on the paths to both, which may be one of them; undefined where they have none in common. */
  commonAncestor(a: string, b: string): string | undefined {
    return ask(this, "commonAncestor", () => ({ a, b })) as string | undefined;
  }

  /**
   * The node after the last one of a path, among the children of its parent; undefined if missing. Pruned ones
   * are passed over unless the node is pruned itself, and the siblings of a remark are the other remarks. Where several edges lead to
   * the node, `choices` say which.
   *
   * @throws {CtxweaveError} `node_not_found`, `ambiguous_path`
   */
  nextSibling(nodeId: string, options?: ReadonlyData<TreeOptions>): TreeRelative | undefined {
    return ask(this, "nextSibling", (handle) => ({ nodeId, options: withDefaults(handle, options) })) as
      TreeRelative | undefined;
  }

  /** The same on the other side. */
  previousSibling(nodeId: string, options?: ReadonlyData<TreeOptions>): TreeRelative | undefined {
    return ask(this, "previousSibling", (handle) => ({ nodeId, options: withDefaults(handle, options) })) as
      TreeRelative | undefined;
  }

  /** Tokens of the content of each of these nodes, or of all of them as `nodeIds` has them, counted alone. */
  tokensOf(nodeIds?: readonly string[], options?: ReadonlyData<TreeOptions>): Uint32Array<ArrayBuffer> {
    const { buffer } = costs(this, "tokensOf", nodeIds, options);
    return new Uint32Array(buffer);
  }

  /**
   * Tokens of the path to each of these nodes, or to all of them: the sum of what its nodes are alone, the node among them, without
   * those that are excluded or pruned. Where several edges lead to a node and `choices` say nothing, the path takes the first; of one
   * that goes in a circle nothing is known (NaN). What a request costs says {@link LoomTree.measurePath}.
   */
  pathTokens(nodeIds?: readonly string[], options?: ReadonlyData<TreeOptions>): Float64Array<ArrayBuffer> {
    const { buffer } = costs(this, "pathTokens", nodeIds, options);
    return new Float64Array(buffer);
  }

  /** The same of each node and its descendants. A node with several edges to it is counted where its path comes from. */
  subtreeTokens(nodeIds?: readonly string[], options?: ReadonlyData<TreeOptions>): Float64Array<ArrayBuffer> {
    const { buffer } = costs(this, "subtreeTokens", nodeIds, options);
    return new Float64Array(buffer);
  }

  /** What `measurePath` gives for each of these tips. */
  measurePaths(tips: readonly string[], options?: ReadonlyData<TreeOptions>): PathMeasure[] {
    return ask(this, "measurePaths", (handle) => ({ tips, options: withDefaults(handle, options) })) as PathMeasure[];
  }

  /** What a whole path costs as a dialogue, and how far that is from the limit. Nothing is rendered. */
  measurePath(options: ReadonlyData<TreeOptions>): PathMeasure {
    return ask(this, "measurePath", (handle) => withDefaults(handle, options)) as PathMeasure;
  }

  /** What would be cut from a path as a dialogue, as reports have it; undefined where all of it fits. */
  wouldCut(options: ReadonlyData<TreeOptions>): Cut | undefined {
    return ask(this, "wouldCut", (handle) => withDefaults(handle, options)) as Cut | undefined;
  }

  /** Messages, as the function `assembleDialogue` gives them. */
  assembleDialogue(options: ReadonlyData<TreeDialogueOptions>): DialogueAssembly {
    return handles.use(this, (handle) => unpackAssembly(packed(handle, options, true), handle.kept));
  }

  /**
   * The same messages with a report of numbers only, so that what it costs does not grow with the part of the path that is
   * cut: for every keystroke.
   */
  summarizeDialogue(options: ReadonlyData<TreeDialogueOptions>): DialogueSummary {
    return handles.use(this, (handle) => unpackDialogue(packed(handle, options, false), handle.kept));
  }

  /** A document, as the function `assembleBuffer` gives it. */
  assembleBuffer(options: ReadonlyData<TreeBufferOptions>): BufferAssembly {
    return ask(this, "assembleBuffer", (handle) => withDefaults(handle, options)) as BufferAssembly;
  }

  /** The body that the target's provider is sent, as the function `requestBody` gives it: JSON in UTF-8. */
  requestBody(options: ReadonlyData<TreeBodyOptions>): Uint8Array<ArrayBuffer> {
    return bodyOf(this, options, false) as Uint8Array<ArrayBuffer>;
  }

  /**
   * Bodies for `n` answers to one prompt: one that asks for all of them where the provider takes that (`openai`, `gemini`,
   * `completion`), else the same one `n` times.
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

  /** The same body, with the short report of it. */
  requestBodyWithReport(options: ReadonlyData<TreeBodyOptions>): SummarizedBody {
    const [body, report] = bodyOf(this, options, true) as [Uint8Array<ArrayBuffer>, unknown];
    return { body, ...unpackReport(report) };
  }

  /** Gives the memory back. To free it again is harmless. */
  free(): void {
    handles.free(this);
  }

  [Symbol.dispose](): void {
    this.free();
  }
}

/** A text, apart from the half of a surrogate pair that it begins or ends with: JSON does not have these. */
function withHalves(text: string): { text: string; low?: number; high?: number } {
  const low = /^[\udc00-\udfff]/.test(text) ? text.charCodeAt(0) : undefined;
  const high = /[\ud800-\udbff]$/.test(text) ? text.charCodeAt(text.length - 1) : undefined;
  if (low === undefined && high === undefined) return { text };
  const inside = text.slice(low === undefined ? 0 : 1, high === undefined ? undefined : -1);
  return { text: inside, ...(low !== undefined && { low }), ...(high !== undefined && { high }) };
}

/** What the tree itself keeps; all other settings are defaults of what is asked. */
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
  /** What came out of the wasm, so that it need not come again. */
  kept: KeptMessages;
}

const handles = new Handles<Handle>("tree", "nodes and edges");

/** Calls a method of the handle by its name. */
function ask(tree: LoomTree, name: string, request: (handle: Handle) => unknown): unknown {
  return handles.use(tree, (handle) => callMethod(handle, name, request(handle)));
}

/** The same about one id or a list of them. */
function askEach(tree: LoomTree, name: string, nodeId: NodeIds): unknown {
  return ask(tree, name, () => ({ nodeId }));
}

/** Costs of nodes, as the bytes of their numbers. */
function costs(
  tree: LoomTree,
  name: string,
  nodeIds: readonly string[] | undefined,
  options: ReadonlyData<TreeOptions> | undefined,
): Uint8Array<ArrayBuffer> {
  const request = (handle: Handle): object => ({ nodeIds, options: withDefaults(handle, options) });
  return ask(tree, name, request) as Uint8Array<ArrayBuffer>;
}

function callMethod({ raw }: Handle, name: string, args: unknown): unknown {
  return callJson(name, args, { handle: raw });
}

function packed(handle: Handle, options: object, withRows: boolean): unknown {
  const { json, bytes, counter } = writeRequest(withDefaults(handle, options));
  return call(() => handle.raw.packDialogue(json, bytes, counter, handle.kept.number, withRows));
}

function bodyOf(tree: LoomTree, options: ReadonlyData<TreeBodyOptions>, withReport: boolean): unknown {
  return handles.use(tree, (handle) => {
    const { json, bytes, counter } = writeRequest(withDefaults(handle, options));
    return call(() => handle.raw.requestBody(json, bytes, counter, withReport));
  });
}

/** What two sets of options ask for, next to each other. A tokenizer of the caller's counts both. */
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
    throw invalid("tokenizer", "a name where it is another than that of the first prompt");
  }
  return callMethod(handle, name, { ...request, options, then }) as PromptComparison;
}

/** The target that asks for so many answers, where one body can. */
function askingFor(n: number, target: unknown): [together: boolean, target: unknown] {
  if (typeof target !== "object" || target === null) return [false, target];
  const fields = target as { provider?: unknown; generationConfig?: object };
  switch (fields.provider) {
    case "openai":
    case "completion":
      return [true, n === 1 ? target : { ...target, n }];
    case "gemini":
      return [
        true,
        n === 1 ? target : { ...target, generationConfig: { ...fields.generationConfig, candidateCount: n } },
      ];
    default:
      return [false, target];
  }
}

/** The options, over the defaults. */
function withDefaults(handle: Handle, options: object | undefined): Record<string, unknown> {
  return over(handle.defaults, options);
}

/** Options over others. */
function over(below: Record<string, unknown>, options: object | undefined): Record<string, unknown> {
  if (options === undefined || options === null) return below;
  if (typeof options !== "object") throw invalid("options", "an object");
  const own = given(options);
  const all = { ...below, ...own };
  keepOnePosition(all, own);
  return all;
}

/** The fields that are set: those that are undefined are left out. */
function given(options: object): Record<string, unknown> {
  try {
    const own: Record<string, unknown> = { ...options };
    for (const key in own) if (own[key] === undefined) delete own[key];
    return own;
  } catch (cause) {
    const message = `the options cannot be read: asking for one threw: ${reasonOf(cause)}`;
    throw new CtxweaveError("invalid_input", message, {}, { cause });
  }
}

/** Path and tip are two ways to say one thing: the one that is asked for takes the place of the other in the defaults. */
function keepOnePosition(all: Record<string, unknown>, given: Record<string, unknown>): void {
  const has = (name: string): boolean => (given[name] ?? undefined) !== undefined;
  if (has("path") && !has("tip")) delete all["tip"];
  if (has("tip") && !has("path")) delete all["path"];
}
