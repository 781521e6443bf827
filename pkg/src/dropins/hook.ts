/** Common code of the hooks for all hosts. */

import { asSignal, checkedSignal, raceAbort, withEither } from "../api/abort.js";
import { checkedFunction, checkedList, checkedObject, invalid } from "../api/checked.js";
import { CtxweaveError } from "../error.js";
import { guarded } from "../source.js";
import {
  type AtMostOneLimit,
  Chat,
  type FitEdits,
  type FitOptions,
  type FitReport,
  type FitResult,
  type FitSettings,
  type FitState,
  fitMessagesWith,
  init,
  type Summarize,
} from "../entries/chat.js";
import type { PlatformAbortSignal } from "../types/platform.js";
import { conversationKeys, Conversations, type FitStates } from "./conversations.js";

/**
 * How a hook fits messages. Without `maxTokens`, `contextWindow` and `model`, the limit is that of the model that the
 * host calls, which `modelInfo` then has to know.
 */
export type HookOptions<Message = unknown> = HookSettings<Message> & AtMostOneLimit;

/** All options of a hook, each optional. */
export interface HookSettings<Message = unknown> extends Omit<FitSettings<Message>, "format" | "previous" | "costs"> {
  /** Gets the report of each fit. */
  onReport?: ((report: FitReport) => void) | undefined;
  /** Summarizes removed messages, at most once per step. */
  summarize?: Summarize<Message> | undefined;
  /** Returns the messages to send after `context_too_long`. Without it the error reaches the host. */
  onTooLong?: ((error: CtxweaveError, messages: Message[]) => Message[] | Promise<Message[]>) | undefined;
  /** Keeps the states of conversations, for hosts whose memory does not last. Defaults to the newest 1,000 in memory. */
  states?: FitStates | undefined;
  /**
   * Ends pending fits with its reason, even while a function of these options is pending; `summarize` receives it. The
   * signal of the host's call, where the host passes one, ends the fit of that call.
   */
  signal?: PlatformAbortSignal | undefined;
}

/** Fields known to the host. */
export type HostFields = Pick<FitSettings, "format" | "model" | "system" | "tools">;

/** The signal of a host's call, and its path in errors. */
export interface HostSignal {
  signal: unknown;
  path: string;
}

/** Fits the messages of a model call. */
export type Fitter<Message> = (
  messages: readonly Message[],
  host: HostFields,
  hostSignal?: HostSignal,
) => Promise<Message[]>;

/**
 * Edits of a hook without the option `edits`. The arguments of old calls are cleared before a call is removed, so that
 * an agent sees what it has done.
 */
const EDITS: FitEdits = { toolResults: { keepLast: 3 }, toolInputs: { keepLast: 3 } };

/**
 * Returns a function that fits messages with these options; the host's fields replace missing ones. It continues the
 * last fit of each conversation, so that only new messages are read, and loads the module itself.
 */
export function fitter<Message>(options: HookOptions<Message>): Fitter<Message> {
  checkedObject(options, "options");
  const {
    onReport,
    summarize,
    onTooLong,
    states,
    signal: given,
    ...settings
  } = guarded("options", () => ({
    ...options,
  }));
  const ownSignal = asSignal(given);
  for (const [name, value] of Object.entries({ onReport, summarize, onTooLong })) {
    checkedFunction(value, `options.${name}`);
  }
  for (const name of states === undefined ? [] : (["get", "set"] as const)) {
    const isFunction =
      typeof guarded("options.states", () => (states as Partial<FitStates> | null)?.[name]) === "function";
    if (!isFunction) throw invalid("options.states", `an object with a function \`${name}\``);
  }
  const conversations = new Conversations(states);
  const edits = settings.truncationStrategy === "stopAtLimit" ? {} : { edits: EDITS };
  // An unset option leaves the host's field or the default.
  const set = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  const fit = async (
    messages: readonly Message[],
    { model, ...host }: HostFields,
    signal: PlatformAbortSignal | undefined,
  ): Promise<Message[]> => {
    await raceAbort(init(), signal);
    checkedList(messages, "messages");
    // In addition to a limit, the host's model selects the vendor's rules.
    const all = { ...host, ...valued({ model }), ...edits, ...set } as FitSettings;
    const conversation = { messages, conversations, signal };
    try {
      const fitted = summarize
        ? await withSummary(conversation, all, summarize as Summarize<unknown>)
        : await continued(conversation, all);
      onReport?.(fitted.report);
      return fitted.messages as Message[];
    } catch (error) {
      if (!onTooLong || !(error instanceof CtxweaveError) || !error.code.endsWith("context_too_long")) throw error;
      return raceAbort(onTooLong(error, [...messages]), signal);
    }
  };
  return async (messages, host, hostSignal) => {
    const own = checkedSignal(ownSignal);
    const calls = hostSignal && checkedSignal(hostSignal.signal, hostSignal.path);
    return withEither(own, calls, (signal) => fit(messages, host, signal));
  };
}

