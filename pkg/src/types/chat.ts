import type { Target } from "./bodies.js";
import type { Diagnostic, DriverOptions, FitPrefix, FitState, OwnTokenizer, Tokenizer } from "./common.js";
import type { LoomTreeData, Media, TruncationStrategy } from "./loom.js";

export type { FitPrefix, FitState } from "./common.js";

// ---------------------------------------------------------------------------------------------------------------------
// What is fitted
// ---------------------------------------------------------------------------------------------------------------------

/** Format of messages; docs/chat-formats.md describes each. `generic` is `{ role, content }` with a text. */
export type ChatFormat =
  | "ai-sdk"
  | "ai-sdk-ui"
  | "anthropic"
  | "gemini"
  | "gemini-interactions"
  | "generic"
  | "langchain"
  | "openai"
  | "openai-agents"
  | "openai-responses";

/**
 * A conversation that stands in a field of an object, next to what else a request has: `{ system, messages }`,
 * `{ systemInstruction, contents }`, `{ instructions, input }`, `{ system_instruction, input }`. The same kind of object comes back.
 */
export type ChatContainer =
  | { readonly messages: readonly unknown[] }
  | { readonly contents: readonly unknown[] }
  | { readonly input: readonly unknown[] };

/** One message of a list, or of the list in a container. */
export type MessageOf<Chat> = Chat extends readonly (infer Message)[]
  ? Message
  : Chat extends { readonly messages: readonly (infer Message)[] }
    ? Message
    : Chat extends { readonly contents: readonly (infer Message)[] }
      ? Message
      : Chat extends { readonly input: readonly (infer Message)[] }
        ? Message
        : unknown;

/** What comes back for a chat: a list of the same messages, or the same container. */
export type Fitted<Chat> = Chat extends readonly (infer Message)[] ? Message[] : Chat;

// ---------------------------------------------------------------------------------------------------------------------
// Options
// ---------------------------------------------------------------------------------------------------------------------

/**
 * How to fit a chat. The limit is `maxTokens`, or `contextWindow`, or the `model`'s. Next to one of the first two a `model` selects the
 * tokenizer, the prices of media and the vendor's rules.
 */
export type FitOptions<Message = unknown> = FitSettings<Message> & FitLimit;

/** The limit of a fit: `maxTokens` and `contextWindow` exclude each other, and one of the three is needed. */
export type FitLimit =
  | { maxTokens: number; contextWindow?: undefined }
  | { contextWindow: number; maxTokens?: undefined }
  | { model: string; maxTokens?: undefined; contextWindow?: undefined };

