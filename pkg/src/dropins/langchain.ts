/**
 * `ctxweave/langchain`: fits LangChain's messages, with a `trimMessages` that keeps pairs together, and hooks for
 * agents.
 */

import type { BaseLanguageModel } from "@langchain/core/language_models/base";
import { type BaseMessage, HumanMessage, type MessageContent, type TrimMessagesFields } from "@langchain/core/messages";
import { type Runnable, RunnableLambda } from "@langchain/core/runnables";
import { convertToOpenAITool, isLangChainTool } from "@langchain/core/utils/function_calling";
import { CtxweaveError, type FitLimit, fitMessages, type FitRow, type FitSettings, init } from "../entries/chat.js";
import { checkedList, checkedObject, checkedOptions, invalid } from "../api/checked.js";
import { copyWith, isLangChain } from "../api/messages.js";
import { guarded } from "../source.js";
import type { PlatformAbortSignal } from "../types/platform.js";
import {
  type Fitter,
  fitter,
  valued,
  type HookOptions as AnyHookOptions,
  type HostFields,
  type HostSignal,
  listOf,
  modelName,
} from "./hook.js";

export { CtxweaveError, fitMessages, fitMessagesWith, init, loadVocabulary } from "../entries/chat.js";
export type * from "../types/chat.js";
export type { TrimMessagesFields };

/**
 * How a hook fits messages. Without `maxTokens`, `contextWindow` and `model`, the limit is that of the model that the
 * agent calls, which `modelInfo` then has to know.
 */
export type HookOptions<Message = BaseMessage> = AnyHookOptions<Message>;

/** How `preModelHook` fits messages: one of `maxTokens`, `contextWindow` and `model` is required. */
export type PreModelHookOptions = HookOptions & FitLimit;

// ---------------------------------------------------------------------------------------------------------------------
// trimMessages
// ---------------------------------------------------------------------------------------------------------------------

/**
 * LangChain's `trimMessages`, with the same parameters, but calls and their results are kept or removed together. Kept
 * messages are returned by reference. With only the fields it returns a runnable.
 *
 * @throws {CtxweaveError} `context_too_long` if nothing fits
 */
export function trimMessages(fields: TrimMessagesFields): Runnable<BaseMessage[], BaseMessage[]>;
export function trimMessages(messages: BaseMessage[], fields: TrimMessagesFields): Promise<BaseMessage[]>;
export function trimMessages(
  given: BaseMessage[] | TrimMessagesFields,
  fields?: TrimMessagesFields,
): Runnable<BaseMessage[], BaseMessage[]> | Promise<BaseMessage[]> {
  if (guarded("messages", () => Array.isArray(given))) return trimmed(given as BaseMessage[], checked(fields));
  const own = checked(given as TrimMessagesFields);
  return RunnableLambda.from((messages: BaseMessage[]) => trimmed(messages, own)).withConfig({
    runName: "trim_messages",
  }) as unknown as Runnable<BaseMessage[], BaseMessage[]>;
}

const FIELDS = [
  "maxTokens",
  "tokenCounter",
  "strategy",
  "allowPartial",
  "includeSystem",
  "startOn",
  "endOn",
  "textSplitter",
] as const;

function checked(fields: TrimMessagesFields | undefined): TrimMessagesFields {
  if (typeof fields !== "object" || fields === null) throw invalid("fields", "an object");
  const read = checkedOptions(fields, FIELDS, "fields");
  const { maxTokens, tokenCounter, strategy = "last", startOn, includeSystem } = read;
  if (!(typeof maxTokens === "number" && maxTokens > 0)) throw invalid("maxTokens", "a number above 0");
  if (
    typeof tokenCounter !== "function" &&
    typeof guarded("fields.tokenCounter", () => Object(tokenCounter).getNumTokens as unknown) !== "function"
  ) {
    throw invalid("tokenCounter", "a function of a list of messages, or a model");
  }
  if (strategy !== "first" && strategy !== "last") throw invalid("strategy", "`first` or `last`");
  if (strategy === "first" && startOn !== undefined) throw invalid("startOn", "left out if `strategy` is `first`");
  if (strategy === "first" && includeSystem) throw invalid("includeSystem", "left out if `strategy` is `first`");
  return read;
}