/** A fit of a conversation. */
interface Fitting {
  messages: readonly unknown[];
  conversations: Conversations;
  signal: PlatformAbortSignal | undefined;
}

/** Fits with a summary in the place of removed messages. */
async function withSummary(
  fitting: Fitting,
  settings: FitSettings,
  summarize: Summarize<unknown>,
): Promise<FitResult<unknown[]>> {
  const { messages, conversations, signal } = fitting;
  const keys = conversationKeys(messages);
  const previous = (await conversations.state(keys, signal)) ?? null;
  const options = { ...settings, previous } as FitOptions;
  const fitted = await fitMessagesWith([...messages], options, summarize as never, { signal });
  await keep(fitting, keys, fitted as FitResult<unknown[]>);
  return fitted as FitResult<unknown[]>;
}

/** Fits with the chat that has all messages but the new ones, otherwise with a new one that continues the conversation's state. */
async function continued(fitting: Fitting, settings: FitSettings): Promise<Omit<FitResult<unknown[]>, "state">> {
  const { messages, conversations, signal } = fitting;
  const keys = conversationKeys(messages);
  const { model, system, tools } = settings;
  const options = guarded("options", () => JSON.stringify([model, system, tools]));
  const known = conversations.takeChat(keys, options);
  const previous = known ? undefined : ((await conversations.state(keys, signal)) ?? null);
  const chat = known?.chat ?? new Chat({ ...settings, previous } as FitSettings & AtMostOneLimit);
  try {
    chat.append(...messages.slice(known?.length ?? 0));
    const fitted = chat.fit();
    await keep(fitting, keys, { ...fitted, state: chat.state as FitState });
    conversations.putChat(keys, options, chat);
    return fitted;
  } catch (error) {
    chat.free();
    // The state survives a restart of the module.
    if (known && error instanceof CtxweaveError && error.code === "handle_lost") {
      return continued(fitting, settings);
    }
    throw error;
  }
}

/** The items of a host's list; nothing for an empty list and for another value. */
export function listOf<Item = unknown>(value: unknown, path: string): Item[] | undefined {
  return Array.isArray(value) && value.length > 0 ? [...checkedList(value as Item[], path)] : undefined;
}

/** Keeps a state under the messages, and under the result, which some hosts continue from. */
async function keep(
  { messages, conversations, signal }: Fitting,
  keys: string[],
  { messages: fitted, state }: FitResult<unknown[]>,
): Promise<void> {
  await conversations.keep(keys, state, signal);
  const isSame = fitted.length === messages.length && fitted.every((message, at) => message === messages[at]);
  if (!isSame) await conversations.keep(conversationKeys(fitted), state, signal);
}

/** The name of a model, if the host has it. */
export function modelName(model: unknown): string | undefined {
  if (typeof model === "string") return model;
  const names = guarded("model", () => {
    const { modelId, model: name, modelName } = (model ?? {}) as Partial<Record<string, unknown>>;
    return [modelId, name, modelName];
  });
  return names.find((name) => typeof name === "string") as string | undefined;
}

/** Fields that have a value. */
export function valued<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const own = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(own) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