/** All options of a fit, each optional: what a {@link Chat} and hooks add to or take over from elsewhere. */
export interface FitSettings<Message = unknown> {
  /** Default: found by the shape of the messages. */
  format?: ChatFormat;
  /** The limit itself: nothing is taken off it. */
  maxTokens?: number;
  /** Tokens that the model takes in; the limit is this less `tokenBuffer`. */
  contextWindow?: number;
  /** Tokens kept free for the answer. Default 1024; of a `model` its output limit. */
  tokenBuffer?: number;
  /** The context window if `model` is unknown and nothing else sets the limit. */
  defaultWindow?: number;
  /**
   * Images that the request may have. The oldest are replaced by `[image]`, those of the last user message and of results that the model has
   * not read last. With `previous` they go down to `cutTo` times the number.
   */
  maxImages?: number;
  /**
   * Bytes that the messages may have as JSON in UTF-8, with binary data as base64. Images are replaced as with `maxImages`; messages that
   * are still larger throw `request_too_large`.
   */
  maxBytes?: number;
  /**
   * The model: its context window, what images cost there, its vendor's rules, and where `tokenizer` is not given its tokenizer (the
   * estimate, with a diagnostic, as long as that is not loaded). Without another limit `modelInfo` has to know it.
   */
  model?: string;
  /** Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer;
  /**
   * The definitions of the tools, as the provider is sent them: they cost tokens. A list; for the AI SDK also an object with a tool for
   * each name. Default: the `tools` of a container.
   */
  tools?: unknown;
  /** The system context where it stands next to the messages: a text, a list of parts, or an object with `text`, `parts` or `content`. */
  system?: unknown;
  /**
   * Tokens of each message, if you know them: whole numbers, one for each message. They replace counting, and an unchanged message
   * costs exactly this. Its parts share the cost by their length, so that a part can be removed or replaced; a text that is shortened
   * is counted with `tokenizer`. Of a {@link Chat} only `fit` and `requestBody` take them.
   */
  costs?: readonly number[];
  /** Messages that are never cut, by their indices or by a function that is asked once for each. */
  pinned?: readonly number[] | ((message: Message, index: number) => boolean);
  /**
   * What becomes of a result without its call, and of a call without its results: `drop` (the default) or `off`. `off` is the default where
   * the provider has stored the beginning: `previous_interaction_id`, `previous_response_id` or `conversation` next to `input`, or in the
   * target of a {@link Chat}.
   */
  repair?: "drop" | "off";
  /** Messages at the beginning, after the system messages, that are kept as pinned ones are. Default 0. */
  keepFirst?: number;
  /** Where something was cut, the rest begins with a message of one of these roles. */
  startOn?: string | readonly string[];
  /** The conversation ends with a message of one of these roles; what comes after the last of them is left out. */
  endOn?: string | readonly string[];
  /** Default `truncateMiddle`. `keepStart` keeps the longest beginning that fits. */
  truncationStrategy?: TruncationStrategy | "keepStart";
  /** Messages at the end that `truncateMiddle` protects. Default 4. */
  keepLast?: number;
  /**
   * The text of the user message that stands where messages were cut; `{count}` becomes their number. Default
   * `[… {count} earlier messages omitted …]`; with `""` there is none, unless a turn of the model's would be first.
   */
  truncationMarker?: string;
  /** Tokens; what is removed is rounded up to the next multiple, so that the cut stays put over many turns. Default 0. */
  cutStep?: number;
  /**
   * Messages that are shortened rather than removed. Default: `firstUser` and `lastUser` for `truncateMiddle`, `lastUser` for
   * `rollingWindow`, `firstUser` for `keepStart`. `lastUser` also protects system messages inside the conversation. `[]` disables it.
   */
  protect?: readonly ("firstUser" | "lastUser")[];
  /**
   * Tools of which the latest call stays with its result, shortened if needed. Default with `truncateMiddle`: the plan tools of known
   * agents (`TodoWrite`, `update_plan`, `write_todos`, …), otherwise none. `[]` disables it.
   */
  protectTools?: readonly string[];
  /**
   * What may be shortened at the edges of the gap, to use the rest of the limit: `all` (the default) shortens results of tools, then
   * texts; `results` only results; `off` nothing. With a `cutStep` nothing is filled.
   */
  fill?: "all" | "results" | "off";
  /**
   * Edits to messages, made before whole messages are removed. Default: `{ toolResults: { keepLast: 3 } }`, with `stopAtLimit` none.
   * `false` disables it.
   */
  edits?: FitEdits | false;
  /**
   * What becomes of signed thinking after the first change, which newer models of Anthropic's refuse. `strip` (the default) leaves it
   * out; `dropBlock` keeps it and gives in `report.body` the fields by which the provider leaves it out; `keep` keeps and reports it.
   */
  preservedThinking?: "strip" | "dropBlock" | "keep";
  /**
   * The `state` of the last fit of the conversation; `null` for the first of a series. What the last fit did is done again, so that the
   * result begins with the last one, until the limit is exceeded; `report.prefix` states how much is the same. Without it each fit is
   * computed from nothing.
   */
  previous?: FitState | null;
  /**
   * The part of the limit that is left used when a fit in a series exceeds it: above 0, at most 1. Default 0.75 with `previous`; a single
   * fit uses the whole limit.
   */
  cutTo?: number;
  /** Asks for a summary in place of what is cut; only {@link planFit} and {@link fitMessagesWith} do. */
  summary?: {
    /** Default: a quarter of the limit. */
    maxTokens?: number;
  };
}

/** How to count a chat. A `model` brings its tokenizer, which must be loaded, and what images cost there. */
export type CountMessagesOptions = Pick<FitSettings, "format" | "tokenizer" | "model" | "tools" | "system">;

/** What each part of a chat costs, by `measureMessages`. */
export interface MeasuredMessages {
  format: ChatFormat;
  /** As `countChatTokens` gives it: `system`, `tools`, all messages, and 3 tokens of the request. */
  total: number;
  /** The system context next to the messages. */
  system: number;
  /** The definitions of the tools. */
  tools: number;
  /** A row for each message, in their order. */
  messages: MeasuredMessage[];
}

export interface MeasuredMessage {
  /** Who it is from, in one word for all formats; developers are `system`, functions `tool`. */
  role: "system" | "user" | "assistant" | "tool";
  /** Its parts, its role and name, and 3 tokens of being a message. */
  tokens: number;
  parts: MeasuredPart[];
}

export interface MeasuredPart {
  /** `callAndResult` is a call with its result in one, `approval` asks whether a call may be made or answers that, `other` is a file and what is not known. */
  kind: "text" | "call" | "result" | "callAndResult" | "reasoning" | "image" | "approval" | "other";
  tokens: number;
  /** Everywhere it stands in the message, as the keys and indices that lead there; `[]` is the whole message. */
  paths: (string | number)[][];
  /** The tool's, of a call and of a result whose call is there. */
  name?: string;
  /** Of a result: where its call is. */
  call?: { index: number; part: number };
}

