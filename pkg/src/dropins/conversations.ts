/** The conversations of a hook: the state of each, and chats for the newest. */

import { raceAbort } from "../api/abort.js";
import { plainMessage } from "../api/messages.js";
import type { Chat } from "../entries/chat.js";
import { guarded } from "../source.js";
import type { FitState } from "../types/chat.js";
import type { PlatformAbortSignal } from "../types/platform.js";

/** Stores the states of conversations. A key is a hash of messages; without a state the fit starts fresh. */
export interface FitStates {
  get(key: string): FitState | undefined | Promise<FitState | undefined>;
  set(key: string, state: FitState): void | Promise<void>;
}

/** Maximum number of states in memory. */
const MAX_STATES = 1_000;
/** Maximum number of chats in the module's memory. */
const MAX_CHATS = 16;
/** Maximum number of new messages since the last fit, for a host's store: each length is a lookup. */
const MAX_QUESTIONS = 32;

interface KnownChat {
  chat: Chat;
  length: number;
  options: string;
}

export class Conversations {
  readonly #states: FitStates;
  readonly #questions: number;
  readonly #chats = new Newest<KnownChat>(MAX_CHATS, ({ chat }) => chat.free());

  constructor(states: FitStates | undefined) {
    this.#states = states ?? new Newest<FitState>(MAX_STATES);
    this.#questions = states ? MAX_QUESTIONS : Infinity;
  }

  /** The state of the longest known prefix of these messages. */
  async state(keys: readonly string[], signal: PlatformAbortSignal | undefined): Promise<FitState | undefined> {
    for (let length = keys.length, asked = 0; length > 0 && asked < this.#questions; length -= 1, asked += 1) {
      const state = await raceAbort(this.#states.get(keys[length - 1] as string), signal);
      if (state) return state;
    }
    return undefined;
  }

  async keep(keys: readonly string[], state: FitState, signal: PlatformAbortSignal | undefined): Promise<void> {
    const key = keys.at(-1);
    if (key !== undefined) await raceAbort(this.#states.set(key, state), signal);
  }

  /** Takes the chat with the longest prefix of these messages. It is exclusive until it is put back. */
  takeChat(keys: readonly string[], options: string): KnownChat | undefined {
    for (let length = keys.length; length > 0; length -= 1) {
      const known = this.#chats.take(`${keys[length - 1]} ${options}`);
      if (known) return known;
    }
    return undefined;
  }

  putChat(keys: readonly string[], options: string, chat: Chat): void {
    const key = keys.at(-1);
    if (key === undefined) chat.free();
    else this.#chats.set(`${key} ${options}`, { chat, length: keys.length, options });
  }
}

/** A map that evicts the least recently used entries. */
class Newest<T> {
  readonly #entries = new Map<string, T>();
  readonly #most: number;
  readonly #drop: (value: T) => void;

  constructor(most: number, drop: (value: T) => void = () => {}) {
    this.#most = most;
    this.#drop = drop;
  }

  get(key: string): T | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  take(key: string): T | undefined {
    const value = this.#entries.get(key);
    this.#entries.delete(key);
    return value;
  }

  set(key: string, value: T): void {
    const before = this.take(key);
    if (before !== undefined && before !== value) this.#drop(before);
    this.#entries.set(key, value);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#most && oldest !== undefined) this.#drop(this.take(oldest) as T);
  }
}

/** Cache marks and the hosts' notes on messages: they do not affect the identity of a message. */
const IGNORED = new Set(["cache_control", "cacheControl", "cachePoint", "response_metadata", "usage_metadata"]);

const hashes = new WeakMap<object, string>();

/** One key for each prefix of the messages. */
export function conversationKeys(messages: readonly unknown[]): string[] {
  let key = "";
  const next = (message: unknown, at: number): string => {
    key = hashOf(key + guarded(`messages[${at}]`, () => messageHash(message)));
    return key;
  };
  return guarded("messages", () => Array.from(messages, next));
}

function messageHash(message: unknown): string {
  const known = typeof message === "object" && message !== null ? hashes.get(message) : undefined;
  if (known !== undefined) return known;
  const text = JSON.stringify(plainMessage(message), (name, value: unknown) => (IGNORED.has(name) ? undefined : value));
  const hash = hashOf(text ?? "");
  if (typeof message === "object" && message !== null) hashes.set(message, hash);
  return hash;
}

/** A 64-bit hash of a text, as two multiplicative hashes. */
function hashOf(text: string): string {
  let [one, other] = [0x9e3779b9, 0x85ebca6b];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul((other << 5) ^ (other >>> 27) ^ unit, 0x27d4eb2d);
  }
  return `${(one >>> 0).toString(36)}.${(other >>> 0).toString(36)}`;
}
