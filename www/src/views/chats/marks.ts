import { convertMessages, fitMessages } from "ctxweave/chat";
import type { ChatFormat } from "ctxweave/chat";
import { isSame } from "../../ui/same.js";
import { partId, SYSTEM, toolId, type ItemCounting } from "./items.js";
import { at, only, pathAlone, put, without, type Part, type Read } from "./parts.js";
import { withMessages, withoutSystem, withTools, toolsOf, type Request } from "./request.js";

/** A user's edit of an item: excluded, its result cleared, or shortened to a number of tokens. */
export type Edit = "exclude" | "clear" | { shorten: number };

/** The user's edits of a request, by item id, and the pinned messages. */
export interface Marks {
  edits: Readonly<Record<string, Edit>>;
  pinned: readonly number[];
}

export const NO_MARKS: Marks = { edits: {}, pinned: [] };

export interface Marked {
  request: Request;
  /** The index of each remaining message among the original ones. */
  places: readonly number[];
  /** Index of the first changed message among the original ones; undefined if none was changed. */
  firstChanged: number | undefined;
}

/** Applies the edits to the request. The fit then removes halves of calls. */
export function applyMarks(
  request: Request,
  messages: readonly Read[],
  { edits }: Marks,
  options: ItemCounting,
): Marked {
  const after = messages.map((_, place) => edited(messages, place, edits, options));
  const places = [...after.keys()].filter((place) => after[place] !== undefined);
  const first = after.findIndex((message, place) => message !== messages[place]?.message);
  const left = places.map((place) => after[place]);
  let marked = first < 0 ? request : withMessages(request, left);
  if (edits[SYSTEM] === "exclude") marked = withoutSystem(marked);
  if (toolsOf(request).some((_, place) => edits[toolId(place)] === "exclude"))
    marked = withTools(marked, (place) => edits[toolId(place)] !== "exclude");
  // Anything before the messages changes the whole prompt.
  const isAll = Object.keys(edits).some((id) => id === SYSTEM || id.startsWith("tool-"));
  return { request: marked, places, firstChanged: isAll ? 0 : first < 0 ? undefined : first };
}

/** A message after its edits; undefined if all of it is excluded. */
function edited(messages: readonly Read[], place: number, edits: Marks["edits"], options: ItemCounting): unknown {
  const { message, parts } = messages[place] as Read;
  const excluded: Part[] = [];
  let next = message;
  for (const [number, part] of parts.entries()) {
    const edit = edits[partId(place, number)];
    if (edit === "exclude") excluded.push(part);
    else if (edit) next = put(next, part.path, smaller(messages, place, part, edit, options));
  }
  if (excluded.length === 0) return next;
  return excluded.length === parts.length ? undefined : without(next, excluded);
}

/** A part shortened or cleared by the package, in a separate message. */
function smaller(messages: readonly Read[], place: number, part: Part, edit: Edit, options: ItemCounting): unknown {
  const { message, parts } = messages[place] as Read;
  const maxTokens = typeof edit === "object" ? edit.shorten : undefined;
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
  const same = (place: number): boolean => place < after.length && isSame(before[place], after[place]);
  return {
    edits: Object.fromEntries(
      Object.entries(edits).filter(([id]) => !/^\d/u.test(id) || same(Number.parseInt(id, 10))),
    ),
    pinned: pinned.filter(same),
  };
}
