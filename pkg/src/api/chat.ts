/** Chats: fitted to their limits, measured, and converted. */

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
 * Fits a chat into its limit: what does not fit is cut, in whole units of calls, their results and their reasoning, and the
 * report says what became of each message. What comes back is of the same kind as what was given; a message that is not
 * changed is the very object. Nothing that is given is ever changed.
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
 * The same with a summary in the place of removed messages: either it fits, or `input` has to be summarized and {@link finishFit} takes
 * the `plan` and the summary.
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
  // While the summary is made the conversation may continue in the caller's array.
  planned.set(plan, [withMessages(chat, messages) as AnyChat, args]);
  return {
    status: "summarize",
    input: { ...rest, messages: indices.map((index) => messages[index] as MessageOf<Chat>) },
    plan: Object.freeze(plan),
  };
}

/**
 * Finishes what {@link planFit} began: the summary stands where messages were cut, in a message of its own that a later fit
 * knows again. One that is too long is cut. Where it could not be made, the strategy cuts without it and a diagnostic says so.
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
  if (!isText && !("error" in Object(summary))) throw invalid("summary", "a text or an object with an `error`");
  const response = fit(chat, { ...args, phase: "finish", ...(isText && { summaryText: summary }) });
  const failed = response.report.diagnostics.find(({ code }) => code === "summary_failed");
  if (failed && !isText) failed.message += `: ${reasonOf(summary.error)}`;
  return resultOf(chat as Chat, response);
}

/**
 * Fits a chat and has what is cut summarised. Where the summariser throws, the strategy cuts without it and the diagnostic
 * `summary_failed` says why.
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
 * How many tokens a chat is as it stands, in any format: the total that {@link fitMessages} reports where it changes nothing.
 * With `perMessage`, `perName` or `perRequest` it is a chat of OpenAI's that is nothing but texts and calls.
 *
 * @throws {CtxweaveError} `vocabulary_not_loaded` where the `model` is counted by a vocabulary that is not loaded
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
 * What a chat costs, message by message and part by part: each text, call, result, thought and image with its tokens, where it
 * stands, and of a result its call. Together it is what {@link countChatTokens} gives.
 *
 * @throws {CtxweaveError} `vocabulary_not_loaded` where the `model` is counted by a vocabulary that is not loaded
 */
export function measureMessages<Chat extends AnyChat>(
  chat: Chat,
  options: ReadonlyData<CountMessagesOptions> = {},
): MeasuredMessages {
  return callChat("measureMessages", chat, { options }) as MeasuredMessages;
}

/**
 * The same chat in another format. What the target cannot say is a diagnostic, and stands there as a text where that is
 * possible. Where the format is the same, these are the very messages. Bytes become base64. The chat is never changed.
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
 * A chat as a Loom tree, a node a message, to be assembled under a budget, branched, or kept.
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

/** The chat and the options of a plan; kept apart, so that changing the plan has no effect. */
const planned = new WeakMap<object, [chat: AnyChat, args: object]>();

/** A fit as the module returns it. */
interface FitResponse {
  /** Missing if all messages are unchanged. */
  messages?: Entry[];
  report: FitReport;
  state: FitState;
  summarize?: Omit<SummaryInput, "messages"> & { indices: number[] };
}

function fit(chat: AnyChat, args: object): FitResponse {
  return callChat("fitMessages", chat, args) as FitResponse;
}

/** Calls a function that takes a chat. Its binary data stays outside the module, unless it is to be converted. */
function callChat(name: string, chat: AnyChat, args: object, binary: Binary = "sizes"): unknown {
  return callJson(name, { messages: plainChat(chat), ...args }, { binary });
}

/** The options, with the indices of the messages that the caller's function pins. */
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
  const messages = messagesOf(chat);
  const fitted = entries?.map((entry) => messageAt(entry, messages)) ?? messages.slice();
  return { messages: withMessages(chat, fitted) as Fitted<Chat>, report, state };
}
