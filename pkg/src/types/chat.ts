import type { Target } from "./bodies.js";
import type { Diagnostic, DriverOptions, FitPrefix, FitState, OwnTokenizer, Tokenizer } from "./common.js";
import type { LoomTreeData, Media, TruncationStrategy } from "./loom.js";

export type { FitPrefix, FitState } from "./common.js";

// ---------------------------------------------------------------------------------------------------------------------
// Input
// ---------------------------------------------------------------------------------------------------------------------

/** Format of a chat; docs/chat-formats.md has the rules of each. `generic` is `{ role, content }` with a text. */
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
 * A conversation in a field of an object, next to other fields of a request: `{ system, messages }`,
 * `{ systemInstruction, contents }`, `{ instructions, input }`, `{ system_instruction, input }`. The result is an
 * object of the same kind.
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

/** The result for a chat: a list of messages of the same type, or a container of the same type. */
export type Fitted<Chat> = Chat extends readonly (infer Message)[] ? Message[] : Chat;

// ---------------------------------------------------------------------------------------------------------------------
// Options
// ---------------------------------------------------------------------------------------------------------------------

/**
 * How to fit a chat. The limit is `maxTokens` or `contextWindow`, otherwise that of `model`. Next to one of the first
 * two, `model` only selects the tokenizer, the media prices and the vendor's rules.
 */
export type FitOptions<Message = unknown> = FitSettings<Message> & FitLimit;

/** The limit of a fit. `maxTokens` and `contextWindow` exclude each other; one of the three is required. */
export type FitLimit =
  | { maxTokens: number; contextWindow?: undefined }
  | { contextWindow: number; maxTokens?: undefined }
  | ({ model: string } & AtMostOneLimit);

/** `maxTokens` and `contextWindow` exclude each other. */
export type AtMostOneLimit =
  | { maxTokens?: number | undefined; contextWindow?: undefined }
  | { contextWindow?: number | undefined; maxTokens?: undefined };