type Count = (messages: readonly BaseMessage[]) => Promise<number>;

async function trimmed(given: BaseMessage[], fields: TrimMessagesFields): Promise<BaseMessage[]> {
  await init();
  const messages = guarded("messages", () => [...checkedList(given, "messages")]);
  const other = guarded("messages", () => messages.findIndex((message) => !isLangChain(message)));
  if (other >= 0) throw invalid(`messages[${other}]`, "a message of LangChain");
  const { maxTokens, tokenCounter, strategy = "last", allowPartial = false, includeSystem = false } = fields;
  if (messages.length === 0) return [];
  const count: Count =
    typeof tokenCounter === "function"
      ? async (list) => tokenCounter([...list])
      : async (list) => sum(await Promise.all(contentsOf(list).map((content) => contentTokens(tokenCounter, content))));
  const startOn = valued({ startOn: types(fields.startOn) });
  const endOn = valued({ endOn: types(fields.endOn) });
  // Messages after the last of these are always removed.
  const ended = strategy === "last" && endOn.endOn ? fitted(messages, undefined, endOn) : messages;
  const all = await count(ended);
  if (all <= maxTokens) return fitted(ended, undefined, { ...startOn, ...endOn });

  const each = await Promise.all(ended.map((message) => count([message])));
  // The counter's constant overhead per list.
  const perList = ended.length > 1 ? (sum(each) - all) / (ended.length - 1) : 0;
  const costs = new Map(ended.map((message, at) => [message, Math.max(0, (each[at] ?? 0) - perList)]));
  const systems = ended.findIndex((message) => !isSystem(message));
  // They are the oldest: a moving window drops them first.
  const list = strategy === "last" && !includeSystem && systems > 0 ? ended.slice(systems) : ended;
  const cut: Omit<FitSettings, "maxTokens" | "contextWindow"> =
    strategy === "last" ? { truncationStrategy: "rollingWindow", ...startOn } : { truncationStrategy: "keepStart" };
  for (let limit = Math.max(1, maxTokens - perList); ;) {
    let kept: BaseMessage[];
    let none: unknown;
    try {
      kept = fitted(list, { costs, limit }, cut);
    } catch (thrown) {
      none = tooLong(thrown, maxTokens);
      if (!allowPartial) throw none;
      kept = strategy === "last" && includeSystem ? list.slice(0, Math.max(0, systems)) : [];
    }
    if (allowPartial) {
      const before = kept.length;
      kept = await withPartial(kept, list, fields, startOn.startOn, count);
      if (none !== undefined && kept.length === before) throw none;
    }
    if (strategy === "first" && endOn.endOn) kept = fitted(kept, undefined, endOn);
    const excess = (await count(kept)) - maxTokens;
    if (excess <= 0) return kept;
    if (limit <= 1) throw none ?? tooLong(undefined, maxTokens);
    limit = Math.max(1, limit - Math.max(1, excess));
  }
}

function isSystem(message: BaseMessage): boolean {
  return guarded("messages", () => message.getType() === "system");
}

function contentsOf(messages: readonly BaseMessage[]): BaseMessage["content"][] {
  return guarded("messages", () => messages.map(({ content }) => content));
}

/** LangChain's trimming only removes messages. */
const plain = { edits: false, protect: [], protectTools: [], fill: "off", truncationMarker: "" } as const;

/** Factor for costs and limit: costs may be fractions, and a request costs 3 units in addition to its messages. */
const SCALE = 4096;

/**
 * Returns the messages that fit, by reference. Without a budget all fit, and only broken pairs and invalid ends are
 * removed.
 */
