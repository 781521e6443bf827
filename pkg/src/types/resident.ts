import type { Target } from "./bodies.js";
import type { Diagnostic, FitState, JsonValue, Limits } from "./common.js";
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

/**
 * What is asked of a {@link LoomTree}: a request without its tree. What was given to `configure` need not be given again.
 */
export type TreeOptions<Request extends AssemblyRequest = AssemblyRequest> = Omit<Request, "tree" | "contextWindow"> & {
  /** Tokens that the model can take in, its answer included. Required, here or in `configure`. */
  contextWindow?: number;
};

/** Options of {@link LoomTree.assembleDialogue} and {@link LoomTree.summarizeDialogue}. */
export interface TreeDialogueOptions extends TreeOptions<DialogueRequest> {}

/** Options of {@link LoomTree.assembleBuffer}. */
export interface TreeBufferOptions extends TreeOptions<BufferRequest> {}

/**
 * Options of {@link LoomTree.preview} and {@link LoomTree.compare}. The prompt is a document for the provider `completion`, and a
 * dialogue for the others; without a provider the tree's `mode` says which.
 */
export interface TreePromptOptions extends TreeOptions<DialogueRequest & BufferRequest> {}

/** Options of {@link LoomTree.requestBody}. */
export interface TreeBodyOptions extends TreeOptions<BufferRequest> {
  /** Whom the body is for. */
  target?: Target;
}

/**
 * Nodes and edges to add, or to put in the place of those with their ids. Edges may name nodes of the same call. What else a
 * continuation has means nothing here.
 */
export interface TreeChange {
  nodes?: LoomNode[];
  edges?: LoomEdge[];
}

/** Ids of what is to go. */
export interface TreeRemoval {
  nodes?: string[];
  edges?: string[];
}

/** What went with the nodes that were removed. */
export interface RemovalReport {
  /** Edges that led to a removed node, or that lost every node they could come from. */
  edges: string[];
  /** Edges that lost a source and stay. */
  shortened: string[];
  /** What takes it back: see {@link LoomTree.apply}. */
  inverse: ChangeSet;
}

/** What an edit did next to what it was asked for. */
export interface ChangeReport {
  /** What had to be repaired in what came. */
  diagnostics: Diagnostic[];
  /** What takes it back: see {@link LoomTree.apply}. */
  inverse: ChangeSet;
}

/**
 * A change of a tree as data: first what is to go goes, then what is to come is put. {@link LoomTree.apply} makes it, whole or not
 * at all.
 */
export interface ChangeSet {
  /** Nodes and edges to add, or to put in the place of those with their ids. */
  upsert?: TreeChange;
  /** Ids of what goes; what is not there is gone already. With a node go its edges, as {@link LoomTree.remove} says. */
  remove?: TreeRemoval;
  /**
   * Where what is put stands in the order of nodes and of edges: before which id, or at the end for null. What is not named stays
   * where it is; what is new comes last.
   */
  before?: { nodes?: Record<string, string | null>; edges?: Record<string, string | null> };
  /** Other endings of texts. */
  endings?: TextEnding[];
  /** What the tree then says about itself. What is absent stays as it is; null takes it away. */
  settings?: ChangedSettings;
  /** Whether everything goes that is not put, so that the tree has these nodes and edges alone, in this order. */
  replace?: boolean;
}

/** Another ending of the text that is the last block of a node, or all of its content. */
export interface TextEnding {
  nodeId: string;
  /** How many UTF-16 code units go from its end; none where absent. */
  cut?: number;
  /** What then comes there. */
  text?: string;
}

/** Settings that are part of the tree, and what it has besides. */
export type ChangedSettings = {
  [Key in TreeSetting]?: LoomTreeData[Key] | null;
} & {
  /** All fields of the tree that ctxweave does not know, as `id` and your own. */
  fields?: Record<string, JsonValue> | null;
};

type TreeSetting = "title" | "mode" | "systemContext" | "bufferModeSystemContext" | "bufferPrefix" | "preferences";

/** What changed since a revision: a {@link ChangeSet} that makes the tree as it is of the tree as it was. */
export interface ChangesSince extends ChangeSet {
  /** The revision that the tree is at; for the next time. */
  revision: number;
  upsert: { nodes: LoomNode[]; edges: LoomEdge[] };
  remove: { nodes: string[]; edges: string[] };
}

/** What is tried by {@link LoomTree.preview}: a change, other options, or both. */
export interface TreePreview extends ChangeSet {
  /** Options of the second prompt, over those of the first. */
  options?: TreePromptOptions;
}

/** Two prompts next to each other. */
export interface PromptComparison {
  /** Tokens of the first. */
  before: TokenTotals;
  /** Tokens of the second. */
  after: TokenTotals;
  /** What the second has more. */
  difference: { system: number; messages: number; overhead: number; total: number };
  /** Nodes that only the second has, or that say something else in it, in its order. */
  added: PromptNode[];
  /** Nodes that only the first has, or that say something else in it, in its order. */
  removed: PromptNode[];
  /** What is cut from the first. */
  cutBefore?: CutSummary;
  /** What is cut from the second. */
  cutAfter?: CutSummary;
  /** Whether the cut begins or ends at another node, or there is one in only one of them. */
  cutMoved: boolean;
  /** Tokens at the beginning that are the same in both, so that the provider's prompt cache knows them again. */
  cachedTokens: number;
  /** The last node that both paths share from their beginning; absent where they share none. */
  partsAfter?: string;
}

