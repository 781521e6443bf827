import { countChatTokens, fitMessages, measureMessages } from "ctxweave/chat";
import type { ChatFormat, CountMessagesOptions, FitReport } from "ctxweave/chat";
import { at, readParts, textOf, type Kind, type Read } from "./parts.js";
import { chatOf, messagesOf, systemOf, toolsOf } from "./request.js";

/** Something that occupies the window: a part of a message, the system context, a tool definition, or the overhead. */
export interface Item {
  id: string;
  kind: Kind;
  /** The author, or the tool. */
  name: string;
  tokens: number;
  text: string;
  /** The message that it belongs to. */
  message?: number;
}

export const SYSTEM = "system";
export const OVERHEAD = "overhead";
export const toolId = (place: number): string => `tool-${place}`;
export const partId = (message: number, part: number): string => `${message}.${part}`;

/** Options for counting single items: the detected format and the current tokenizer. */
type Counting = CountMessagesOptions & { format: ChatFormat };

/** The messages of a request, each with its parts and their costs. */
export function readMessages(request: unknown, options: Counting): Read[] {
  const measured = measureMessages(chatOf(request).chat, options);
  return readParts(messagesOf(request), measured);
}

/**
 * Everything in a request that costs tokens, with its cost; the sum is the cost of the request. Costs of a message
 * besides its parts, such as its role, are overhead.
 */
export function itemsOf(request: unknown, messages: readonly Read[], report: FitReport, options: Counting): Item[] {
  const items: Item[] = [];
  const system = systemOf(request);
  if (system !== undefined) {
    const inList = messages.reduce((sum, { role, tokens }) => sum + (role === "system" ? tokens : 0), 0);
    const tokens = Math.max(report.tokens.system - inList, 0) || report.tokens.system;
    items.push({ id: SYSTEM, kind: "system", name: "system", tokens, text: textOf(system) });
  }
  const tools = toolsOf(request);
  const alone = tools.map((tool) => toolCost(tool.alone, options));
  const sum = alone.reduce((all, tokens) => all + tokens, 0) || 1;
  for (const [place, { name, value }] of tools.entries()) {
    // The vendor's fixed cost for tools is divided among them. Rounded sums add up to the whole.
    const upTo = (end: number): number =>
      Math.round((alone.slice(0, end).reduce((all, tokens) => all + tokens, 0) / sum) * report.tokens.tools);
    const tokens = upTo(place + 1) - upTo(place);
    items.push({ id: toolId(place), kind: "tool", name, tokens, text: JSON.stringify(value, null, 1) });
  }
  for (const [message, { message: value, parts }] of messages.entries()) {
    for (const [place, { kind, name, tokens, path }] of parts.entries()) {
      if (tokens === 0) continue;
      const id = partId(message, place);
      const text = kind === "image" ? "" : textOf(at(value, path));
      items.push({ id, kind, name, tokens, text, message });
    }
  }
  const overhead = report.tokens.total - items.reduce((sum, { tokens }) => sum + tokens, 0);
  if (overhead > 0) items.push({ id: OVERHEAD, kind: "overhead", name: "overhead", tokens: overhead, text: "" });
  return items;
}

function toolCost(tools: unknown[], options: Counting): number {
  return countChatTokens([], { ...options, tools }) - countChatTokens([], options);
}

/** Counts a whole request, without a cut. */
export function countRequest(request: unknown, options: CountMessagesOptions): FitReport {
  const { chat, others } = chatOf(request);
  return fitMessages(chat as unknown[], { maxTokens: 1e9, repair: "off", ...options, ...others }).report;
}
