import type { Target } from "./bodies.js";
import type { Diagnostic, FitPrefix, FitState, JsonValue, Limits, OwnTokenizer, Tokenizer } from "./common.js";

export type { FitPrefix, FitState } from "./common.js";

// ---------------------------------------------------------------------------------------------------------------------
// The tree
// ---------------------------------------------------------------------------------------------------------------------

/** A tree of writing or of conversation: nodes, and the edges that lead from one to the next. Unknown fields are ignored. */
export interface LoomTreeData {
  id?: string;
  title?: string;
  mode?: "dialogue" | "buffer";
  rootNodeId?: string;
  /** Applies to every interaction within this tree; comes after the agent's system prompt. */
  systemContext?: string;
  /** Whether a buffer assembly includes the system context. Default false. */
  bufferModeSystemContext?: boolean;
  /** Stands at the beginning of a document, before the text of the path: as it is, counted, and never cut. */
  bufferPrefix?: string;
  /** The tree's own settings; see {@link Preferences}. */
  preferences?: Preferences;
  nodes: LoomNode[];
  edges: LoomEdge[];
}

/** One piece of writing by a human or a model. */
export interface LoomNode {
  /** Unique in the tree. */
  id: string;
  /** What a loom-aware agent calls it; unique in the tree. Without it a prefix of the id. */
  localId?: string;
  content: NodeContent;
  authorType: "human" | "model";
  authorAgentId?: string;
  /** RFC 3339. Decides between two edits of one node when nothing else does, and gives the age in headers. */
  createdAt?: string | number | Date;
  /** The id of the node that this one is an edit of. */
  editedFrom?: string;
  summary?: string;
  metadata?: NodeMetadata;
}

/** What the front end notes about a node. */
export interface NodeMetadata {
  /** Left out of every context. */
  excluded?: boolean;
  /** Deleted, softly: left out of every context. */
  pruned?: boolean;
  bookmarked?: boolean;
  bookmarkLabel?: string;
}

/** What a node says: plain text, or one block. */
export type NodeContent = string | ContentBlock;

/** One block of content. `mixed` holds several. */
export type ContentBlock =
  TextBlock | ImageBlock | AudioBlock | MixedBlock | ToolCallBlock | ToolResultBlock | ReasoningBlock | VendorBlock;

export interface TextBlock {
  type: "text";
  text: string;
}

export interface ImageBlock {
  type: "image";
  /** Key into the request's `media`. */
  ref: string;
  mimeType: string;
  /** Pixels. */
  width?: number;
  /** Pixels. */
  height?: number;
  altText?: string;
}

export interface AudioBlock {
  type: "audio";
  /** Key into the request's `media`. */
  ref: string;
  mimeType: string;
  /** Milliseconds. */
  durationMs?: number;
  transcriptRef?: string;
}

export interface MixedBlock {
  type: "mixed";
  blocks: NodeContent[];
}

/** A call that the model made. */
export interface ToolCallBlock {
  type: "toolCall";
  /** Pairs the call with its result. */
  id: string;
  name: string;
  /** Any JSON value; a string is taken to be the JSON text of the arguments, as some providers give it. */
  arguments: JsonValue;
}

/** What a tool answered. */
export interface ToolResultBlock {
  type: "toolResult";
  toolCallId: string;
  content: NodeContent;
  isError?: boolean;
}

/** What the model thought before it answered or called. */
export interface ReasoningBlock {
  type: "reasoning";
  text: string;
  /**
   * The signature of the provider, handed back to it unchanged and sent to no other. As JSON text of the provider's block it names its
   * vendor (`{"type":"thinking","signature":"…"}`), and so it comes from `continuation`, transcripts and chats. A bare signature goes to
   * the vendor whose shape it has, or to any if it has none.
   */
  signature?: string;
}

/**
 * A block that only its vendor knows: a content block of Anthropic's, an item of OpenAI's Responses, a part of Gemini's contents or a step
 * of its Interactions, such as a compaction. It goes back to that vendor as it is. Another provider gets the summary of a compaction as a text, and nothing of other
 * blocks (`not_expressible`).
 */
export interface VendorBlock {
  type: "vendor";
  vendor: "anthropic" | "openai" | "google";
  /** The block as its vendor wrote it. */
  value: Record<string, JsonValue>;
}

/** Leads from its sources to the node that follows them. */
export interface LoomEdge {
  /** Unique in the tree. */
  id: string;
  sources: EdgeSource[];
  targetNodeId: string;
  /** Default `continuation`. */
  edgeType?: "continuation" | "annotation";
}

/** One node that an edge starts from. */
export interface EdgeSource {
  nodeId: string;
  /**
   * `primary` (the default): the predecessor. `context`: reference material, placed before the primary.
   * `instruction`: appended to the system context. Several primaries are versions of one node.
   */
  role?: "primary" | "context" | "instruction";
}