/** All options of a fit, each optional. {@link Chat} and the drop-ins extend or restrict them. */
export interface FitSettings<Message = unknown> {
  /** Default: detected from the shape of the messages. */
  format?: ChatFormat | undefined;
  /** The limit in tokens. No buffer is subtracted. */
  maxTokens?: number | undefined;
  /** Context window of the model in tokens; the limit is this minus `tokenBuffer`. */
  contextWindow?: number | undefined;
  /** Tokens reserved for the answer. Default 1024; with the window of a `model`, its output limit. */
  tokenBuffer?: number | undefined;
  /** Context window if `model` is unknown and nothing else sets the limit. */
  defaultWindow?: number | undefined;
  /**
   * Maximum number of images in the request. The oldest are replaced by `[image]` first; those of the last user message
   * and of results that the model has not read come last. With `previous` they are reduced to `cutTo` times the number.
   */
  maxImages?: number | undefined;
  /**
   * Maximum size of the messages as JSON, in UTF-8 bytes, with binary data as base64. Images are replaced as with
   * `maxImages`; messages that are still larger throw `request_too_large`.
   */
  maxBytes?: number | undefined;
  /**
   * The model. Determines the context window, image prices, vendor rules and, without `tokenizer`, the tokenizer (the
   * estimate, with a diagnostic, until its vocabulary is loaded). Must be known to `modelInfo` if no other limit is
   * given.
   */
  model?: string | undefined;
  /** Default: that of `model`, estimated until its vocabulary is loaded; without a model `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
  /**
   * Tool definitions as sent to the provider; they cost tokens. A list, or for the AI SDK also an object with a tool
   * per name. Defaults to the `tools` of a container.
   */
  tools?: unknown;
  /**
   * The system context, if it is passed outside the messages: a text, a list of parts, or an object with `text`,
   * `parts` or `content`.
   */
  system?: unknown;
  /**
   * Token counts per message, if you know them: one whole number for each message. They replace counting; an unchanged
   * message costs exactly this. The parts of a message share its cost in proportion to their length, so that parts can
   * be removed or replaced; a shortened text is counted with `tokenizer`. In a {@link Chat} only `fit` and
   * `requestBody` take them.
   */
  costs?: readonly number[] | undefined;
  /** Messages that are never cut: indices, or a function that is called once for each message. */
  pinned?: readonly number[] | ((message: Message, index: number) => boolean) | undefined;
  /**
   * Whether a result without its call, or a call without its results, is removed: `drop` (the default) or `off`.
   * Defaults to `off` if the provider stores the beginning of the conversation: `previous_interaction_id`,
   * `previous_response_id` or `conversation` next to `input`, or in the target of a {@link Chat}.
   */
  repair?: "drop" | "off" | undefined;
  /** Number of messages after the system messages that are kept like pinned ones. Default 0. */
  keepFirst?: number | undefined;
  /** Roles allowed for the first message after a cut. */
  startOn?: string | readonly string[] | undefined;
  /** Roles allowed for the last message; later messages are removed. */
  endOn?: string | readonly string[] | undefined;
  /** Default `truncateMiddle`. `keepStart` keeps the longest beginning that fits. */
  truncationStrategy?: TruncationStrategy | "keepStart" | undefined;
  /** Messages at the end that `truncateMiddle` protects. Default 4. */
  keepLast?: number | undefined;
  /**
   * Text of the user message in the gap; `{count}` becomes the number of removed messages. Default
   * `[… {count} earlier messages omitted …]`. `""` disables it, unless a message of the model would come first.
   */
  truncationMarker?: string | undefined;
  /**
   * Step of the cut in tokens: the amount to remove is rounded up to its next multiple, so that the cut stays in place
   * for many turns. Default 0.
   */
  cutStep?: number | undefined;
  /**
   * Messages that are shortened rather than removed. Default: `firstUser` and `lastUser` for `truncateMiddle`,
   * `lastUser` for `rollingWindow`, `firstUser` for `keepStart`. `lastUser` also protects system messages inside the
   * conversation. `[]` disables it.
   */
  protect?: readonly ("firstUser" | "lastUser")[] | undefined;
  /**
   * Tools whose latest call is kept with its result, shortened if needed. With `truncateMiddle` it defaults to the plan
   * tools of known agents (`TodoWrite`, `update_plan`, `write_todos`, …), otherwise to none. `[]` disables it.
   */
  protectTools?: readonly string[] | undefined;
  /**
   * What may be shortened at the edges of the gap to use the rest of the limit: `all` (the default) shortens tool
   * results, then texts; `results` only results; `off` disables it. With a `cutStep` nothing is filled.
   */
  fill?: "all" | "results" | "off" | undefined;
  /**
   * Edits to messages, made before whole messages are removed. Defaults to `{ toolResults: { keepLast: 3 } }`, with
   * `stopAtLimit` to none. `false` disables them.
   */
  edits?: FitEdits | false | undefined;
  /**
   * How to treat signed thinking after the first change, which newer Anthropic models reject. `strip` (the default)
   * removes it; `dropBlock` keeps it and returns in `report.body` the fields that make the provider drop it; `keep`
   * keeps it with a diagnostic. See docs/agents.md.
   */
  preservedThinking?: "strip" | "dropBlock" | "keep" | undefined;
  /**
   * The `state` of the conversation's last fit; `null` begins a series. The fit repeats the changes of the last one, so
   * that the result begins with the last result, until the limit is exceeded; `report.prefix` measures the common
   * prefix. Without it each fit is computed from scratch. See docs/agents.md.
   */
  previous?: FitState | null | undefined;
  /**
   * Target of a fit in a series that exceeds the limit, as a fraction of the limit: above 0, at most 1. Default 0.75
   * with `previous`; a single fit uses the whole limit.
   */
  cutTo?: number | undefined;
  /** Requests a summary of the removed messages. Only {@link planFit} and {@link fitMessagesWith} support it. */
  summary?:
    | {
        /** Default: a quarter of the limit. */
        maxTokens?: number | undefined;
      }
    | undefined;
}

/** How to count a chat. `model` selects its tokenizer, whose vocabulary must be loaded, and its image prices. */
export type CountMessagesOptions = Pick<FitSettings, "format" | "tokenizer" | "model" | "tools" | "system">;

/** Token cost of each part of a chat, from `measureMessages`. */
export interface MeasuredMessages {
  format: ChatFormat;
  /** As returned by `countChatTokens`: `system`, `tools`, all messages, and 3 tokens for the request. */
  total: number;
  /** The system context outside the messages. */
  system: number;
  /** The tool definitions. */
  tools: number;
  /** One row for each message, in order. */
  messages: MeasuredMessage[];
}

export interface MeasuredMessage {
  /** The author, with the same names for all formats: developers are `system`, functions `tool`. */
  role: "system" | "user" | "assistant" | "tool";
  /** Its parts, its role and name, and 3 tokens of overhead. */
  tokens: number;
  parts: MeasuredPart[];
}

export interface MeasuredPart {
  /**
   * `callAndResult` is a call together with its result, `approval` a request for approval or its answer, `other` a file
   * or an unknown part.
   */
  kind: "text" | "call" | "result" | "callAndResult" | "reasoning" | "image" | "approval" | "other";
  tokens: number;
  /** Paths of keys and indices to every occurrence in the message; `[]` is the whole message. */
  paths: (string | number)[][];
  /** Tool name, of a call and of a result whose call is present. */
  name?: string;
  /** Of a result: the position of its call. */
  call?: { index: number; part: number };
}

