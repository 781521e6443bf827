import { convertMessages, fitMessages } from "ctxweave/chat";
import type { ChatFormat, CountMessagesOptions } from "ctxweave/chat";
import { partId, SYSTEM, toolId } from "./items.js";
import { at, only, pathAlone, put, without, type Part, type Read } from "./parts.js";
import { messagesOf, withMessages, withoutSystem, withTools, toolsOf } from "./request.js";

/** A user's edit of an item: excluded, its result cleared, or shortened to a number of tokens. */
export type Edit = "exclude" | "clear" | { shorten: number };

/** The user's edits of a request, by item id, and the pinned messages. */
export interface Marks {
  edits: Readonly<Record<string, Edit>>;
  pinned: readonly number[];
}

export const NO_MARKS: Marks = { edits: {}, pinned: [] };

export interface Marked {
  request: unknown;
  /** The index of each remaining message among the original ones. */
  places: readonly number[];
  /** Index of the first changed message among the original ones; undefined if none was changed. */
  firstChanged?: number;
}

/** Applies the edits to the request. The fit then removes halves of calls. */
export function applyMarks(
  request: unknown,
  messages: readonly Read[],
  { edits }: Marks,
  options: CountMessagesOptions & { format: ChatFormat },
): Marked {
  const places: number[] = [];
  const list: unknown[] = [];
  let firstChanged: number | undefined;
  for (const [place, read] of messages.entries()) {
    const next = edited(messages, place, edits, options);
    if (next !== read.message) firstChanged ??= place;
    if (next === undefined) continue;
    places.push(place);
    list.push(next);
  }
  let marked =
    list.length === messagesOf(request).length && firstChanged === undefined ? request : withMessages(request, list);
  if (edits[SYSTEM] === "exclude") marked = withoutSystem(marked);
  if (toolsOf(request).some((_, place) => edits[toolId(place)] === "exclude"))
    marked = withTools(marked, (place) => edits[toolId(place)] !== "exclude");
  // Anything before the messages changes the whole prompt.
  if (edits[SYSTEM] || Object.keys(edits).some((id) => id.startsWith("tool-"))) firstChanged = 0;
  return { request: marked, places, ...(firstChanged === undefined ? {} : { firstChanged }) };
}

function edited(
  messages: readonly Read[],
  place: number,
  edits: Marks["edits"],
  options: CountMessagesOptions & { format: ChatFormat },
): unknown {
  const { message, parts } = messages[place] as Read;
  const edit = (part: number): Edit | undefined => edits[partId(place, part)];
  if (!parts.some((_, part) => edit(part))) return message;
  let next = message;
  for (const [number, part] of parts.entries()) {
    const what = edit(number);
    if (what === undefined || what === "exclude") continue;
    const maxTokens = typeof what === "object" ? what.shorten : undefined;
    next = put(next, part.path, smaller(messages, place, part, maxTokens, options));
  }
  const gone = parts.filter((_, number) => edit(number) === "exclude");
  return gone.length === parts.length ? undefined : without(next, gone);
}

/** A part shortened by the package, or cleared if no length is given, in a separate message. */
function smaller(
  messages: readonly Read[],
  place: number,
  part: Part,
  maxTokens: number | undefined,
  options: CountMessagesOptions & { format: ChatFormat },
): unknown {
  const { message, parts } = messages[place] as Read;
  const alone = only(message, parts, part);
  try {
    // Only a result with a call can be edited as an old one.
    const call = part.call && messages[part.call.index];
    const called = call?.parts[part.call?.part ?? 0];
    // Some vendors reject a chat that begins with the model's turn, and the package would repair it.
    const begin = call && called ? [turn("user", options.format), only(call.message, call.parts, called)] : [];
    // The package edits only results that the model has read.
    const end = part.kind === "result" ? [turn("assistant", options.format)] : [];
    const list = [...begin, alone, ...end];
    const toolResults = { keepLast: 0, ...(maxTokens === undefined ? {} : { maxTokens }) };
    const { messages: shorter } = fitMessages(
      list,
      part.kind === "result"
        ? { ...options, repair: "off", maxTokens: 1e9, edits: { when: "always", toolResults } }
        : // In addition to its text a message costs 3 tokens and its role, a request 3.
          { ...options, repair: "off", maxTokens: (maxTokens ?? 0) + 7 },
    );
    if (shorter.length === list.length) return at(shorter[begin.length], pathAlone(part));
  } catch {
    // Content that cannot be shortened, such as a system message, is kept.
  }
  return at(message, part.path);
}

/** A short turn. */
function turn(role: "assistant" | "user", format: ChatFormat): unknown {
  return convertMessages([{ role, content: "." }], { from: "generic", to: format }).messages.at(-1);
}

/** The marks that still apply after the request's text was changed: those of unchanged messages. */
export function keptMarks({ edits, pinned }: Marks, before: readonly unknown[], after: readonly unknown[]): Marks {
  const same = (place: number): boolean =>
    place < after.length && JSON.stringify(before[place]) === JSON.stringify(after[place]);
  return {
    edits: Object.fromEntries(
      Object.entries(edits).filter(([id]) => !/^\d/u.test(id) || same(Number.parseInt(id, 10))),
    ),
    pinned: pinned.filter(same),
  };
}