// ---------------------------------------------------------------------------------------------------------------------
// The request
// ---------------------------------------------------------------------------------------------------------------------

/** What happens when the context is over the limit. */
export type TruncationStrategy = "truncateMiddle" | "rollingWindow" | "stopAtLimit";

/** Settings, resolved field by field: the request's over the tree's over the app's over the defaults. */
export interface Preferences {
  /** Default `truncateMiddle`. */
  truncationStrategy?: TruncationStrategy;
  /** Nodes at the end that `truncateMiddle` protects. Default 4. */
  minimumRecentNodes?: number;
  /** Tokens kept free for the answer. Default 1024. */
  tokenBuffer?: number;
  /**
   * Stands where something was removed; `{count}` becomes the number of nodes left out.
   * Default `[… {count} earlier nodes omitted …]`, for one `1 earlier node`; for a document and inside a text, `\n\n[…]\n\n`.
   */
  truncationMarker?: string;
  /** Tokens; what is removed is rounded up to the next multiple, so that the cut stays put over many turns. Default 0. */
  cutStep?: number;
  /**
   * Messages that are shortened rather than removed. Default: both for `truncateMiddle`, none for `rollingWindow`. `[]` disables it.
   * Dialogues only.
   */
  protect?: readonly ("firstUser" | "lastUser")[];
  /**
   * What may be shortened at the edges of the gap, to use the rest of the limit: `all` (the default) shortens results of tools, then
   * texts; `results` only results; `off` nothing. With a `cutStep` nothing is filled. Dialogues only.
   */
  fill?: "all" | "results" | "off";
  /** `user`: a rolling window never begins with an assistant message. Default `any`. */
  startOn?: "any" | "user";
}

/** A provider by name, or what matters of it. Any string has the type; a name that is not known is an error. */
export type Provider =
  | "anthropic"
  | "openai"
  | "openai-responses"
  | "gemini"
  | "gemini-interactions"
  | "completion"
  | (string & {})
  | { nativeSystemPrompt: boolean };

/** What one agent brings to every request. */
export interface Agent {
  id?: string;
  name?: string;
  configuration?: { systemPrompt?: string };
  /** What it may do, for the loom block; `loomAware.permissions` outranks it. */
  permissions?: Record<string, boolean> | string[];
}

/** The bytes after a `ref`, as base64, or the address where the provider finds them. */
export type Media = { data: string } | { url: string };

/** Tokens that a provider adds around what is said. */
export interface Overhead {
  /** Default 4. */
  perMessage?: number;
  /** Default 3. */
  perRequest?: number;
}

/** What media costs. */
export interface MediaCosts {
  /** Tokens of one image, whatever its size. Without it the provider's rule holds, and 4,784 if the provider has none. */
  image?: number;
  /** Tokens of one second of audio. Default 32. */
  audioSecond?: number;
}

/**
 * What a loom-aware agent is told next to the conversation: an addendum to the system prompt, an operational memory before
 * the conversation, a header on each message, and a loom block at the end. All of it counts against the budget, and none of
 * it is truncated.
 */
export interface LoomAware {
  /**
   * What ages are counted up to: RFC 3339, or milliseconds as `Date.now()` gives them. Without it there are no ages, and a
   * conversation's beginning stays the same from turn to turn.
   */
  now?: string | number | Date;
  /** What is added to the system prompt: a description of the parts (`true`, the default), nothing, or a text of your own. */
  addendum?: boolean | string;
  /** `[localId] author · age · connections` before the words of each node. Default true. */
  headers?: boolean;
  /** Which tree this is, where in it the path ends, and what the agent may do. Default true. */
  loomBlock?: boolean;
  /** What is always in view, in this order. */
  pinned?: Pinned[];
  /** What was called back from storage. */
  stashes?: Stash[];
  /** What was done lately, oldest first; a line for each. */
  trace?: string[];
  /** What the agent may do; without it, what the agent's own `permissions` say. */
  permissions?: string[];
  /** Names of agents by their ids, for nodes with an `authorAgentId`. */
  authors?: Record<string, string>;
}

/** A node of the tree, on the path or not, or a text from elsewhere. */
export type Pinned = { nodeId: string } | { label?: string; text: string };

/** Something called back from storage. */
export interface Stash {
  label: string;
  text: string;
}

