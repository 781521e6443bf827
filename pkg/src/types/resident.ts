import type { Target } from "./bodies.js";
import type { Diagnostic, FitState, JsonValue, Limits, WithUnknownFields } from "./common.js";
import type {
  AssemblyReport,
  AssemblyRequest,
  BufferRequest,
  DialogueRequest,
  LoomEdge,
  LoomNode,
  LoomTreeData,
  Media,
  Message,
  Preferences,
  TokenTotals,
} from "./loom.js";

/** Options of a {@link LoomTree}: a request without its tree. Settings passed to `configure` can be omitted. */
export type TreeOptions<Request extends AssemblyRequest = AssemblyRequest> = Omit<Request, "tree" | "contextWindow"> & {
  /** Context window of the model in tokens, including the answer. Required here or in `configure`. */
  contextWindow?: number | undefined;
};

/** Options of {@link LoomTree.assembleDialogue} and {@link LoomTree.summarizeDialogue}. */
export interface TreeDialogueOptions extends TreeOptions<DialogueRequest> {}

/** Options of {@link LoomTree.assembleBuffer}. */
export interface TreeBufferOptions extends TreeOptions<BufferRequest> {}

/**
 * Options of {@link LoomTree.preview} and {@link LoomTree.compare}. The prompt is a document for the provider
 * `completion` and a dialogue for others; without a provider it depends on the tree's `mode`.
 */
export interface TreePromptOptions extends TreeOptions<DialogueRequest & BufferRequest> {}

/** Options of {@link LoomTree.requestBody}. */
export interface TreeBodyOptions extends TreeOptions<BufferRequest> {
  /** The target of the body. */
  target?: Target | undefined;
}

/**
 * Nodes and edges to add or, if their ids exist, to replace. Edges may refer to nodes of the same call. Other fields of
 * a continuation are ignored.
 */
export interface TreeChange {
  nodes?: WithUnknownFields<LoomNode>[] | undefined;
  edges?: WithUnknownFields<LoomEdge>[] | undefined;
}

/** Ids to remove. */
export interface TreeRemoval {
  nodes?: string[] | undefined;
  edges?: string[] | undefined;
}

/** Side effects of removed nodes. */
export interface RemovalReport {
  /** Removed edges: those to a removed node, and those that lost all sources. */
  edges: string[];
  /** Edges that lost a source but remain. */
  shortened: string[];
  /** The inverse change; see {@link LoomTree.apply}. */
  inverse: ChangeSet;
}

/** Result of an edit. */
export interface ChangeReport {
  /** Repairs made to the input. */
  diagnostics: Diagnostic[];
  /** The inverse change; see {@link LoomTree.apply}. */
  inverse: ChangeSet;
}

/** A change of a tree as data: removals first, then additions. {@link LoomTree.apply} applies it atomically. */
export interface ChangeSet {
  /** Nodes and edges to add or to replace. */
  upsert?: TreeChange | undefined;
  /** Ids to remove; missing ones are ignored. Removing a node removes its edges, as {@link LoomTree.remove} does. */
  remove?: TreeRemoval | undefined;
  /**
   * New positions in the order of nodes and edges: the id to insert before, or null for the end. Others keep their
   * position; new ones come last.
   */
  before?:
    | { nodes?: Record<string, string | null> | undefined; edges?: Record<string, string | null> | undefined }
    | undefined;
  /** Changes to the ends of texts. */
  endings?: TextEnding[] | undefined;
  /** Changed settings. Absent fields are unchanged; null removes one. */
  settings?: ChangedSettings | undefined;
  /**
   * Whether to remove everything that is not in `upsert`, so that the tree has exactly these nodes and edges, in this
   * order.
   */
  replace?: boolean | undefined;
}

/** A change to the end of the text that is the last block of a node, or all of its content. */
export interface TextEnding {
  nodeId: string;
  /** Number of UTF-16 code units to remove from the end. Default 0. */
  cut?: number;
  /** Text to append then. */
  text?: string;
}

/** Settings that belong to the tree, and its other fields. */
export type ChangedSettings = {
  [Key in TreeSetting]?: LoomTreeData[Key] | null;
} & {
  /** All fields of the tree unknown to ctxweave, such as `id` and custom ones. */
  fields?: Record<string, JsonValue> | null | undefined;
};

type TreeSetting = "title" | "mode" | "systemContext" | "bufferModeSystemContext" | "bufferPrefix" | "preferences";

/** The changes since a revision: a {@link ChangeSet} that turns the old tree into the current one. */
export interface ChangesSince extends ChangeSet {
  /** The current revision; pass it next time. */
  revision: number;
  upsert: { nodes: LoomNode[]; edges: LoomEdge[] };
  remove: { nodes: string[]; edges: string[] };
}

/** Input of {@link LoomTree.preview}: a change, other options, or both. */
export interface TreePreview extends ChangeSet {
  /** Options of the second prompt, merged over those of the first. */
  options?: TreePromptOptions | undefined;
}

