/** Chats, fitted to their limits. */

import { CtxweaveError } from "../error.js";
import { callJson } from "../json.js";
import { reasonOf } from "../source.js";
import type {
  CountMessagesOptions,
  FitOptions,
  FitReport,
  FitResult,
  FitState,
  MeasuredMessages,
  Fitted,
  MessageOf,
  PlannedFit,
  Summarize,
  SummaryInput,
} from "../types/chat.js";
import type { DriverOptions, ReadonlyData } from "../types/common.js";
import { raceAbort } from "./abort.js";
import { checkedOptions as knownOptions, invalid } from "./checked.js";
import {
  addedMessage,
  type AnyChat,
  type Entry,
  listOf,
  messageOf,
  type Pinned,
  pinnedBy,
  plainChat,
  withList,
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
  messages: Chat,
  options: ReadonlyData<FitOptions<MessageOf<Chat>>>,
): FitResult<Fitted<Chat>> {
  return resultOf(messages, answerOf(messages, checkedOptions(messages, options)));
}

/**
 * The same, where what is cut is to be replaced by a summary: either it fits, or `input` has to be summarised and
 * {@link finishFit} be given the `state` and the summary.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function planFit<Chat extends AnyChat>(
  messages: Chat,
  options: ReadonlyData<FitOptions<MessageOf<Chat>>>,
): PlannedFit<Chat> {
  const checked = checkedOptions(messages, options);
  const answer = answerOf(messages, checked, { phase: "plan" });
  if (!answer.summarize) return { status: "ready", result: resultOf(messages, answer) };
  const { indices, ...rest } = answer.summarize;
  const list = listOf(messages).slice() as MessageOf<Chat>[];
  const state = {} as FitState<Chat>;
  // While the summary is made the conversation may go on in the caller's own list.
  planned.set(state, [withList(messages, list) as AnyChat, checked]);
  return {
    status: "summarize",
    input: { ...rest, messages: indices.map((index) => list[index] as MessageOf<Chat>) },
    state: Object.freeze(state),
  };
}

/**
 * Finishes what {@link planFit} began: the summary stands where messages were cut, in a message of its own that a later fit
 * knows again. One that is too long is cut. Where it could not be made, the strategy cuts without it and a diagnostic says so.
 *
 * @throws {CtxweaveError} `invalid_input` for an empty summary
 */
export function finishFit<Chat extends AnyChat>(
  state: FitState<Chat>,
  summary: string | { readonly error: unknown },
): FitResult<Fitted<Chat>> {
  const [messages, options] = planned.get(state) ?? [];
  if (messages === undefined || options === undefined) throw invalid("state", "the `state` that `planFit` gave");
  const isText = typeof summary === "string";
  if (!isText && !("error" in Object(summary))) throw invalid("summary", "a text or an object with an `error`");
  const answer = answerOf(messages, options, { phase: "finish", ...(isText ? { summaryText: summary } : {}) });
  const failed = answer.report.diagnostics.find(({ code }) => code === "summary_failed");
  if (failed && !isText) failed.message += `: ${reasonOf(summary.error)}`;
  return resultOf(messages as Chat, answer);
}

/**
 * Fits a chat and has what is cut summarised. Where the summariser throws, the strategy cuts without it and the diagnostic
 * `summary_failed` says why.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md; the signal's reason when it is aborted
 */
export async function fitMessagesWith<Chat extends AnyChat>(
  messages: Chat,
  options: ReadonlyData<FitOptions<MessageOf<Chat>>>,
  summarize: Summarize<MessageOf<Chat>>,
  driver: DriverOptions = {},
): Promise<FitResult<Fitted<Chat>>> {
  const { signal } = knownOptions(driver, ["signal"], "driver");
  signal?.throwIfAborted();
  if (typeof summarize !== "function") throw invalid("summarize", "a function");
  const begun = planFit(messages, options);
  if (begun.status === "ready") return begun.result;
  return finishFit(begun.state, await summaryOf(begun.input, summarize, signal));
}

/**
 * How many tokens a chat is as it stands, in any format: the total that {@link fitMessages} reports where it changes nothing.
 * With `perMessage`, `perName` or `perRequest` it is a chat of OpenAI's that is nothing but texts and calls.
 *
 * @throws {CtxweaveError} `vocabulary_not_loaded` where the `model` is counted by a vocabulary that is not loaded
 */
export function countChatTokens<Chat extends AnyChat>(
  messages: Chat,
  options: ReadonlyData<CountMessagesOptions> | ChatCountOptions = {},
): number {
  if (["perMessage", "perName", "perRequest"].some((name) => name in Object(options))) {
    return countTexts(messages as readonly ChatMessage[], options as ChatCountOptions);
  }
  return callJson("countMessages", { messages: plainChat(messages), options }, "sizes") as number;
}

/**
 * What a chat costs, message by message and part by part: each text, call, result, thought and image with its tokens, where it
 * stands, and of a result its call. Together it is what {@link countChatTokens} gives.
 *
 * @throws {CtxweaveError} `vocabulary_not_loaded` where the `model` is counted by a vocabulary that is not loaded
 */
export function measureMessages<Chat extends AnyChat>(
  messages: Chat,
  options: ReadonlyData<CountMessagesOptions> = {},
): MeasuredMessages {
  return callJson("measureMessages", { messages: plainChat(messages), options }, "sizes") as MeasuredMessages;
}

async function summaryOf<Message>(
  input: SummaryInput<Message>,
  summarize: Summarize<Message>,
  signal: DriverOptions["signal"],
): Promise<string | { error: unknown }> {
  try {
    return await raceAbort(signal ? summarize(input, { signal }) : summarize(input), signal);
  } catch (error) {
    signal?.throwIfAborted();
    return { error };
  }
}

/** What a state stands for; apart from it, so that it is of no use to change it. */
const planned = new WeakMap<object, [chat: AnyChat, options: object]>();

/** What the wasm says of a chat. */
interface Answer {
  /** What stands where: absent where all is as it was. */
  messages?: Entry[];
  report: FitReport;
  summarize?: Omit<SummaryInput, "messages"> & { indices: number[] };
}

function answerOf(chat: AnyChat, options: object, phase: object = {}): Answer {
  return callJson("fitMessages", { messages: plainChat(chat), options, ...phase }, "sizes") as Answer;
}

/** The options, with the indices of what is pinned. */
function checkedOptions(chat: AnyChat, options: object): object {
  if (typeof options !== "object" || options === null) throw invalid("options", "an object");
  try {
    const { pinned } = options as { pinned?: unknown };
    return typeof pinned === "function"
      ? { ...options, pinned: pinnedBy(pinned as Pinned, listOf(chat)) }
      : { ...options };
  } catch (thrown) {
    if (thrown instanceof CtxweaveError) throw thrown;
    // A getter of the caller's, of the messages or the options.
    return options;
  }
}

function resultOf<Chat extends AnyChat>(chat: Chat, { messages: entries, report }: Answer): FitResult<Fitted<Chat>> {
  const list = listOf(chat);
  const added = (message: object): unknown => addedMessage(message, list);
  const fitted = entries?.map((entry) => messageOf(entry, list, added)) ?? list.slice();
  return { messages: withList(chat, fitted) as Fitted<Chat>, report };
}