/** What both kinds of assembly take. */
export interface AssemblyRequest {
  tree: LoomTreeData;
  /** Walk back from this node. Give this or `path`. */
  tip?: string;
  /** The node ids themselves, oldest first. Give this or `tip`. */
  path?: string[];
  /** For a node with several incoming continuation edges: node id → edge id, or id of the predecessor. */
  choices?: Record<string, string>;
  /** Any version of a node → the version to use. Without it the latest edit is used. */
  versionSelections?: Record<string, string>;
  /** Annotations to include, each after the node it is about, in its author's role. */
  includeAnnotations?: string[] | "all";
  /** Sources of the edge that is about to be created from the tip. */
  pendingSources?: EdgeSource[];
  /** Whose instructions count: only the tip's and the pending ones (the default), or those of every edge on the path. */
  instructionScope?: "path" | "generation";
  agent?: Agent;
  /** Tokens that the model can take in, its answer included. */
  contextWindow: number;
  /** The request's own settings. */
  preferences?: Preferences;
  /** The application's settings, below the tree's. */
  appPreferences?: Preferences;
  /** Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer;
  provider?: Provider;
  /** Whom the prompt is for. Where `provider` is missing it is the target's; a report says what the body for it would leave out. */
  target?: Target;
  /** Role of a system message, where the system context is a message. Default `system`. */
  systemRole?: "system" | "developer";
  /** What each `ref` in the tree stands for. */
  media?: Record<string, Media>;
  overhead?: Overhead;
  mediaCosts?: MediaCosts;
  /**
   * The `state` of the dialogue that this one continues, or `null` for the first. What was done for it is done again, so that the result
   * begins with the last one, until the limit is exceeded. Dialogues only.
   */
  previous?: FitState | null;
  /**
   * The part of the limit that is left used when a dialogue in a series exceeds it: above 0, at most 1. Default 0.75 with `previous`; a
   * single assembly uses the whole limit.
   */
  cutTo?: number;
  /**
   * What happens to signed thinking after a cut. Anthropic's models from 5.1 on bind its signature to every message before it. `strip`
   * (default) removes it, `dropBlock` tells the provider to drop what does not hold, `keep` leaves it. Dialogues only.
   */
  preservedThinking?: "strip" | "dropBlock" | "keep";
  /** For an agent that shall know where in the tree it is. Dialogues only; `true` is all defaults. */
  loomAware?: boolean | LoomAware;
  limits?: Limits;
}

/** Input of {@link assembleDialogue}. */
export interface DialogueRequest extends AssemblyRequest {}

/** Input of {@link assembleBuffer}. */
export interface BufferRequest extends AssemblyRequest {
  /** Stands before the text of the path, in place of the tree's `bufferPrefix`; an empty one takes that away. */
  bufferPrefix?: string;
  /** Text that is not yet a node; stands at the end of the document. */
  workingBuffer?: string;
}

// ---------------------------------------------------------------------------------------------------------------------
// The result
// ---------------------------------------------------------------------------------------------------------------------

/** One message of a dialogue. */
export interface Message {
  role: "system" | "developer" | "user" | "assistant";
  /** A string whenever it is text only. */
  content: string | Part[];
  /** The nodes it holds, in order; empty where it is none of theirs: a system message, a truncation marker, a loom-aware block. */
  nodeIds: string[];
  /** Where each of its nodes stands in the content, in order and without its header. Frozen where a `LoomTree` gives it. */
  spans: readonly MessageSpan[];
}

/**
 * Where a node stands in the content of its message, in UTF-16 code units. What no span covers is a separator, the truncation
 * marker, a header or a block of a loom-aware agent.
 */
export interface MessageSpan {
  readonly nodeId: string;
  /**
   * Index of the part, where the content is a list of parts. The offsets are then into the text of that part; both are 0 where
   * it is neither text nor reasoning: such a part is its node's as a whole.
   */
  readonly part?: number;
  readonly start: number;
  readonly end: number;
}

/** One part of a message. */
export type Part = TextBlock | ImagePart | AudioPart | ToolCallBlock | ToolResultPart | ReasoningBlock | VendorBlock;

/** An image with what its `ref` stands for. */
export type ImagePart = ImageBlock & Media;

/** A recording with what its `ref` stands for. */
export type AudioPart = AudioBlock & Media;

/** What a tool answered: text, or text and media. */
export interface ToolResultPart {
  type: "toolResult";
  toolCallId: string;
  content: string | (TextBlock | ImagePart | AudioPart)[];
  isError?: boolean;
}

/** A dialogue ready to be sent. */
export interface DialogueAssembly {
  /** The combined system context; absent when empty, and when it stands in `messages`. */
  system?: string;
  messages: Message[];
  report: AssemblyReport;
  /** With `previous`: what the next dialogue of the series is given as `previous`. */
  state?: FitState;
}

/** A document ready to be sent. */
export interface BufferAssembly {
  /** The combined system context; absent unless the tree asks for it. */
  system?: string;
  document: string;
  /** Where each node stands in the document, in order. A node cut in its middle has two spans, one cut whole has none. */
  spans: NodeSpan[];
  /** Where the working buffer stands; absent without one. */
  workingBufferSpan?: Span;
  report: AssemblyReport;
}