function fitted(
  messages: readonly BaseMessage[],
  budget: { costs: Map<BaseMessage, number>; limit: number } | undefined,
  options: Omit<FitSettings, "maxTokens" | "contextWindow">,
): BaseMessage[] {
  if (messages.length === 0) return [];
  const scaled = (cost: number): number => Math.min(Math.round(cost * SCALE), 2 ** 32 - 1);
  const costs = budget && messages.map((message) => scaled(budget.costs.get(message) ?? 0));
  const { messages: kept, report } = fitMessages(messages, {
    ...options,
    ...(costs && { costs }),
    format: "langchain",
    maxTokens: budget ? Math.floor(budget.limit * SCALE) + SCALE / 2 : Number.MAX_SAFE_INTEGER,
    tokenizer: { count: (text) => Number(text !== "") },
    ...plain,
  });
  // LangChain's trimming neither shortens texts nor adds messages: `startOn` decides which message comes first.
  const isShortened = ({ reason, parts = [] }: FitRow): boolean =>
    reason === "shortened" || parts.some((part) => part.reason === "shortened");
  if (costs && report.messages.some(isShortened)) {
    const [limit, required] = [report.limit, sum(costs)];
    const details = { limit, required, overBy: required - limit };
    throw new CtxweaveError("context_too_long", "the last message alone is over the limit", details);
  }
  return kept.filter((_, at) => at !== report.added?.index);
}

/** The error if nothing fits, in the caller's tokens. */
function tooLong(thrown: unknown, limit: number): unknown {
  const isOurs = thrown instanceof CtxweaveError;
  if (thrown !== undefined && !(isOurs && /^(system_)?context_too_long$/.test(thrown.code))) return thrown;
  const scaled = isOurs ? Number((thrown.details as { required?: number }).required) : Number.NaN;
  const required = Number.isNaN(scaled) ? limit + 1 : Math.ceil(scaled / SCALE);
  const message = `the messages to keep are over \`maxTokens\` of ${limit}; raise it, or set \`allowPartial\``;
  const details = { limit, required, overBy: required - limit };
  return new CtxweaveError("context_too_long", message, details, { cause: thrown });
}

/**
 * Adds as much as fits of the message at the edge: some of its blocks, or of its text in lines or words. A message with
 * calls is left out.
 */
async function withPartial(
  kept: BaseMessage[],
  list: readonly BaseMessage[],
  { maxTokens, strategy = "last", textSplitter }: TrimMessagesFields,
  startOn: string[] | undefined,
  count: Count,
): Promise<BaseMessage[]> {
  const isLast = strategy === "last";
  const systems = list.findIndex((message) => !isSystem(message));
  const place = isLast ? kept.findIndex((message) => list.indexOf(message) >= systems) : -1;
  const at = place < 0 ? kept.length : place;
  const beside = kept[isLast ? at : at - 1];
  const found = beside === undefined ? (isLast ? list.length : -1) : list.indexOf(beside);
  const edge = list[isLast ? found - 1 : found + 1];
  if ((found < 0 && beside) || !edge || kept.includes(edge)) return kept;
  const { type, calls, content } = guarded("messages", () => {
    const { tool_calls: calls = [] } = edge as { tool_calls?: unknown[] };
    return { type: edge.getType(), calls, content: edge.content };
  });
  if (calls.length > 0 || type === "tool" || type === "function") return kept;
  if (isLast && startOn && !startOn.includes(type)) return kept;

  const withContent = (content: unknown): BaseMessage[] => [
    ...kept.slice(0, at),
    copyWith(edge, [[["content"], content]]),
    ...kept.slice(at),
  ];
  /** The largest number of pieces, from the kept side, that fits. */
  const mostThatFits = async <Piece>(
    pieces: Piece[],
    joined: (some: Piece[]) => unknown,
  ): Promise<BaseMessage[] | undefined> => {
    const some = (length: number): BaseMessage[] =>
      withContent(joined(isLast ? pieces.slice(pieces.length - length) : pieces.slice(0, length)));
    let [fits, over] = [0, pieces.length];
    while (over - fits > 1) {
      const middle = (fits + over) >> 1;
      if ((await count(some(middle))) <= maxTokens) fits = middle;
      else over = middle;
    }
    return fits > 0 ? some(fits) : undefined;
  };
  /** The pieces of a text that fit; of an only message without a fitting piece, its words. */
  const mostOfText = async (text: string, joined: (some: string[]) => unknown): Promise<BaseMessage[] | undefined> => {
    const some = await mostThatFits(await split(text, textSplitter), joined);
    const isOnly = kept.every(isSystem);
    return some ?? (isOnly && !textSplitter ? mostThatFits(text.match(/\s*\S+/g) ?? [], joined) : undefined);
  };
  if (Array.isArray(content)) {
    const blocks = await mostThatFits<unknown>(content, (some) => some);
    const block = content.at(isLast ? -1 : 0) as { text?: unknown } | undefined;
    if (blocks || typeof block?.text !== "string") return blocks ?? kept;
    return (await mostOfText(block.text, (some) => [copyWith(block, [[["text"], some.join("")]])])) ?? kept;
  }
  return (await mostOfText(content, (some) => some.join(""))) ?? kept;
}

