import { fitMessages, measureMessages } from "ctxweave/chat";
import type { ChatFormat, CountMessagesOptions, FitReport } from "ctxweave/chat";
import { at, readParts, textOf, type Kind, type Read } from "./parts.js";
import { messagesOf, systemOf, toolsOf, withMessages, type Request } from "./request.js";

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
export type ItemCounting = CountMessagesOptions & { format: ChatFormat };

/** The messages of a request, each with its parts and their costs. */
export const readMessages = (request: Request, options: ItemCounting): Read[] =>
  readParts(messagesOf(request), measureMessages(request, options));

/**
 * Everything in a request that costs tokens, with its cost; the sum is the cost of the request. Costs of a message
 * besides its parts, such as its role, are overhead.
 */
export function itemsOf(request: Request, messages: readonly Read[], total: number, options: ItemCounting): Item[] {
  const items: Item[] = [];
  const outside = measureMessages(withMessages(request, []), options);
  const system = systemOf(request);
  if (system !== undefined)
    items.push({ id: SYSTEM, kind: "system", name: "system", tokens: outside.system, text: textOf(system) });
  const tools = toolsOf(request);
  const alone = tools.map((tool) => measureMessages([], { ...options, tools: tool.alone }).tools);
  const sum = alone.reduce((all, tokens) => all + tokens, 0) || 1;
  let before = 0;
  for (const [place, { name, value }] of tools.entries()) {
    // The vendor's fixed cost for tools is divided among them. Rounded sums add up to the whole.
    const share = (upTo: number): number => Math.round((upTo / sum) * outside.tools);
    const after = before + (alone[place] ?? 0);
    const tokens = share(after) - share(before);
    items.push({ id: toolId(place), kind: "tool", name, tokens, text: JSON.stringify(value, null, 1) });
    before = after;
  }
  for (const [message, { message: value, parts }] of messages.entries()) {
    for (const [place, { kind, name, tokens, path }] of parts.entries()) {
      if (tokens === 0) continue;
      const text = kind === "image" ? "" : textOf(at(value, path));
      items.push({ id: partId(message, place), kind, name, tokens, text, message });
    }
  }
  const overhead = total - items.reduce((all, { tokens }) => all + tokens, 0);
  if (overhead > 0) items.push({ id: OVERHEAD, kind: "overhead", name: "overhead", tokens: overhead, text: "" });
  return items;
}

/** Counts a whole request, without a cut. */
export const countRequest = (request: Request, options: CountMessagesOptions): FitReport =>
  fitMessages(request, { maxTokens: 1e9, repair: "off", ...options }).report;