/** Comparison of two prompts. */
export interface PromptComparison {
  /** Tokens of the first prompt. */
  before: TokenTotals;
  /** Tokens of the second prompt. */
  after: TokenTotals;
  /** `after` minus `before`. */
  difference: { system: number; messages: number; overhead: number; total: number };
  /** Nodes that are only in the second prompt, or that differ in it, in its order. */
  added: PromptNode[];
  /** Nodes that are only in the first prompt, or that differ in it, in its order. */
  removed: PromptNode[];
  /** The cut of the first prompt. */
  cutBefore?: CutSummary;
  /** The cut of the second prompt. */
  cutAfter?: CutSummary;
  /** Whether the cut begins or ends at another node, or exists in only one of them. */
  cutMoved: boolean;
  /** Tokens of the common prefix, which the provider's prompt cache can reuse. */
  cachedTokens: number;
  /** The last node of the common beginning of both paths; absent without one. */
  partsAfter?: string;
}

/** A node of a prompt. */
export interface PromptNode {
  nodeId: string;
  /** Token cost of its content, counted alone. */
  tokens: number;
}

/** Options of {@link LoomTree.search}. */
export interface SearchOptions {
  /** Ignores case. Default false. */
  ignoreCase?: boolean | undefined;
  /** Ignores accents, Hebrew points and Arabic vowel signs. Default false. */
  ignoreAccents?: boolean | undefined;
  /** The fields to search. Default: all. */
  fields?: SearchField[] | undefined;
  /** Maximum number of matches. */
  limit?: number | undefined;
}

/**
 * Searchable fields of a node: the texts of its content, including tool results and reasoning; `summary`;
 * `metadata.bookmarkLabel`; `authorAgentId`.
 */
export type SearchField = "text" | "summary" | "bookmarkLabel" | "author";

/** A match of the query. */
export interface SearchMatch {
  nodeId: string;
  field: SearchField;
  /** Index of the content block, if there are several. */
  block?: number;
  /** The range in that text, in UTF-16 code units. */
  start: number;
  end: number;
}

/** Settings of a tree, and defaults for the options of its methods. Absent fields are unchanged; null removes one. */
export type TreeSettings = {
  [Key in keyof TreeOwnSettings]?: TreeOwnSettings[Key] | null;
} & {
  [Key in Exclude<keyof TreeBodyOptions, keyof TreeOwnSettings>]?: TreeBodyOptions[Key] | null;
};

/** The tree's part of the settings. */
export interface TreeOwnSettings extends Pick<
  LoomTreeData,
  "title" | "mode" | "systemContext" | "bufferModeSystemContext" | "bufferPrefix"
> {
  /** All preferences of the tree: absent ones return to their defaults. Those of a call override them. */
  preferences?: Preferences | undefined;
  /** Limits for edits and queries. */
  limits?: Limits | undefined;
  /** Media by `ref`, unless a call overrides them. Passed here they cross into the wasm once. */
  media?: Record<string, Media> | undefined;
}

/** A dialogue with a short report. */
export interface DialogueSummary {
  /** The combined system context; absent if empty or part of `messages`. */
  system?: string;
  messages: Message[];
  report: ReportSummary;
  /** With `previous`: the `previous` of the next dialogue in the series. */
  state?: FitState;
}

/** A report without its lists of nodes. */
export interface ReportSummary extends Omit<AssemblyReport, "cut" | "path" | "nodes" | "notOnPath" | "localIds"> {
  /** The removed and shortened nodes; absent if the whole path is kept. */
  cut?: CutSummary;
  /** Number of nodes on the path, before exclusion. */
  pathLength: number;
}

/** Numbers of removed and shortened nodes. */
export interface CutSummary {
  /** Number of removed nodes. */
  nodes: number;
  /** Number of shortened nodes. */
  partialNodes: number;
  /** Tokens removed, each node counted alone. */
  tokens: number;
  /** Number of nodes of the conversation before the cut. */
  position: number;
  /** The marker in the gap, unless disabled. */
  marker?: string;
}

/** A body with a short report. */
export interface SummarizedBody {
  /** JSON in UTF-8. */
  body: Uint8Array<ArrayBuffer>;
  report: ReportSummary;
  /** With `previous`: the `previous` of the next dialogue in the series. */
  state?: FitState;
}

/** Cost of a whole path as a dialogue, before any cut. */
export interface PathMeasure {
  /** `contextWindow − tokenBuffer`. */
  limit: number;
  /** Cost of the request if the whole path were sent. */
  tokens: TokenTotals;
  /** Tokens below the limit; negative if the path is over it. */
  remaining: number;
  /** Number of nodes of the conversation: on the path or a source, and not excluded by a rule. */
  nodes: number;
  /** Number of nodes on the path, before exclusion. */
  pathLength: number;
}

/** The id of a node, or several ids. */
export type NodeIds = string | readonly string[];

/** One result for an id, or a list of results for a list of ids. */
export type EachOf<Ids extends NodeIds, Said> = Ids extends string ? Said : Said[];

/** A node reached from another one, with marks for nodes that contexts leave out. */
export interface TreeRelative {
  /** The node. */
  id: string;
  /** The edge that leads to it; absent for a node without incoming edges. */
  edge?: string;
  /** The edge is an annotation: contexts leave the annotation out unless it is requested. */
  annotation?: true;
  /** The node is excluded. */
  excluded?: true;
  /** The node is pruned. */
  pruned?: true;
}

/** Size of a tree. */
export interface TreeSize {
  nodes: number;
  edges: number;
  /** Bytes of text in its nodes, as UTF-8. */
  textBytes: number;
  /** Texts with cached counts, over all trees. */
  texts: number;
  /** Cached counts, over all trees. */
  counts: number;
}
