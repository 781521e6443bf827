/** Chats: fitting, measuring, conversion. */

import { callJson } from "../call.js";
import { CtxweaveError } from "../error.js";
import type { Binary } from "../request.js";
import { guarded, reasonOf } from "../source.js";
import type {
  ChatTree,
  ChatTreeOptions,
  ConvertedChat,
  ConvertOptions,
  CountMessagesOptions,
  FitOptions,
  FitReport,
  FitResult,
  FitPlan,
  FitState,
  MeasuredMessages,
  Fitted,
  MessageOf,
  PlannedFit,
  Summarize,
  SummaryInput,
} from "../types/chat.js";
import type { DriverOptions, ReadonlyData } from "../types/common.js";
import { checkedSignal, raceAbort } from "./abort.js";
import { checkedOptions, invalid } from "./checked.js";
import {
  type AnyChat,
  type Entry,
  messageAt,
  messagesOf,
  type Pinned,
  pinnedBy,
  plainChat,
  withMessages,
} from "./messages.js";
import { type ChatCountOptions, type ChatMessage, countChatTokens as countTexts } from "./tokens.js";

/**
 * Fits a chat into its limit. Content over the limit is cut in whole units of calls, their results and their reasoning;
 * the report has the outcome for each message. The result is of the same kind as the input; unchanged messages are
 * returned by reference. The input is never mutated. See docs/chats.md.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function fitMessages<Chat extends AnyChat>(
  chat: Chat,
  options: ReadonlyData<FitOptions<MessageOf<Chat>>>,
): FitResult<Fitted<Chat>> {
  return resultOf(chat, fit(chat, { options: withPinned(chat, options) }));
}

/**
 * Plans a fit with a summary in place of the removed messages: either the result is ready, or `input` has to be
 * summarized and the `plan` is passed to {@link finishFit} with the summary.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function planFit<Chat extends AnyChat>(
  chat: Chat,
  options: ReadonlyData<FitOptions<MessageOf<Chat>>>,
): PlannedFit<Chat> {
  const args = { options: withPinned(chat, options) };
  const response = fit(chat, { ...args, phase: "plan" });
  if (!response.summarize) return { status: "ready", result: resultOf(chat, response) };
  const { indices, ...rest } = response.summarize;
  const messages = messagesOf(chat).slice() as MessageOf<Chat>[];
  const plan = {} as FitPlan<Chat>;
  // The caller may append to the array while the summary is made.
  planned.set(plan, [withMessages(chat, messages) as AnyChat, args]);
  return {
    status: "summarize",
    input: { ...rest, messages: indices.map((index) => messages[index] as MessageOf<Chat>) },
    plan: Object.freeze(plan),
  };
}

/**
 * Completes a {@link planFit}: the summary is inserted in the gap, as a separate message that later fits recognize. A
 * summary that is too long is cut. If it could not be made, the strategy cuts without it, with a diagnostic.
 *
 * @throws {CtxweaveError} `invalid_input` for an empty summary
 */
export function finishFit<Chat extends AnyChat>(
  plan: FitPlan<Chat>,
  summary: string | { readonly error: unknown },
): FitResult<Fitted<Chat>> {
  const [chat, args] = planned.get(plan) ?? [];
  if (chat === undefined || args === undefined) throw invalid("plan", "the `plan` that `planFit` returned");
  const isText = typeof summary === "string";
  const isError = !isText && guarded("summary", () => "error" in Object(summary));
  if (!isText && !isError) throw invalid("summary", "a text or an object with an `error`");
  const response = fit(chat, { ...args, phase: "finish", ...(isText && { summaryText: summary }) });
  const failed = response.report.diagnostics.find(({ code }) => code === "summary_failed");
  if (failed && !isText) failed.message += `: ${reasonOf(guarded("summary.error", () => summary.error))}`;
  return resultOf(chat as Chat, response);
}

/**
 * Fits a chat with a summary of the removed messages. If `summarize` throws, the strategy cuts without a summary, with
 * the diagnostic `summary_failed`.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md; the signal's reason when it is aborted
 */
export async function fitMessagesWith<Chat extends AnyChat>(
  chat: Chat,
  options: ReadonlyData<FitOptions<MessageOf<Chat>>>,
  summarize: Summarize<MessageOf<Chat>>,
  driver: DriverOptions = {},
): Promise<FitResult<Fitted<Chat>>> {
  const signal = checkedSignal(checkedOptions(driver, ["signal"], "driver").signal, "driver.signal");
  if (typeof summarize !== "function") throw invalid("summarize", "a function");
  const begun = planFit(chat, options);
  if (begun.status === "ready") return begun.result;
  return finishFit(begun.plan, await summaryOf(begun.input, summarize, signal));
}