/** From `start` up to, not including, `end`, in UTF-16 code units. */
export interface Span {
  start: number;
  end: number;
}

/** The span of one node. */
export interface NodeSpan extends Span {
  nodeId: string;
}

/** What was done, and why. */
export interface AssemblyReport {
  strategy: TruncationStrategy;
  /** `contextWindow − tokenBuffer`. */
  limit: number;
  tokens: TokenTotals;
  /** Whether anything was removed or shortened. */
  truncated: boolean;
  /** The removed and shortened nodes; absent if the whole path is sent. */
  cut?: Cut;
  /** With `previous`: how much of the dialogue equals the last one. */
  prefix?: FitPrefix;
  /** Whether the protected recent nodes are all there. */
  minimumRecentNodesMet: boolean;
  /** The ids of the path, oldest first, before exclusion. */
  path: string[];
  /** One row for each node on the path, its sources, annotations and other versions. */
  nodes: NodeReport[];
  /** Nodes of the tree that have nothing to do with the path. With `nodes.length` that is every node of the tree. */
  notOnPath: number;
  /** Loom-aware: what each node of `nodes` is called, so that what the model says about one can be told. */
  localIds?: LocalId[];
  /** The settings in force. */
  preferences: Required<Omit<Preferences, "truncationMarker">> & { truncationMarker: string };
  diagnostics: Diagnostic[];
  /** Fields that the body of the request needs; `requestBody` has them in it. */
  body?: { [field: string]: JsonValue };
  /** Headers that the request needs, such as those of a vendor's beta. */
  headers?: { [name: string]: string };
}

/** Token totals by part. `total` never exceeds the limit, and an independent recount gives the same. */
export interface TokenTotals {
  /** The system context, as a field or as a message. */
  system: number;
  /** The content of all other messages, or the document. */
  messages: number;
  /** Per-message and per-request overhead. */
  overhead: number;
  /** The sum of the three. */
  total: number;
  /** Name of the tokenizer. */
  tokenizer: string;
  /** By how many percent the counts may be off: with the estimate for a family without a public tokenizer. */
  tokenizerError?: number;
  /** Loom-aware: what was added for it, which `system` and `messages` contain. */
  loomAware?: LoomAwareTokens;
}

/** Tokens of what a loom-aware agent is told, each text counted alone. */
export interface LoomAwareTokens {
  addendum: number;
  /** The operational memory block. */
  memory: number;
  /** The headers of the nodes that were kept. */
  headers: number;
  loomBlock: number;
}

/** What a node is called. */
export interface LocalId {
  localId: string;
  nodeId: string;
}

/** The removed run, and the nodes that were shortened. */
export interface Cut {
  /** The nodes of which nothing is left (fate `cut`), oldest first. */
  nodeIds: string[];
  /** The nodes of which a part is left (fate `changed`). */
  partialNodeIds: string[];
  /** Tokens removed, each node counted alone. */
  tokens: number;
  /** How many nodes of the conversation come before the cut. */
  position: number;
  /** The marker in the gap, if it has one. */
  marker?: string;
}

/** What became of one node. */
export interface NodeReport {
  nodeId: string;
  /** What the node is to the path. */
  as: "path" | "context" | "instruction" | "annotation" | "version" | "pinned";
  /**
   * `kept`: all of it is in the result. `changed`: it is in the result, shortened. `cut`: truncation removed it. `excluded`: a rule
   * left it out. `skipped`: it was not asked for.
   */
  fate: "kept" | "changed" | "cut" | "excluded" | "skipped";
  /** Why it is not there, or not whole. */
  reason?: NodeReason;
  /** Tokens of its content, counted alone; for a `changed` node, before the change. */
  tokens: number;
  /** Tokens of what is sent of it, counted alone, if it is `changed`. */
  tokensAfter?: number;
  /** Index into `messages` of the message that holds it. */
  message?: number;
  /** Loom-aware: its text stands in the operational memory, too. */
  pinned?: true;
}

/** Why a node is not in the result, or not whole. */
export type NodeReason =
  /** `metadata.excluded` */
  | "excluded"
  /** `metadata.pruned` */
  | "pruned"
  /** reached through an annotation edge and not included */
  | "annotation"
  /** nothing but white space */
  | "blank"
  /** a tool call without its result, or the reverse */
  | "toolPairBroken"
  /** another version of this node is on the path */
  | "otherVersion"
  /** an instruction of an earlier generation */
  | "instructionScope"
  /** nothing but media, in a document */
  | "nonText"
  /** the system context is left out of documents */
  | "systemContextOff"
  /** removed whole to stay under the limit */
  | "overLimit"
  /** shortened to stay under the limit */
  | "shortened"
  /** removed over the limit, because a compaction replaces it */
  | "compacted";
