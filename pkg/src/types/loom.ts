import type { Target } from "./bodies.js";
import type {
  Diagnostic,
  FitPrefix,
  FitState,
  JsonValue,
  Limits,
  OwnTokenizer,
  Tokenizer,
  WithUnknownFields,
} from "./common.js";

export type { FitPrefix, FitState } from "./common.js";

// ---------------------------------------------------------------------------------------------------------------------
// The tree
// ---------------------------------------------------------------------------------------------------------------------

/** A tree of texts or messages: nodes, and the edges between them. Unknown fields are ignored. */
export interface LoomTreeData {
  id?: string | undefined;
  title?: string | undefined;
  mode?: "dialogue" | "buffer" | undefined;
  rootNodeId?: string | undefined;
  /** System context for every request on this tree; follows the agent's system prompt. */
  systemContext?: string | undefined;
  /** Whether a buffer assembly includes the system context. Default false. */
  bufferModeSystemContext?: boolean | undefined;
  /** Text at the beginning of a document, before the text of the path: unchanged, counted, and never cut. */
  bufferPrefix?: string | undefined;
  /** Preferences of the tree; see {@link Preferences}. */
  preferences?: Preferences | undefined;
  nodes: WithUnknownFields<LoomNode>[];
  edges: WithUnknownFields<LoomEdge>[];
}

/** A text written by a human or a model. */
export interface LoomNode {
  /** Unique in the tree. */
  id: string;
  /** Name of the node for a loom-aware agent, unique in the tree. Defaults to a prefix of the id. */
  localId?: string | undefined;
  content: NodeContent;
  authorType: "human" | "model";
  authorAgentId?: string | undefined;
  /** RFC 3339. Breaks ties between edits of one node, and gives the age in headers. */
  createdAt?: string | number | Date | undefined;
  /** The node that this one is an edit of. */
  editedFrom?: string | undefined;
  summary?: string | undefined;
  metadata?: WithUnknownFields<NodeMetadata> | undefined;
}

/** The front end's marks on a node. */
export interface NodeMetadata {
  /** Leaves the node out of every context. */
  excluded?: boolean | undefined;
  /** Soft deletion: leaves the node out of every context. */
  pruned?: boolean | undefined;
  bookmarked?: boolean | undefined;
  bookmarkLabel?: string | undefined;
}

/** Content of a node: plain text, or one block. */
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
  width?: number | undefined;
  /** Pixels. */
  height?: number | undefined;
  altText?: string | undefined;
}

export interface AudioBlock {
  type: "audio";
  /** Key into the request's `media`. */
  ref: string;
  mimeType: string;
  /** Milliseconds. */
  durationMs?: number | undefined;
  transcriptRef?: string | undefined;
}

export interface MixedBlock {
  type: "mixed";
  blocks: NodeContent[];
}

/** A tool call of the model. */
export interface ToolCallBlock {
  type: "toolCall";
  /** Links the call to its result. */
  id: string;
  name: string;
  /** Any JSON value; a string is read as JSON text of the arguments, as some providers return it. */
  arguments: JsonValue;
}

/** The result of a tool call. */
export interface ToolResultBlock {
  type: "toolResult";
  toolCallId: string;
  content: NodeContent;
  isError?: boolean | undefined;
}

/** Reasoning of the model before it answered or called a tool. */
export interface ReasoningBlock {
  type: "reasoning";
  text: string;
  /**
   * The provider's signature, sent back unchanged, and only to that provider. JSON text of the provider's block names
   * its vendor (`{"type":"thinking","signature":"…"}`); `continuation`, transcripts and chats return this form. A bare
   * signature belongs to the vendor whose format it matches; without a match it is sent to any.
   */
  signature?: string | undefined;
}

/**
 * A block that only its vendor understands, such as a compaction: a content block of Anthropic's, an item of OpenAI's
 * Responses, a part of Gemini's contents or a step of its Interactions. It is sent back to that vendor unchanged. Other
 * providers receive the summary of a compaction as text, and other blocks are left out (`content_left_out`).
 */
