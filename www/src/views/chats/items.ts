import { countChatTokens, fitMessages } from "ctxweave/chat";
import type { ChatFormat, CountMessagesOptions, FitReport } from "ctxweave/chat";
import { at, only, partsOf, textOf, type Kind, type Part } from "./parts.js";
import { chatOf, messagesOf, systemOf, toolsOf } from "./request.js";

/** One of the things that fill the window: a part of a message, the system context, or the definition of a tool. */
export interface Item {
  id: string;
  kind: Kind;
  /** Who says it, or the tool that it is of. */
  name: string;
  tokens: number;
  text: string;
  /** The message that it is of. */
  message?: number;
}

/** A message and its parts. */
export interface Read {
  message: unknown;
  parts: readonly Part[];
}

export const SYSTEM = "system";
export const toolId = (place: number): string => `tool-${place}`;
export const partId = (message: number, part: number): string => `${message}.${part}`;

/** What is counted once: by the format that was found and the tokenizer that is set. */
type Counting = CountMessagesOptions & { format: ChatFormat };

export const readMessages = (request: unknown): Read[] =>
  messagesOf(request).map((message) => ({ message, parts: partsOf(message) }));

/**
 * Everything that costs tokens in a request, with its cost. The package says what each message costs; of a message with several
 * parts each is counted by itself, and what they have in common, as the role, is left to the overhead.
 */
export function itemsOf(request: unknown, messages: readonly Read[], report: FitReport, options: Counting): Item[] {
  const names = toolNames(messages);
  const items: Item[] = [];
  const system = systemOf(request);
  const inList = messages.reduce(
    (sum, { parts }, place) => sum + (parts[0]?.kind === "system" ? (report.messages[place]?.tokens ?? 0) : 0),
    0,
  );
  if (system !== undefined) {
    const tokens = Math.max(report.tokens.system - inList, 0) || report.tokens.system;
    items.push({ id: SYSTEM, kind: "system", name: "system", tokens, text: textOf(system) });
  }
  const tools = toolsOf(request);
  const alone = tools.map((tool) => toolCost(tool.alone, options));
  const sum = alone.reduce((all, tokens) => all + tokens, 0) || 1;
  for (const [place, { name, value }] of tools.entries()) {
    // What the vendor adds for tools as such is shared out among them.
    const tokens = Math.round(((alone[place] ?? 0) / sum) * report.tokens.tools);
    items.push({ id: toolId(place), kind: "tool", name, tokens, text: JSON.stringify(value, null, 1) });
  }
  for (const [message, { message: value, parts }] of messages.entries()) {
    const whole = report.messages[message]?.tokens ?? 0;
    const costs = parts.length === 1 ? [whole] : shares(value, parts, whole, options);
    for (const [place, part] of parts.entries()) {
      const name = part.name || (part.callId === undefined ? "" : (names.get(part.callId) ?? ""));
      items.push({
        id: partId(message, place),
        kind: part.kind,
        name: name || part.kind,
        tokens: costs[place] ?? 0,
        text: part.kind === "image" ? "" : textOf(at(value, part.path)),
        message,
      });
    }
  }
  return items;
}

/** Results mostly do not say of which tool they are; their calls do. */
function toolNames(messages: readonly Read[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { parts } of messages) {
    for (const { kind, name, callId } of parts) if (kind === "call" && name && callId) names.set(callId, name);
  }
  return names;
}

/** Each part alone costs what it has and what the message has: n of them n times the latter more than all at once. */
function shares(message: unknown, parts: readonly Part[], whole: number, options: Counting): number[] {
  try {
    const request = countChatTokens([], options);
    const each = parts.map((part) => countChatTokens([only(message, parts, part)], options) - request);
    const common = Math.max((each.reduce((sum, one) => sum + one, 0) - whole) / (parts.length - 1), 0);
    return each.map((tokens) => Math.max(Math.round(tokens - common), 0));
  } catch {
    // A part that cannot stand alone in its format: each is as large as its text.
    const lengths = parts.map((part) => JSON.stringify(at(message, part.path))?.length ?? 0);
    const all = lengths.reduce((sum, one) => sum + one, 0) || 1;
    return lengths.map((length) => Math.round((length / all) * whole));
  }
}

function toolCost(tools: unknown[], options: Counting): number {
  return countChatTokens([], { ...options, tools }) - countChatTokens([], options);
}

/** The whole request, counted: nothing is cut. */
export function countRequest(request: unknown, options: CountMessagesOptions): FitReport {
  const { chat, beside } = chatOf(request);
  return fitMessages(chat as unknown[], { maxTokens: 1e9, repair: "off", ...options, ...beside }).report;
}