async function split(text: string, splitter: TrimMessagesFields["textSplitter"]): Promise<string[]> {
  if (typeof splitter === "function") return splitter(text);
  // Lines, including their ends.
  return splitter ? splitter.splitText(text) : (text.match(/[^\n]*\n|[^\n]+/g) ?? []);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function contentTokens(model: BaseLanguageModel, content: MessageContent): Promise<number> {
  return model.getNumTokens(content);
}

/** Type names from names or classes. */
function types(given: TrimMessagesFields["startOn"]): string[] | undefined {
  if (given === undefined) return undefined;
  return guarded("fields", () => [given].flat()).map((type) => {
    if (typeof type === "string") return type;
    const Class = type as new (fields: object) => BaseMessage;
    return guarded("fields.startOn", () => new Class({}).getType());
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Hooks
// ---------------------------------------------------------------------------------------------------------------------

/** The type that `createAgent` and `createMiddleware` take as middleware. */
export interface FitMiddleware {
  name: string;
  wrapModelCall<Request extends { messages: BaseMessage[] }, Reply>(
    request: Request,
    handler: (request: Request) => Reply | Promise<Reply>,
  ): Promise<Reply>;
}

/**
 * Middleware for `createAgent`: fits the messages of each model call, counting the system prompt and the tools. The
 * agent's state keeps all messages. See docs/hooks.md.
 */
export function fitMiddleware(options: HookOptions = {}): FitMiddleware {
  const fit = fitter(options);
  return {
    name: "fit",
    async wrapModelCall(request, handler) {
      checkedObject(request, "request");
      if (typeof handler !== "function") throw invalid("handler", "a function");
      const asked = guarded("request", () => ({ ...request }));
      const { messages, model, systemMessage, systemPrompt, tools } = asked as {
        messages: BaseMessage[];
      } & Partial<Record<string, unknown>>;
      const content = guarded("request.systemMessage", () => (systemMessage as { content?: unknown } | null)?.content);
      const host = valued({
        model: modelName(model),
        system: content ?? systemPrompt,
        tools: guarded("request.tools", () => definitions(tools, "request.tools")),
      });
      const signal = guarded("request.runtime", () => (asked as { runtime?: { signal?: unknown } }).runtime?.signal);
      const fitted = await fitInstances(messages, fit, host, { signal, path: "request.runtime.signal" });
      return handler({ ...asked, messages: fitted });
    },
  };
}

/** A `preModelHook` for LangGraph's `createReactAgent`: fits the input of the model; the state keeps all messages. */
export function preModelHook(
  options: PreModelHookOptions,
): (
  state: { messages: BaseMessage[] },
  config?: { signal?: PlatformAbortSignal | undefined },
) => Promise<{ llmInputMessages: BaseMessage[] }> {
  const fit = fitter(options);
  return async (state, config) => {
    const messages = guarded("state", () => checkedObject(state, "state").messages);
    const signal = guarded("config", () => config?.signal);
    return { llmInputMessages: await fitInstances(messages, fit, {}, { signal, path: "config.signal" }) };
  };
}

/** Converts markers and summaries into instances as well. */
async function fitInstances(
  messages: BaseMessage[],
  fit: Fitter<BaseMessage>,
  host: HostFields,
  hostSignal: HostSignal,
): Promise<BaseMessage[]> {
  const fitted = await fit(messages, { format: "langchain", ...host }, hostSignal);
  return fitted.map((message) =>
    isLangChain(message as unknown) ? message : new HumanMessage({ content: message.content }),
  );
}

/** The tool definitions sent to the model. */
function definitions(tools: unknown, path: string): unknown[] | undefined {
  return listOf(tools, path)?.map((tool) => (isLangChainTool(tool) ? convertToOpenAITool(tool as never) : tool));
}