/**
 * Counts the tokens of a chat in any format: the total that {@link fitMessages} reports if it changes nothing. With
 * `perMessage`, `perName` or `perRequest` the chat must be OpenAI's and contain only texts and calls.
 *
 * @throws {CtxweaveError} `vocabulary_not_loaded` if the vocabulary of `model` is not loaded
 */
export function countChatTokens<Chat extends AnyChat>(
  chat: Chat,
  options: ReadonlyData<CountMessagesOptions> | ChatCountOptions = {},
): number {
  const has = (name: string): boolean => guarded("options", () => name in Object(options));
  if (["perMessage", "perName", "perRequest"].some(has)) {
    return countTexts(chat as readonly ChatMessage[], options as ChatCountOptions);
  }
  return callChat("countMessages", chat, { options }) as number;
}

/**
 * Measures a chat by message and part: each text, call, result, reasoning block and image with its tokens and position,
 * and for a result its call. The sum is {@link countChatTokens}.
 *
 * @throws {CtxweaveError} `vocabulary_not_loaded` if the vocabulary of `model` is not loaded
 */
export function measureMessages<Chat extends AnyChat>(
  chat: Chat,
  options: ReadonlyData<CountMessagesOptions> = {},
): MeasuredMessages {
  return callChat("measureMessages", chat, { options }) as MeasuredMessages;
}

/**
 * Converts a chat into another format. Content that the target cannot express is reported, and kept as text if
 * possible. If the format is the same, messages are returned by reference. Bytes become base64. The input is never
 * mutated.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function convertMessages<Message = unknown, Chat extends AnyChat = AnyChat>(
  chat: Chat,
  options: ReadonlyData<ConvertOptions>,
): ConvertedChat<Message> {
  const converted = callChat("convertMessages", chat, { options }, "base64");
  const { same, messages, ...rest } = converted as ConvertedChat<Message> & { same?: true };
  return { messages: same ? (messagesOf(chat).slice() as Message[]) : messages, ...rest };
}

/**
 * Converts a chat into a Loom tree with one node per message, for assembly under a budget, branching, or storage.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function chatToLoomTree<Chat extends AnyChat>(chat: Chat, options?: ReadonlyData<ChatTreeOptions>): ChatTree {
  return callChat("chatToLoomTree", chat, { options }, "base64") as ChatTree;
}

async function summaryOf<Message>(
  input: SummaryInput<Message>,
  summarize: Summarize<Message>,
  signal: DriverOptions["signal"],
): Promise<string | { error: unknown }> {
  try {
    return await raceAbort(signal ? summarize(input, { signal }) : summarize(input), signal);
  } catch (error) {
    checkedSignal(signal);
    return { error };
  }
}

/** The chat and the options of a plan, stored separately, so that mutating the plan has no effect. */
const planned = new WeakMap<object, [chat: AnyChat, args: object]>();

/** A fit as returned by the module. */
interface FitResponse {
  /** Absent if all messages are unchanged. */
  messages?: Entry[];
  report: FitReport;
  state: FitState;
  summarize?: Omit<SummaryInput, "messages"> & { indices: number[] };
}

function fit(chat: AnyChat, args: object): FitResponse {
  return callChat("fitMessages", chat, args) as FitResponse;
}

/** Calls a function that takes a chat. Binary data stays outside the module, unless it is to be converted. */
function callChat(name: string, chat: AnyChat, args: object, binary: Binary = "sizes"): unknown {
  return callJson(name, { messages: plainChat(chat), ...args }, { binary });
}

/** Replaces the caller's pin function by the indices of the pinned messages. */
function withPinned(chat: AnyChat, options: object): object {
  if (typeof options !== "object" || options === null) throw invalid("options", "an object");
  try {
    const { pinned } = options as { pinned?: unknown };
    return typeof pinned === "function"
      ? { ...options, pinned: pinnedBy(pinned as Pinned, messagesOf(chat)) }
      : { ...options };
  } catch (thrown) {
    if (thrown instanceof CtxweaveError) throw thrown;
    // `writeRequest` reports whose getter threw.
    return options;
  }
}

function resultOf<Chat extends AnyChat>(
  chat: Chat,
  { messages: entries, report, state }: FitResponse,
): FitResult<Fitted<Chat>> {
  const applied = guarded("messages", () => {
    const messages = messagesOf(chat);
    const fitted = entries?.map((entry) => messageAt(entry, messages)) ?? messages.slice();
    return withMessages(chat, fitted) as Fitted<Chat>;
  });
  return { messages: applied, report, state };
}