/**
 * What is taken out of messages before whole ones are cut, in this order, oldest first, only as far as the limit needs; each
 * is counted in `report.edits`. Results after the model's last message are never edited and do not count in `keepLast`: the model
 * has not read them.
 */
export interface FitEdits {
  /** Tokens above which edits are made. Default: the limit. */
  trigger?: number;
  /** `always`: all that may be edited is, however few the tokens. Default `needed`. */
  when?: "needed" | "always";
  /** Tokens that an edit has to free; one that frees fewer is not made, so that a provider's cache is not lost for little. */
  minTokensFreed?: number;
  /** Tokens; the edits free the next multiple of it, so that they are made once for many messages. Default 0. */
  step?: number;
  /** Clears old tool results, or shortens them to `maxTokens`; their calls stay. */
  toolResults?: {
    /** Results at the end that stay as they are. One of `keepLast` and `keepTokens` is required. */
    keepLast?: number;
    /** The last results stay as they are that have at most so many tokens together. */
    keepTokens?: number;
    maxTokens?: number;
    /** What stands in place of a result. */
    placeholder?: string;
    /** Tools whose results are cleared; default all. */
    only?: readonly string[];
    /** Tools whose results stay as they are. */
    exclude?: readonly string[];
    /** Clears the older results of equal calls first, also among the last `keepLast`. */
    duplicates?: boolean;
  };
  /** Clears the arguments of old calls (`{}`); the calls and their results stay. */
  toolInputs?: {
    keepLast: number;
    /** Tools whose arguments are cleared; default all. */
    only?: readonly string[];
    /** Tools whose arguments stay. */
    exclude?: readonly string[];
  };
  /** Takes out old tool calls with their results. */
  toolCalls?: {
    keepLast: number;
    /** Tools whose calls are removed; default all. */
    only?: readonly string[];
    /** Tools whose calls stay. */
    exclude?: readonly string[];
  };
  /** Takes out what the model thought. */
  reasoning?: { remove: "all" | "beforeLastUser" };
  /** Takes out old images, those in results of tools too. */
  images?: { keepLast: number };
}

/** How a {@link Chat} is fitted, and whom its bodies are for. */
export interface ChatOptions<Message = unknown> extends FitSettings<Message> {
  /** For {@link Chat.requestBody}. */
  target?: Target;
}

// ---------------------------------------------------------------------------------------------------------------------
// Results
// ---------------------------------------------------------------------------------------------------------------------

/** A chat inside its limit. */
export interface FitResult<Chat> {
  /**
   * The kind of thing that was given. A message that is not changed is the very object that came in; one that is changed is
   * a copy, and what else it holds is the same.
   */
  messages: Chat;
  report: FitReport;
  /** For the next fit of the conversation: `previous`. */
  state: FitState;
}

/** What became of a chat. */
export interface FitReport {
  /** The format that was given, or found. */
  format: ChatFormat;
  strategy: TruncationStrategy | "keepStart";
  /** Tokens that there may be. */
  limit: number;
  tokens: FitTokens;
  /** Whether anything was cut, summarised or changed. */
  truncated: boolean;
  /** A row for each message that was given, in their order. */
  messages: FitRow[];
  /** The edits that were made. */
  edits?: FitEdit[];
  /** The message that stands where some were cut: its index among those that came out, its text and its cost. */
  added?: { kind: "marker" | "summary"; index: number; text: string; tokens: number };
  /** With `previous`, and of a {@link Chat}: how much of the result equals the last one. */
  prefix?: FitPrefix;
  /** With `preservedThinking: "dropBlock"`: fields of the request by which the provider leaves out thinking that is invalid. */
  body?: { [field: string]: unknown };
  /** The beta headers that these fields need. */
  headers?: { [name: string]: string };
  diagnostics: Diagnostic[];
}

/** What the fitted chat costs: a recount of it gives `total`. */
export interface FitTokens {
  system: number;
  messages: number;
  tools: number;
  overhead: number;
  total: number;
  /** The name of the tokenizer. */
  tokenizer: string;
  /** By how many percent the counts may be off: with the estimate for a family without a public tokenizer. */
  tokenizerError?: number;
}

/** What became of a message, or of a part of it. */
export type FitFate = "kept" | "changed" | "cut" | "summarized";

/** What became of one message. */
export interface FitRow {
  /** Its index among those that were given. */
  index: number;
  fate: FitFate;
  reason?: FitReason;
  /** Its token cost as it was given. */
  tokens: number;
  /** Its token cost in the result, if it is `changed`. */
  tokensAfter?: number;
  /** Where its parts fare differently: a row for each. */
  parts?: { index: number; fate: FitFate; reason?: FitReason; tokens: number; tokensAfter?: number }[];
}