/**
 * Removals within messages, made before whole messages are cut, in this order, oldest first, only as far as the limit
 * requires; `report.edits` counts them. Results after the model's last message are never edited and do not count in
 * `keepLast`: the model has not read them.
 */
export interface FitEdits {
  /** Tokens above which edits are made. Default: the limit. */
  trigger?: number | undefined;
  /** `always`: every possible edit is made, regardless of the tokens. Default `needed`. */
  when?: "needed" | "always" | undefined;
  /**
   * Minimum number of tokens that an edit has to free, so that the provider's cache is not invalidated for little.
   * Smaller edits are not made.
   */
  minTokensFreed?: number | undefined;
  /** Step in tokens: edits free its next multiple, so that they happen once per many messages. Default 0. */
  step?: number | undefined;
  /** Clears old tool results, or shortens them to `maxTokens`. Their calls are kept. */
  toolResults?:
    | {
        /** Number of results at the end that are kept. One of `keepLast` and `keepTokens` is required. */
        keepLast?: number | undefined;
        /** Keeps the last results that have at most this many tokens together. */
        keepTokens?: number | undefined;
        maxTokens?: number | undefined;
        /** Text that replaces a result. */
        placeholder?: string | undefined;
        /** Tools whose results are cleared. Default: all. */
        only?: readonly string[] | undefined;
        /** Tools whose results are kept. */
        exclude?: readonly string[] | undefined;
        /** Clears the older results of equal calls first, even among the last `keepLast`. */
        duplicates?: boolean | undefined;
      }
    | undefined;
  /** Clears the arguments of old calls (`{}`). The calls and their results are kept. */
  toolInputs?:
    | {
        keepLast: number;
        /** Tools whose arguments are cleared. Default: all. */
        only?: readonly string[] | undefined;
        /** Tools whose arguments are kept. */
        exclude?: readonly string[] | undefined;
      }
    | undefined;
  /** Removes old tool calls with their results, except the protected plan (`protectTools`). */
  toolCalls?:
    | {
        keepLast: number;
        /** Tools whose calls are removed. Default: all. */
        only?: readonly string[] | undefined;
        /** Tools whose calls are kept. */
        exclude?: readonly string[] | undefined;
      }
    | undefined;
  /** Removes the model's reasoning. */
  reasoning?: { remove: "all" | "beforeLastUser" } | undefined;
  /** Removes old images, including those in tool results. */
  images?: { keepLast: number } | undefined;
}

/** How a {@link Chat} is fitted, and the target of its bodies. */
export type ChatOptions<Message = unknown> = ChatSettings<Message> & AtMostOneLimit;

