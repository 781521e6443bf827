/**
 * The open chat, kept as a `Chat` of the package while its texts are edited: only edited messages are counted again.
 * Every other change counts the whole chat.
 */

import { Chat, fitMessages, measureMessages } from "ctxweave/chat";
import type { ChatOptions, FitOptions, FitReport, FitResult } from "ctxweave/chat";
import { isSame } from "../../ui/same.js";
import { countRequest, readMessages } from "./items.js";
import { readParts, type Read } from "./parts.js";
import { messagesOf, systemOf, toolList, withMessages, type Request } from "./request.js";

export type Counting = Pick<FitOptions, "model" | "tokenizer">;

/** A request, with its parts and its token costs. */
export interface Counted {
  request: Request;
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
export function countChat(request: Request, counting: Counting): Counted {
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
  return (resident = counted);
}

/** A message without the texts that may differ. Other fields can change the format, or connect messages. */
const withoutTexts = (message: unknown): string =>
  JSON.stringify(message, (field, value: unknown) =>
    typeof value === "string" && (field === "content" || field === "text") ? "" : value,
  );

function withEditedTexts(before: Resident, request: Request, counting: Counting): Resident | undefined {
  const [old, next] = [messagesOf(before.request), messagesOf(request)];
  const isComparable =
    old.length === next.length &&
    isSame(before.counting, counting) &&
    isSame(withMessages(before.request, []), withMessages(request, []));
  if (!isComparable) return undefined;
  const edited: number[] = [];
  for (const [place, message] of next.entries()) {
    if (isSame(old[place], message)) continue;
    if (withoutTexts(old[place]) !== withoutTexts(message)) return undefined;
    edited.push(place);
  }
  const { format } = before.report;
  // Dropped with the rest if a call throws.
  const chat = (before.chat ??= chatFor(request, { maxTokens: 1e9, format, ...counting }));
  if (chat.length === 0) chat.append(...old);
  if (!before.isVerified && chat.tokens !== before.report.tokens.total) return undefined;
  for (const place of edited) chat.replace(place, next[place]);
  const report = reportOf(chat.fit({ maxTokens: 1e9, repair: "off" }).report);
  if (report.format !== before.report.format) return undefined;
  return { request, read: readAgain(before, request, edited, report), report, counting, chat, isVerified: true };
}

/** A `Chat` without messages for those of a request. */
export function chatFor(request: Request, options: ChatOptions): Chat {
  const tools = toolList(request);
  return new Chat({ ...options, system: systemOf(request), ...(tools.length > 0 ? { tools } : {}) });
}

/** The report of a single fit: there is no earlier request to compare with. */
function reportOf({ prefix: _, ...report }: FitReport): FitReport {
  return report;
}

/** Parts of edited messages that consist of text are measured alone; others, with their neighbors, all again. */
function readAgain(before: Resident, request: Request, edited: readonly number[], report: FitReport): Read[] {
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

/** Fits a request, which is returned unchanged if it is within the limit. */
export function fitChat(request: Request, options: FitOptions): Pick<FitResult<Request>, "messages" | "report"> {
  const now = resident;
  // A `Chat` cuts in steps, so a chat over the limit is fitted whole.
  if (now?.chat && now.request === request && now.report.tokens.total <= (options.maxTokens ?? 0)) {
    const { model: _, tokenizer: __, format: ___, ...rest } = options;
    try {
      const { report } = now.chat.fit(rest);
      if (!report.truncated) return { messages: request, report: reportOf(report) };
    } catch {
      // The whole fit reports the error.
    }
  }
  return fitMessages(request, options);
}