/** A node of a prompt. */
export interface PromptNode {
  nodeId: string;
  /** Tokens of its content, counted alone. */
  tokens: number;
}

/** Options of {@link LoomTree.search}. */
export interface SearchOptions {
  /** Small and capital letters are the same. Default false. */
  ignoreCase?: boolean;
  /** Letters are the same with and without accents, Hebrew with and without points, Arabic with and without vowels. Default false. */
  ignoreAccents?: boolean;
  /** Where to look. Default: everywhere. */
  fields?: SearchField[];
  /** How many matches at most. */
  limit?: number;
}

/**
 * What of a node is searched: the texts of its content, results of tools and reasoning among them; `summary`;
 * `metadata.bookmarkLabel`; `authorAgentId`.
 */
export type SearchField = "text" | "summary" | "bookmarkLabel" | "author";

/** A place where the query stands. */
export interface SearchMatch {
  nodeId: string;
  field: SearchField;
  /** Which block of the content, where it has several. */
  block?: number;
  /** The range in that text, in UTF-16 code units. */
  start: number;
  end: number;
}

/**
 * Settings of a tree, and defaults for the options of its methods. What is absent stays as it is; null takes it away.
 */
export type TreeSettings = {
  [Key in keyof TreeOwnSettings]?: TreeOwnSettings[Key] | null;
} & {
  [Key in Exclude<keyof TreeBodyOptions, keyof TreeOwnSettings>]?: TreeBodyOptions[Key] | null;
};

/** What a tree says about itself. */
export interface TreeOwnSettings extends Pick<
  LoomTreeData,
  "title" | "mode" | "systemContext" | "bufferModeSystemContext" | "bufferPrefix"
> {
  /** The tree's own preferences, all of them: what is absent is the default again. Those of a call come before them. */
  preferences?: Preferences;
  /** Bounds on edits, and on what is asked. */
  limits?: Limits;
  /** What each `ref` stands for, where a call does not say. Given here it crosses into the wasm once. */
  media?: Record<string, Media>;
}

/** A dialogue with the short account of it. */
export interface DialogueSummary {
  /** The combined system context; absent when empty, and when it stands in `messages`. */
  system?: string;
  messages: Message[];
  report: ReportSummary;
  /** With `previous`: what the next dialogue of the series is given as `previous`. */
  state?: FitState;
}

/** A report without its lists of nodes. */
export interface ReportSummary extends Omit<AssemblyReport, "cut" | "path" | "nodes" | "notOnPath" | "localIds"> {
  /** The removed and shortened nodes; absent if the whole path is sent. */
  cut?: CutSummary;
  /** How many nodes the path has, before exclusion. */
  pathLength: number;
}

/** The removed run and the shortened nodes, in numbers. */
export interface CutSummary {
  /** How many nodes nothing is left of. */
  nodes: number;
  /** How many nodes a part is left of. */
  partialNodes: number;
  /** Tokens removed, each node counted alone. */
  tokens: number;
  /** How many nodes of the conversation come before the cut. */
  position: number;
  /** The marker in the gap, if it has one. */
  marker?: string;
}

/** A body with the short account of it. */
export interface SummarizedBody {
  /** JSON in UTF-8. */
  body: Uint8Array<ArrayBuffer>;
  report: ReportSummary;
  /** With `previous`: what the next dialogue of the series is given as `previous`. */
  state?: FitState;
}

/** What a whole path costs as a dialogue, before anything is cut. */
export interface PathMeasure {
  /** `contextWindow − tokenBuffer`. */
  limit: number;
  /** What the request would cost if all of the path were sent. */
  tokens: TokenTotals;
  /** Tokens that are still free; negative by as much as the path is over the limit. */
  remaining: number;
  /** Nodes of the conversation: those of the path and its sources that no rule leaves out. */
  nodes: number;
  /** How many nodes the path has, before exclusion. */
  pathLength: number;
}

/** The id of a node, or several of them in one call. */
export type NodeIds = string | readonly string[];

/** What is said of one node, or for a list of ids a list of what is said of each. */
export type EachOf<Ids extends NodeIds, Said> = Ids extends string ? Said : Said[];

/** A node as it is come to from another. What contexts leave out says so. */
export interface TreeRelative {
  /** The node. */
  id: string;
  /** The edge that it was come to by; absent for a node that no edge leads to. */
  edge?: string;
  /** That is an annotation edge: one of the two is a remark about the other, which contexts leave out unless it is asked for. */
  annotation?: true;
  /** The node is excluded. */
  excluded?: true;
  /** The node is pruned. */
  pruned?: true;
}

/** How large a tree is. */
export interface TreeSize {
  nodes: number;
  edges: number;
  /** Bytes of text in its nodes, as UTF-8. */
  textBytes: number;
  /** Texts of which something may be remembered, in all trees together. */
  texts: number;
  /** Counts that are remembered, in all trees together. */
  counts: number;
}
