/**
 * The open chat, kept as a `Chat` of the package while its texts are edited: only edited messages are counted again.
 * Every other change counts the whole chat.
 */

import { Chat, fitMessages, measureMessages } from "ctxweave/chat";
import type { FitOptions, FitReport, FitResult } from "ctxweave/chat";
import { isSame } from "../../ui/same.js";
import { countRequest, readMessages } from "./items.js";
import { readParts, type Read } from "./parts.js";
import { chatOf, messagesOf, systemOf, toolList, withMessages } from "./request.js";

export type Counting = Pick<FitOptions, "model" | "tokenizer">;

/** A request, with its parts and its token costs. */
export interface Counted {
  request: unknown;
  read: Read[];
  report: FitReport;
}

interface Resident extends Counted {
  counting: Counting;
  /** Created by the first edit of a text. */
  chat?: Chat | undefined;
  /** Whether the chat counted the same as the whole request: it lacks fields of some requests. */
  isVerified?: boolean;
}

let resident: Resident | undefined;

function drop(): void {
  resident?.chat?.free();
  resident = undefined;
}

/** Counts a request. If only texts differ from the last one, only their messages are counted. */
export function countChat(request: unknown, counting: Counting): Counted {
  try {
    const edited = resident && withEditedTexts(resident, request, counting);
    if (edited) return (resident = edited);
  } catch {
    // The whole count reports the error.
  }
  drop();
  const report = countRequest(request, counting);
  const read = readMessages(request, { ...counting, format: report.format });
  const counted: Resident = { request, read, report, counting };
  resident = counted;
  return counted;
}

/** The fields whose texts may differ. Others can change the format, or connect messages. */
const isText = (field: string | undefined): boolean => field === "content" || field === "text";

function withEditedTexts(before: Resident, request: unknown, counting: Counting): Resident | undefined {
  const [old, next] = [messagesOf(before.request), messagesOf(request)];
  const isComparable =
    old.length === next.length &&
    isSame(before.counting, counting) &&
    isSame(withMessages(before.request, []), withMessages(request, []));
  if (!isComparable) return undefined;
  const edited: number[] = [];
  for (const [place, message] of next.entries()) {
    if (isSame(old[place], message)) continue;
    if (!isSame(old[place], message, isText)) return undefined;
    edited.push(place);
  }
  const chat = before.chat ?? chatWith(before, old);
  // Dropped with the rest if a call throws.
  before.chat = chat;
  if (!before.isVerified && chat.tokens !== before.report.tokens.total) return undefined;
  for (const place of edited) chat.replace(place, next[place]);
  const report = reportOf(chat.fit({ maxTokens: 1e9, repair: "off" }).report);
  if (report.format !== before.report.format) return undefined;
  return { request, read: readAgain(before, request, edited, report), report, counting, chat, isVerified: true };
}

function chatWith({ request, report, counting }: Resident, messages: readonly unknown[]): Chat {
  const system = systemOf(request);
  const tools = toolList(request);
  const chat = new Chat({
    maxTokens: 1e9,
    format: report.format,
    ...counting,
    ...(system === undefined ? {} : { system: system as string }),
    ...(tools.length > 0 ? { tools: tools as unknown[] } : {}),
  });
  chat.append(...messages);
  return chat;
}

/** The report of a single fit: there is no earlier request to compare with. */
function reportOf({ prefix: _, ...report }: FitReport): FitReport {
  return report;
}

/** Parts of edited messages that consist of text are measured alone; others, with their neighbors, all again. */
function readAgain(before: Resident, request: unknown, edited: readonly number[], report: FitReport): Read[] {
  const messages = messagesOf(request);
  const options = { ...before.counting, format: report.format };
  const read = before.read.map((one, place) => ({ ...one, message: messages[place] }));
  for (const place of edited) {
    const alone = [messages[place]];
    const [next] = readParts(alone, measureMessages(alone, options));
    const isPlain = [before.read[place], next].every((one) => one?.parts.every(({ call }) => call === undefined));
    if (!next || !isPlain) return readMessages(request, options);
    read[place] = next;
  }
  const isCounted = read.every(({ tokens }, place) => tokens === report.messages[place]?.tokens);
  return isCounted ? read : readMessages(request, options);
}

/** Fits the chat of a request, which is returned unchanged if it is within the limit. */
export function fitChat(request: unknown, options: FitOptions): Pick<FitResult<unknown[]>, "messages" | "report"> {
  const { chat, others } = chatOf(request);
  const whole = (): FitResult<unknown[]> => fitMessages(chat as unknown[], { ...options, ...others });
  const now = resident;
  if (!now?.chat || now.request !== request) return whole();
  // A `Chat` cuts in steps, so a chat over the limit is fitted whole.
  if (now.report.tokens.total > (options.maxTokens ?? 0)) return whole();
  const { model: _, tokenizer: __, format: ___, system: ____, tools: _____, ...rest } = options;
  try {
    const { report } = now.chat.fit(rest);
    return report.truncated ? whole() : { messages: chat as unknown[], report: reportOf(report) };
  } catch {
    return whole();
  }
}