/** Why a message or a part of it is not there, or not as it was. */
export type FitReason =
  /** `edits.toolCalls` took the call with its result. */
  | "callRemoved"
  /** A compaction of the provider's stands for it. */
  | "compacted"
  /** It is an empty text, which Anthropic refuses. */
  | "emptyText"
  /** It stood after the last message of a role that `endOn` names. */
  | "endOn"
  /** A turn of the model's with which the conversation may not begin. */
  | "firstTurn"
  /** `edits.images`, `maxImages` or `maxBytes` put a text in the image's place. */
  | "imageRemoved"
  /** `edits.toolInputs` cleared the arguments of a call. */
  | "inputCleared"
  /** Nothing of it was left that says anything. */
  | "nothingLeft"
  /** The strategy took it. */
  | "overLimit"
  /** A signed thought after the first change, which its provider would refuse. */
  | "reasoningPrefixChanged"
  /** `edits.reasoning` took it. */
  | "reasoningRemoved"
  /** A marker or a summary of an earlier fit, in whose place there is a new one. */
  | "replaced"
  /** `edits.toolResults` put the placeholder in its place. */
  | "resultCleared"
  /** `edits.toolResults` shortened it: to `maxTokens`, or as the last one to what the limit leaves. */
  | "resultShortened"
  /** A text of it was shortened: it is protected, stands at the edge of the gap, or not even the newest unit fits. */
  | "shortened"
  /** A result without its call, or a call without its results. */
  | "toolPairBroken";

/** What an edit did: how many results, calls, thoughts or images it changed, and the tokens that it freed. */
export interface FitEdit {
  edit: "toolResults" | "toolInputs" | "toolCalls" | "reasoning" | "images";
  count: number;
  tokens: number;
}

// ---------------------------------------------------------------------------------------------------------------------
// Summaries
// ---------------------------------------------------------------------------------------------------------------------

/** What comes of {@link planFit}: the chat, or what has to be summarised first. */
export type PlannedFit<Chat> =
  | { status: "ready"; result: FitResult<Fitted<Chat>> }
  | { status: "summarize"; input: SummaryInput<MessageOf<Chat>>; plan: FitPlan<Chat> };

/** What a summary has to be made of. */
export interface SummaryInput<Message = unknown> {
  /** The messages that will be cut: the caller's own objects. */
  messages: Message[];
  /** The same as text, each message with its role. */
  text: string;
  /** The most that the summary may have; a longer one is cut. */
  maxTokens: number;
  /** The summary that an earlier one of these messages was made of; the new one takes its place. */
  previousSummary?: string;
}

/** What {@link finishFit} continues: a handle of the chat and the options that it was planned with, valid in this process. */
export interface FitPlan<Chat> {
  /** For the compiler alone: there is nothing to read. */
  readonly "~chat": Chat;
}

/** Makes a summary. */
export type Summarize<Message = unknown> = (
  input: SummaryInput<Message>,
  options?: DriverOptions,
) => string | Promise<string>;

// ---------------------------------------------------------------------------------------------------------------------
// Conversion
// ---------------------------------------------------------------------------------------------------------------------

/** From which format a chat is converted to which. */
export interface ConvertOptions {
  /** Default: found by the shape of the messages. */
  from?: ChatFormat;
  /** `ai-sdk` are `ModelMessage`s, `ai-sdk-ui` `UIMessage`s, `langchain` plain `{ type, content }` that LangChain takes. */
  to: ChatFormat;
  /**
   * The model that the chat is for. With `to: "openai"`, reasoning is written as `reasoning_content` or `reasoning_details` for models
   * that require it.
   */
  model?: string;
}

/** A chat in another format. The type of its messages is that library's or vendor's own, which the caller can name. */
export interface ConvertedChat<Message = unknown> {
  messages: Message[];
  /** The system context where the format has it next to the messages: Anthropic's `system`, Gemini's `systemInstruction`. */
  system?: string;
  /** What the format cannot say, and what was changed for its rules. */
  diagnostics: Diagnostic[];
}

/** How to read a chat that becomes a tree. */
export interface ChatTreeOptions {
  /** Default: found by the shape of the messages. */
  from?: ChatFormat;
}

/** A chat as a Loom tree: a node a message, of a run in one message a node for each of its steps and for their results. */
export interface ChatTree {
  tree: LoomTreeData;
  /** The newest node; absent where the chat is empty. */
  tip?: string;
  /** What the `ref`s of its images and recordings stand for: the `media` of a request. */
  media: { [ref: string]: Media };
  diagnostics: Diagnostic[];
}