export interface VendorBlock {
  type: "vendor";
  vendor: "anthropic" | "openai" | "google";
  /** The block in its vendor's format. */
  value: Record<string, JsonValue>;
}

/** Links its sources to the node that follows them. */
export interface LoomEdge {
  /** Unique in the tree. */
  id: string;
  sources: WithUnknownFields<EdgeSource>[];
  targetNodeId: string;
  /** Default `continuation`. */
  edgeType?: "continuation" | "annotation" | undefined;
}

/** One source of an edge. */
export interface EdgeSource {
  nodeId: string;
  /**
   * `primary` (the default): the predecessor. `context`: reference material, placed before the primary. `instruction`:
   * appended to the system context. Several primaries are versions of one node.
   */
  role?: "primary" | "context" | "instruction" | undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// The request
// ---------------------------------------------------------------------------------------------------------------------

/** What to do if the context is over the limit. */
export type TruncationStrategy = "truncateMiddle" | "rollingWindow" | "stopAtLimit";

/** Settings, resolved field by field: request, then tree, then app, then defaults. See docs/truncation.md. */
export interface Preferences {
  /** Default `truncateMiddle`. */
  truncationStrategy?: TruncationStrategy | undefined;
  /** Number of nodes at the end that `truncateMiddle` protects. Default 4. */
  minimumRecentNodes?: number | undefined;
  /** Tokens reserved for the answer. Default 1024. */
  tokenBuffer?: number | undefined;
  /**
   * Text in the gap; `{count}` becomes the number of removed nodes. Default `[… {count} earlier nodes omitted …]`, for
   * one node `1 earlier node`; in documents and inside texts `\n\n[…]\n\n`.
   */
  truncationMarker?: string | undefined;
  /**
   * Step of the cut in tokens: the amount to remove is rounded up to its next multiple, so that the cut stays in place
   * for many turns. Default 0.
   */
  cutStep?: number | undefined;
  /**
   * Messages that are shortened rather than removed. Default: both for `truncateMiddle`, none for `rollingWindow`. `[]`
   * disables it. Dialogues only.
   */
  protect?: readonly ("firstUser" | "lastUser")[] | undefined;
  /**
   * What may be shortened at the edges of the gap to use the rest of the limit: `all` (the default) shortens tool
   * results, then texts; `results` only results; `off` disables it. With a `cutStep` nothing is filled. Dialogues only.
   */
  fill?: "all" | "results" | "off" | undefined;
  /** `user`: a rolling window never begins with an assistant message. Default `any`. */
  startOn?: "any" | "user" | undefined;
}

/** A provider by name, or the property of it that matters. Accepts any string; an unknown name throws. */
export type Provider =
  | "anthropic"
  | "openai"
  | "openai-responses"
  | "gemini"
  | "gemini-interactions"
  | "completion"
  | (string & {})
  | { nativeSystemPrompt: boolean };

/** The agent's part of every request. */
export interface Agent {
  id?: string | undefined;
  name?: string | undefined;
  configuration?: { systemPrompt?: string | undefined } | undefined;
  /** Its permissions, for the loom block; `loomAware.permissions` overrides them. */
  permissions?: Record<string, boolean> | string[] | undefined;
}

/** The data of a `ref`: base64, or an address that the provider can fetch. */
export type Media = { data: string } | { url: string };

/** Tokens that a provider adds to the content. */
export interface Overhead {
  /** Default 4. */
  perMessage?: number | undefined;
  /** Default 3. */
  perRequest?: number | undefined;
}

/** Prices of media. */
export interface MediaCosts {
  /**
   * Tokens per image, regardless of its size. Defaults to the provider's rule, or to 4,784 if the provider has none.
   */
  image?: number | undefined;
  /** Tokens per second of audio. Default 32. */
  audioSecond?: number | undefined;
}

/**
 * Additions for a loom-aware agent: an addendum to the system prompt, an operational memory before the conversation, a
 * header on each message, and a loom block at the end. They count against the budget and are never truncated. See
 * docs/loom-aware.md.
 */
export interface LoomAware {
  /**
   * Reference time for ages: RFC 3339, or milliseconds as `Date.now()` returns them. Without it headers have no ages,
   * and the beginning of the conversation stays the same from turn to turn.
   */
  now?: string | number | Date | undefined;
  /**
   * The addition to the system prompt: a description of the parts (`true`, the default), none (`false`), or a custom
   * text.
   */
  addendum?: boolean | string | undefined;
  /** `[localId] author · age · connections` before the text of each node. Default true. */
  headers?: boolean | undefined;
  /** The tree, the position of the path's end in it, and the agent's permissions. Default true. */
  loomBlock?: boolean | undefined;
  /** Content that is always shown, in this order. */
  pinned?: Pinned[] | undefined;
  /** Content recalled from storage. */
  stashes?: Stash[] | undefined;
  /** Recent actions, oldest first, one line each. */
  trace?: string[] | undefined;
  /** The agent's permissions. Defaults to the `permissions` of the agent. */
  permissions?: string[] | undefined;
  /** Names of agents by id, for nodes with an `authorAgentId`. */
  authors?: Record<string, string> | undefined;
}

/** A node of the tree, on the path or not, or a custom text. */
export type Pinned = { nodeId: string } | { label?: string | undefined; text: string };

/** Content recalled from storage. */
export interface Stash {
  label: string;
  text: string;
}

/** Input of both kinds of assembly. Pass either `tip` or `path`. See docs/loom.md. */
export interface AssemblyRequest {
  tree: WithUnknownFields<LoomTreeData>;
  /** The last node: the path leads back from it. */
  tip?: string | undefined;
  /** The ids of all nodes, oldest first. */
  path?: string[] | undefined;
  /** For nodes with several incoming continuation edges: node id to edge id, or to the id of the predecessor. */
  choices?: Record<string, string> | undefined;
  /** Any version of a node to the version to use. Default: the latest edit. */
  versionSelections?: Record<string, string> | undefined;
  /** Annotations to include, each after its node, in the role of its author. */
  includeAnnotations?: string[] | "all" | undefined;
  /** Sources of the edge that the next generation will create from the tip. */
  pendingSources?: WithUnknownFields<EdgeSource>[] | undefined;
  /**
   * Which instructions apply: only those of the tip and the pending ones (the default), or those of every edge on the
   * path.
   */
  instructionScope?: "path" | "generation" | undefined;
  agent?: Agent | undefined;
  /** Context window of the model in tokens, including the answer. */
  contextWindow: number;
  /** Preferences of the request. */
  preferences?: Preferences | undefined;
  /** Preferences of the application, overridden by the tree's. */
  appPreferences?: Preferences | undefined;
  /** Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
  provider?: Provider | undefined;
  /** The target of the prompt. `provider` defaults to the target's; the report lists what the body would leave out. */
  target?: Target | undefined;
  /** Role of the system context, if it is a message. Default `system`. */
  systemRole?: "system" | "developer" | undefined;
  /** Media by `ref`. */
  media?: Record<string, Media> | undefined;
  overhead?: Overhead | undefined;
  mediaCosts?: MediaCosts | undefined;
  /**
   * The `state` of the dialogue that this one continues; `null` begins a series. The assembly repeats the changes of
   * the last one, so that the result begins with the last result, until the limit is exceeded. Dialogues only. See
   * docs/agents.md.
   */
  previous?: FitState | null | undefined;
  /**
   * Target of a dialogue in a series that exceeds the limit, as a fraction of the limit: above 0, at most 1. Default
   * 0.75 with `previous`; a single assembly uses the whole limit.
   */
  cutTo?: number | undefined;
  /**
   * How to treat signed thinking after a cut; Anthropic models from 5.1 on bind signatures to all earlier messages.
   * `strip` (the default) removes it, `dropBlock` makes the provider drop invalid blocks, `keep` keeps it. Dialogues
   * only. See docs/agents.md.
   */
  preservedThinking?: "strip" | "dropBlock" | "keep" | undefined;
  /** Adds the agent's position in the tree; `true` uses all defaults. Dialogues only. */
  loomAware?: boolean | LoomAware | undefined;
  limits?: Limits | undefined;
}

/** Input of {@link assembleDialogue}. */
export interface DialogueRequest extends AssemblyRequest {}

/** Input of {@link assembleBuffer}. */
export interface BufferRequest extends AssemblyRequest {
  /** Text before the text of the path. Overrides the tree's `bufferPrefix`; `""` removes it. */
  bufferPrefix?: string | undefined;
  /** Text that is not yet a node, at the end of the document. */
  workingBuffer?: string | undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// The result
// ---------------------------------------------------------------------------------------------------------------------

/** One message of a dialogue. */
export interface Message {
  role: "system" | "developer" | "user" | "assistant";
  /** A string if it is text only. */
  content: string | Part[];
  /**
   * The nodes in this message, in order; empty for a message without nodes: a system message, a truncation marker, a
   * loom-aware block.
   */
  nodeIds: string[];
  /** Position of each node in the content, in order and without its header. Frozen if returned by a `LoomTree`. */
  spans: readonly MessageSpan[];
}

/**
 * Range of a node in the content of its message, in UTF-16 code units. Text outside all spans is a separator, the
 * truncation marker, a header or a block for a loom-aware agent.
 */
export interface MessageSpan {
  readonly nodeId: string;
  /**
   * Index of the part, if the content is a list of parts. The offsets then refer to the text of that part. Both are 0
   * for a part that is neither text nor reasoning; such a part belongs to the node as a whole.
   */
  readonly part?: number;
  readonly start: number;
  readonly end: number;
}

/** One part of a message. */
export type Part = TextBlock | ImagePart | AudioPart | ToolCallBlock | ToolResultPart | ReasoningBlock | VendorBlock;

/** An image with its media. */
export type ImagePart = ImageBlock & Media;

/** A recording with its media. */
export type AudioPart = AudioBlock & Media;

/** The result of a tool call: text, or text and media. */
export interface ToolResultPart {
  type: "toolResult";
  toolCallId: string;
  content: string | (TextBlock | ImagePart | AudioPart)[];
  isError?: boolean | undefined;
}

/** A dialogue, ready to send. */
export interface DialogueAssembly {
  /** The combined system context; absent if empty or part of `messages`. */
  system?: string;
  messages: Message[];
  report: AssemblyReport;
  /** With `previous`: the `previous` of the next dialogue in the series. */
  state?: FitState;
}

/** A document, ready to send. */
export interface BufferAssembly {
  /** The combined system context; absent unless the tree enables it. */
  system?: string;
  document: string;
  /** Range of each node in the document, in order. A node cut in its middle has two spans, a removed node none. */
  spans: NodeSpan[];
  /** Range of the working buffer; absent without one. */
  workingBufferSpan?: Span;
  report: AssemblyReport;
}

/** A range from `start` to `end` (exclusive), in UTF-16 code units. */
export interface Span {
  start: number;
  end: number;
}

/** The range of one node. */
export interface NodeSpan extends Span {
  nodeId: string;
}

/** Token totals, the cut, and the outcome for each node. */
export interface AssemblyReport {
  strategy: TruncationStrategy;
  /** `contextWindow − tokenBuffer`. */
  limit: number;
  tokens: TokenTotals;
  /** Whether anything was removed or shortened. */
  truncated: boolean;
  /** The removed and shortened nodes; absent if the whole path is kept. */
  cut?: Cut;
  /** With `previous`: the part of the dialogue that equals the last one. */
  prefix?: FitPrefix;
  /** Whether all protected recent nodes were kept. */
  minimumRecentNodesMet: boolean;
  /** The ids of the path, oldest first, before exclusion. */
  path: string[];
  /** One row for each node on the path, its sources, annotations and other versions. */
  nodes: NodeReport[];
  /** Number of nodes of the tree unrelated to the path. Added to `nodes.length` it gives the size of the tree. */
  notOnPath: number;
  /** Loom-aware: the local id of each node in `nodes`, to resolve the names that the model uses. */
  localIds?: LocalId[];
  /** The effective settings. */
  preferences: { [Key in keyof Preferences]-?: NonNullable<Preferences[Key]> };
  diagnostics: Diagnostic[];
  /** Fields required in the body of the request; `requestBody` adds them. */
  body?: { [field: string]: JsonValue };
  /** Headers required by the request, such as a vendor's beta headers. */
  headers?: { [name: string]: string };
}

/** Token totals by part. `total` never exceeds the limit, and an independent recount gives the same number. */
export interface TokenTotals {
  /** The system context, as a field or as a message. */
  system: number;
  /** The content of all other messages, or the document. */
  messages: number;
  /** Per-message and per-request overhead. */
  overhead: number;
  /** Sum of the three. */
  total: number;
  /** Name of the tokenizer. */
  tokenizer: string;
  /** Error bound of the counts in percent: for estimates of a family without a public tokenizer. */
  tokenizerError?: number;
  /** Loom-aware: cost of the additions, which `system` and `messages` include. */
  loomAware?: LoomAwareTokens;
}

/** Tokens of the additions for a loom-aware agent, each text counted alone. */
export interface LoomAwareTokens {
  addendum: number;
  /** The operational memory block. */
  memory: number;
  /** The headers of the kept nodes. */
  headers: number;
  loomBlock: number;
}

/** The local id of a node. */
export interface LocalId {
  localId: string;
  nodeId: string;
}

/** The removed run, and the nodes that were shortened. */
export interface Cut {
  /** Nodes that were removed (fate `cut`), oldest first. */
  nodeIds: string[];
  /** Nodes that were shortened (fate `changed`). */
  partialNodeIds: string[];
  /** Tokens removed, each node counted alone. */
  tokens: number;
  /** Number of nodes of the conversation before the cut. */
  position: number;
  /** The marker in the gap, unless disabled. */
  marker?: string;
}

/** Outcome for one node. */
export interface NodeReport {
  nodeId: string;
  /** Relation of the node to the path. */
  as: "path" | "context" | "instruction" | "annotation" | "version" | "pinned";
  /**
   * `kept`: included whole. `changed`: included, shortened. `cut`: removed by truncation. `excluded`: left out by a
   * rule. `skipped`: not requested.
   */
  fate: "kept" | "changed" | "cut" | "excluded" | "skipped";
  /** Why it was left out or shortened. */
  reason?: NodeReason;
  /** Token cost of its content, counted alone; of a `changed` node, before the change. */
  tokens: number;
  /** Token cost of its remaining content, counted alone, if it is `changed`. */
  tokensAfter?: number;
  /** Index of its message in `messages`. */
  message?: number;
  /** Loom-aware: its text is also in the operational memory. */
  pinned?: true;
}

/** Why a node was left out or shortened. */
export type NodeReason =
  /** `metadata.excluded` */
  | "excluded"
  /** `metadata.pruned` */
  | "pruned"
  /** reached through an annotation edge and not included */
  | "annotation"
  /** only white space */
  | "blank"
  /** a tool call without its result, or the reverse */
  | "toolPairBroken"
  /** another version of this node is on the path */
  | "otherVersion"
  /** an instruction for an earlier generation */
  | "instructionScope"
  /** only media, in a document */
  | "nonText"
  /** documents do not include the system context */
  | "systemContextOff"
  /** removed to stay under the limit */
  | "overLimit"
  /** shortened to stay under the limit */
  | "shortened"
  /** removed over the limit, because a compaction replaces it */
  | "compacted";