/** All options of a {@link Chat}, each optional. */
export interface ChatSettings<Message = unknown> extends FitSettings<Message> {
  /** For {@link Chat.requestBody}. */
  target?: Target | undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// Results
// ---------------------------------------------------------------------------------------------------------------------

/** A chat within its limit. */
export interface FitResult<Chat> {
  /**
   * The same kind of value as the input. Unchanged messages are returned by reference; a changed message is a copy with
   * all other fields unchanged.
   */
  messages: Chat;
  report: FitReport;
  /** The `previous` of the conversation's next fit. */
  state: FitState;
}

/** What a fit did to a chat. */
export interface FitReport {
  /** The given or detected format. */
  format: ChatFormat;
  strategy: TruncationStrategy | "keepStart";
  /** The limit in tokens. */
  limit: number;
  tokens: FitTokens;
  /** Whether anything was cut, summarized or changed. */
  truncated: boolean;
  /** One row for each input message, in order. */
  messages: FitRow[];
  /** The edits that were made. */
  edits?: FitEdit[];
  /** The message added in the gap: its index in the result, its text and its cost. */
  added?: { kind: "marker" | "summary"; index: number; text: string; tokens: number };
  /** With `previous`, and from a {@link Chat}: the part of the result that equals the last one. */
  prefix?: FitPrefix;
  /** With `preservedThinking: "dropBlock"`: request fields that make the provider drop invalid thinking. */
  body?: { [field: string]: unknown };
  /** The beta headers that these fields require. */
  headers?: { [name: string]: string };
  diagnostics: Diagnostic[];
}

/** Token costs of the fitted chat: an independent recount gives `total`. */
export interface FitTokens {
  system: number;
  messages: number;
  tools: number;
  overhead: number;
  total: number;
  /** The name of the tokenizer. */
  tokenizer: string;
  /** Error bound of the counts in percent: for estimates of a family without a public tokenizer. */
  tokenizerError?: number;
}

/** Outcome for a message, or for a part of one. */
export type FitFate = "kept" | "changed" | "cut" | "summarized";

/** Outcome for one message. */
export interface FitRow {
  /** Its index in the input. */
  index: number;
  fate: FitFate;
  reason?: FitReason;
  /** Its token cost in the input. */
  tokens: number;
  /** Its token cost in the result, if it is `changed`. */
  tokensAfter?: number;
  /** One row per part, if the parts have different outcomes. */
  parts?: { index: number; fate: FitFate; reason?: FitReason; tokens: number; tokensAfter?: number }[];
}

/** Why a message or a part was removed or changed. */
export type FitReason =
  /** `edits.toolCalls` removed the call with its result. */
  | "callRemoved"
  /** The provider's compaction replaces it. */
  | "compacted"
  /** An empty text, which Anthropic rejects. */
  | "emptyText"
  /** After the last message with a role that `endOn` names. */
  | "endOn"
  /** A message of the model with which the conversation must not begin. */
  | "firstTurn"
  /** `edits.images`, `maxImages` or `maxBytes` replaced the image by a text. */
  | "imageRemoved"
  /** `edits.toolInputs` cleared the arguments of a call. */
  | "inputCleared"
  /** None of its content was left. */
  | "nothingLeft"
  /** Removed by the strategy. */
  | "overLimit"
  /** Signed thinking after the first change, which its provider would reject. */
  | "reasoningPrefixChanged"
  /** Removed by `edits.reasoning`; or the `id` of an item of OpenAI whose reasoning was removed. */
  | "reasoningRemoved"
  /** A marker or summary of an earlier fit, replaced by the new one. */
  | "replaced"
  /** `edits.toolResults` replaced it by the placeholder. */
  | "resultCleared"
  /** `edits.toolResults` shortened it: to `maxTokens`, or, if it is the last one, to what the limit leaves. */
  | "resultShortened"
  /**
   * One of its texts was shortened: the message is protected or at the edge of the gap, or not even the newest unit
   * fits.
   */
  | "shortened"
  /** A result without its call, or a call without its results. */
  | "toolPairBroken";

/** Effect of an edit: the number of results, calls, reasoning blocks or images changed, and the tokens freed. */
export interface FitEdit {
  edit: "toolResults" | "toolInputs" | "toolCalls" | "reasoning" | "images";
  count: number;
  tokens: number;
}

// ---------------------------------------------------------------------------------------------------------------------
// Summaries
// ---------------------------------------------------------------------------------------------------------------------

/** Result of {@link planFit}: the fitted chat, or what has to be summarized first. */
export type PlannedFit<Chat> =
  | { status: "ready"; result: FitResult<Fitted<Chat>> }
  | { status: "summarize"; input: SummaryInput<MessageOf<Chat>>; plan: FitPlan<Chat> };

/** Input for a summary. */
export interface SummaryInput<Message = unknown> {
  /** The messages that will be cut, by reference. */
  messages: Message[];
  /** The same as text, each message with its role. */
  text: string;
  /** Maximum size of the summary in tokens; a longer one is truncated at its end. */
  maxTokens: number;
  /** The summary of earlier messages, which the new one replaces. */
  previousSummary?: string;
}

/** Input of {@link finishFit}: the chat and the options of its plan. Valid only in this process. */
export interface FitPlan<Chat> {
  /** Exists only for the type checker. */
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

/** Source and target format of a conversion. */
export interface ConvertOptions {
  /** Default: detected from the shape of the messages. */
  from?: ChatFormat | undefined;
  /**
   * `ai-sdk` means `ModelMessage`s, `ai-sdk-ui` `UIMessage`s, `langchain` plain `{ type, content }` as accepted by
   * LangChain.
   */
  to: ChatFormat;
  /**
   * The model that will read the chat. With `to: "openai"`, reasoning is written as `reasoning_content` or
   * `reasoning_details` for models that require it.
   */
  model?: string | undefined;
}

/** A chat in another format. Pass the message type of the library or vendor as `Message`. */
export interface ConvertedChat<Message = unknown> {
  messages: Message[];
  /**
   * The system context, if the format keeps it outside the messages: Anthropic's `system`, Gemini's
   * `systemInstruction`.
   */
  system?: string;
  /** Content that the format cannot express, and changes made for its rules. */
  diagnostics: Diagnostic[];
}

/** How to read a chat that is converted into a tree. */
export interface ChatTreeOptions {
  /** Default: detected from the shape of the messages. */
  from?: ChatFormat | undefined;
}

/**
 * A chat as a Loom tree: one node per message; for a message that holds a whole run, one node per step and one for its
 * results.
 */
export interface ChatTree {
  tree: LoomTreeData;
  /** The newest node; absent if the chat is empty. */
  tip?: string;
  /** Media for the `ref`s of its images and recordings: the `media` of a request. */
  media: { [ref: string]: Media };
  diagnostics: Diagnostic[];
}
