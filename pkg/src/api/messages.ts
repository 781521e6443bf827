/** Messages of a chat, converted on their way in and out. */

import { CtxweaveError } from "../error.js";
import { MAX_LIST_ITEMS } from "../sizes.js";
import { reasonOf } from "../source.js";
import type { ChatContainer } from "../types/chat.js";
import { checkedList } from "./checked.js";

/** A chat as input. */
export type AnyChat = readonly unknown[] | ChatContainer;

/** A message of the result: its index in the input, its index with changes, or an added message. */
export type Entry = number | [index: number, changes: Change[]] | object;

/** Change of the value at a path within a message: a new value, or removal if it is missing. */
export type Change = [path: Path] | [path: Path, value: unknown];

export type Path = readonly (string | number)[];

const langChain = Symbol.for("langchain.message");

/** Whether `message` is an instance of a LangChain message class. */
export function isLangChain(message: unknown): message is object {
  if (typeof message !== "object" || message === null) return false;
  return langChain in message || typeof (message as { getType?: unknown }).getType === "function";
}

/** The relevant fields of an instance. */
const FIELDS = [
  "content",
  "name",
  "id",
  "role",
  "tool_calls",
  "tool_call_chunks",
  "invalid_tool_calls",
  "tool_call_id",
  "status",
  "additional_kwargs",
  "response_metadata",
];

/** Converts an instance into plain data; returns anything else as it is. */
export function plainMessage(message: unknown): Record<string, unknown> {
  const given = message as Record<string, unknown> & { getType?: () => unknown };
  if (!isLangChain(message)) return given;
  const plain: Record<string, unknown> = { type: given.getType?.() ?? given["type"] };
  for (const field of FIELDS) if (field in given) plain[field] = given[field];
  return plain;
}

/** Converts instances into plain data. */
export function plainMessages(messages: readonly unknown[]): readonly unknown[] {
  try {
    // `writeRequest` rejects such a list without visiting its items.
    if (messages.length > MAX_LIST_ITEMS) return messages;
    return messages.some(isLangChain) ? messages.map(plainMessage) : messages;
  } catch {
    // `writeRequest` reports whose getter threw.
    return messages;
  }
}

export type Pinned = (message: unknown, index: number) => unknown;

/** The indices of the messages for which the caller's function returns true; the first message has the index `from`. */
export function pinnedBy(pinned: Pinned, messages: readonly unknown[], from = 0): number[] {
  checkedList(messages, "messages");
  const indices = Array.from(messages.keys(), (at) => from + at);
  return indices.filter((index) => {
    try {
      return pinned(messages[index - from], index);
    } catch (cause) {
      const message = `\`options.pinned\` threw for message ${index}: ${reasonOf(cause)}`;
      throw new CtxweaveError("invalid_input", message, { path: "options.pinned" }, { cause });
    }
  });
}

/** Resolves an entry to a message. */
export function messageAt(entry: Entry, messages: readonly unknown[]): unknown {
  if (typeof entry === "number") return messages[entry];
  return Array.isArray(entry) ? copyWith(messages[entry[0]], entry[1]) : addedMessage(entry, messages);
}

/**
 * Creates a marker or a summary. Among instances it becomes an instance too, copied from a human message; otherwise it
 * is a plain object.
 */
function addedMessage(message: object, messages: readonly unknown[]): unknown {
  const human = messages.find((it) => isLangChain(it) && plainMessage(it)["type"] === "human");
  if (human === undefined) return message;
  const { content } = message as { content: unknown };
  const none: Change[] = ["id", "name"].filter((key) => key in (human as object)).map((key) => [[key]]);
  return copyWith(human, [[["content"], content], [["additional_kwargs"], {}], [["response_metadata"], {}], ...none]);
}

/**
 * Copies a value with changes. Only objects on the path to a change are copied, with prototype and properties; all
 * others are shared.
 */
export function copyWith<T>(original: T, changes: readonly Change[]): T {
  const fresh = new Set<unknown>();
  const within = (holder: Holder, key: string | number): Holder => {
    const inner = holder[key] as Holder;
    if (fresh.has(inner)) return inner;
    const copy = copied(inner);
    fresh.add(copy);
    put(holder, key, copy);
    return copy;
  };
  const top = { original } as unknown as Holder;
  const place = (path: Path): [Holder, string | number] => {
    let holder = within(top, "original");
    for (const key of path.slice(0, -1)) holder = within(holder, key);
    return [holder, path.at(-1) as string | number];
  };
  const copy = within(top, "original");
  for (const [path, ...value] of changes) if (value.length > 0) put(...place(path), value[0]);
  // LangChain serializes an instance from its constructor arguments, and a host may set its id there.
  if (isLangChain(copy) && "lc_kwargs" in copy) within(copy, "lc_kwargs");
  // Backwards, so that earlier indices stay valid.
  for (const [path, ...value] of changes.slice().reverse()) {
    if (value.length > 0) continue;
    const [holder, key] = place(path);
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
    if (holder === copy && "lc_kwargs" in holder) delete (holder["lc_kwargs"] as Holder)[key];
  }
  return copy as T;
}

type Holder = Record<string | number, unknown>;

function copied(value: Holder): Holder {
  if (Array.isArray(value)) return value.slice() as unknown as Holder;
  const properties = Object.getOwnPropertyDescriptors(value);
  for (const property of Object.values(properties)) {
    // The original may be frozen.
    property.configurable = true;
    if ("value" in property) property.writable = true;
  }
  return Object.create(Object.getPrototypeOf(value) as object | null, properties) as Holder;
}

/** Not an assignment: the property may be an accessor, and `__proto__` is an ordinary key. */
function put(holder: Holder, key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

/** The messages of a chat: the list, or the list in the container. */
export function messagesOf(chat: AnyChat): readonly unknown[] {
  const messages: unknown = Array.isArray(chat) ? chat : (chat as Record<string, unknown> | null)?.[keyOf(chat)];
  return Array.isArray(messages) ? messages : [];
}

function keyOf(chat: AnyChat): string {
  const fields = Object(chat) as object;
  return ["contents", "messages", "input"].find((field) => field in fields) ?? "messages";
}

/** The chat with other messages. */
export function withMessages(chat: AnyChat, messages: readonly unknown[]): unknown {
  if (Array.isArray(chat)) return messages;
  return typeof chat === "object" && chat !== null ? copyWith(chat, [[[keyOf(chat)], messages]]) : chat;
}

/** The chat with LangChain's instances as plain data. */
export function plainChat(chat: AnyChat): unknown {
  try {
    const messages = messagesOf(chat);
    const plain = plainMessages(messages);
    return plain === messages ? chat : withMessages(chat, plain);
  } catch {
    // `writeRequest` reports whose getter threw.
    return chat;
  }
}
