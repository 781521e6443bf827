import type { Target } from "./bodies.js";
import type { Diagnostic, Limits } from "./common.js";
import type {
  AssemblyReport,
  AssemblyRequest,
  BufferRequest,
  CacheReport,
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

/** Options of {@link LoomTree.requestBody}. */
export interface TreeBodyOptions extends TreeOptions<BufferRequest> {
  /** Whom the body is for. */
  target?: Target;
}

/** Nodes and edges to add, or to put in the place of those with their ids. Edges may name nodes of the same call. */
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
}

/** What an edit did beside what it was asked for. */
export interface ChangeReport {
  /** What had to be repaired in what came. */
  diagnostics: Diagnostic[];
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
  "title" | "mode" | "systemContext" | "bufferModeSystemContext"
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
}

/** A report without its lists of nodes. */
export interface ReportSummary extends Omit<AssemblyReport, "cut" | "path" | "nodes" | "notOnPath" | "localIds"> {
  /** What was cut; absent when nothing was. */
  cut?: CutSummary;
  cache?: CacheReport;
  /** How many nodes the path has, before exclusion. */
  pathLength: number;
}

/** The removed run, in numbers. */
export interface CutSummary {
  /** How many nodes nothing is left of. */
  nodes: number;
  /** How many nodes a part is left of. */
  partialNodes: number;
  /** Tokens removed, each node counted alone. */
  tokens: number;
  /** How many nodes of the conversation come before the cut. */
  position: number;
  /** The marker that stands in the gap; absent where there is none. */
  marker?: string;
}

/** A body with the short account of it. */
export interface SummarizedBody {
  /** JSON in UTF-8. */
  body: Uint8Array<ArrayBuffer>;
  report: ReportSummary;
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
