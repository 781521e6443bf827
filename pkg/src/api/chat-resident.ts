/// <reference lib="esnext.disposable" />
/** The stateful chat. */

import { callJson } from "../call.js";
import { utf8 } from "../coders.js";
import { CtxweaveError } from "../error.js";
import type * as glue from "../glue.js";
import { fieldsOf, writeRequest } from "../request.js";
import { call } from "../runtime.js";
import type { Target } from "../types/bodies.js";
import type {
  ChatFormat,
  ChatOptions,
  ChatSettings,
  ChatTree,
  FitOptions,
  FitReport,
  FitResult,
  FitRow,
  FitState,
} from "../types/chat.js";
import type { Diagnostic, ReadonlyData } from "../types/common.js";
import { chatToLoomTree, convertMessages, fitMessages } from "./chat.js";
import { guarded } from "../source.js";
import { checkedObject, checkedText, invalid, jsonOf } from "./checked.js";
import { type Handle as AnyHandle, Handles } from "./handles.js";
import {
  type Change,
  copyWith,
  type Entry,
  isLangChain,
  messageAt,
  type Path,
  type Pinned,
  pinnedBy,
  plainMessages,
} from "./messages.js";

/**
 * A stateful chat. Each message is read and counted once, when it is added, so that a turn costs only its new messages.
 * Each fit continues the last one, like `fitMessages` with `previous`; see docs/agents.md. Messages are kept and
 * returned by reference: `replace` a message instead of changing it.
 *
 * A call that throws leaves the chat unchanged. Call `free` when done, or declare it with `using`; otherwise the
 * garbage collector frees it eventually. Methods of a freed chat throw `handle_freed`; after a restart of the module
 * they throw `handle_lost`.
 */
export class Chat<Message = unknown> {
  /** @throws {CtxweaveError} with one of the codes in docs/errors.md */
  constructor(options: ReadonlyData<ChatOptions<Message>>) {
    const given = copied(options as ChatSettings);
    const { target, pinned, previous, ...rest } = given;
    const own = { ...rest, ...(typeof pinned !== "function" && pinned !== undefined && { pinned }) };
    const withState = { ...own, ...(previous !== undefined && { previous }) };
    const { json, counter } = writeRequest({ options: withState, target: rulesOf(target) });
    handles.set(this, {
      raw: call((wasm) => new wasm.Chat(json, counter)),
      options: own,
      target,
      pinned: typeof pinned === "function" ? (pinned as Pinned) : undefined,
      format: "generic",
      messages: [],
      pins: [],
      tokens: [],
      areTokensShared: false,
      total: undefined,
      text: undefined,
      hasGrown: false,
    });
  }

  /** Number of messages. */
  get length(): number {
    return handles.use(this, ({ messages }) => messages.length);
  }

  /** Tokens of the whole request, before any cut. */
  get tokens(): number {
    return handles.use(this, (handle) => {
      writeText(handle);
      if (handle.total === undefined) splice(handle, 0, 0, []);
      return handle.total as number;
    });
  }

  /**
   * Appends messages.
   *
   * @throws {CtxweaveError} `invalid_input` for a message without a known format, or in another format than the earlier
   *   ones
   */
  append(...messages: readonly Message[]): void {
    handles.use(this, (handle) => {
      const list = messages.findIndex((message) => guarded("messages", () => Array.isArray(message)));
      if (list >= 0)
        throw invalid(`messages[${list}]`, "a message, not a list; pass the messages with `append(...list)`");
      writeText(handle);
      splice(handle, handle.messages.length, 0, messages);
    });
  }

  /**
   * Appends to the text at the end of the last message, while a reply streams; empty content becomes the text. The cost
   * is proportional to the delta. The message passed earlier is unchanged: a copy has the longer text.
   *
   * @throws {CtxweaveError} `invalid_input` if there is no message, or the last one cannot hold a text
   */
  appendText(delta: string): void {
    handles.use(this, (handle) => appendText(handle, checkedText(delta, "delta")));
  }

  /** Replaces a message. */
  replace(index: number, message: Message): void {
    handles.use(this, (handle) => {
      writeText(handle);
      const kept = handle.messages;
      if (!Number.isInteger(index) || index < 0 || index >= kept.length)
        throw invalid("index", "the index of a message");
      // Gemini's results are matched to calls by the order of all messages.
      const rest = handle.format === "gemini" ? kept.slice(index + 1) : [];
      splice(handle, index, 1 + rest.length, [message, ...rest], 1);
    });
  }

  /** Removes the messages after the first `length`. */
  truncate(length: number): void {
    handles.use(this, (handle) => {
      writeText(handle);
      if (!Number.isInteger(length) || length < 0) throw invalid("length", "a whole number, 0 or more");
      const removed = handle.messages.length - length;
      if (removed > 0) splice(handle, length, removed, []);
    });
  }

  /**
   * Fits the messages into the limit. Continues the last fit: the result begins with the last result until the limit is
   * exceeded. Passing `options`, merged over those of the chat, makes it a preview that the next fit does not continue
   * from; another `format`, `tokenizer`, `model`, `system` or `tools` recounts everything.
   */
  fit(options?: ReadonlyData<ChatOptions<Message>>): Omit<FitResult<Message[]>, "state"> {
    const given = options === undefined ? undefined : copied(options as ChatSettings);
    return handles.use(this, (handle) => fit(handle, given)) as FitResult<Message[]>;
  }

  /** The state after the last `fit` or `requestBody`; pass it as `previous` to another chat or to `fitMessages`. */
  get state(): FitState | undefined {
    return handles.use(this, (handle) => stateOf(handle));
  }

  /**
   * Writes the request body for the target, with the fitted messages: JSON in UTF-8. If the provider requires another
   * format, the messages are converted by `convertMessages`, whose diagnostics are in the report of
   * {@link Chat.requestBodyWithReport}.
   */
  requestBody(options?: ReadonlyData<ChatOptions<Message>>): Uint8Array<ArrayBuffer> {
    return this.requestBodyWithReport(options).body;
  }

  /** The same, with the report of the fit; its diagnostics include content that the provider cannot express. */
  requestBodyWithReport(options?: ReadonlyData<ChatOptions<Message>>): {
    body: Uint8Array<ArrayBuffer>;
    report: FitReport;
  } {
    const given = copied((options ?? {}) as ChatSettings);
    return handles.use(this, (handle) => {
      const target = given.target ?? handle.target;
      if (typeof target !== "object" || target === null)
        throw invalid("target", "an object, in this call or in the options of the chat");
      const { messages, report } = fit(handle, given);
      const [body, found] = bodyOf(target, handle, given, messages);
      report.diagnostics.push(...found);
      const fields = target.provider === "anthropic" ? report.body : undefined;
      return { body: utf8().encode(jsonOf({ ...body, ...fields }, "body")), report };
    });
  }

  /** Converts the whole chat into a Loom tree with one node per message, like `chatToLoomTree`. */
  toTree(): ChatTree {
    return handles.use(this, (handle) => {
      writeText(handle);
      return chatToLoomTree(handle.messages, { from: handle.format });
    });
  }

  /** Frees the memory. Idempotent. */
  free(): void {
    handles.free(this);
  }

  [Symbol.dispose](): void {
    this.free();
  }
}

interface Handle extends AnyHandle {
  raw: glue.Chat;
  options: Record<string, unknown>;
  target: Target | undefined;
  /** The caller's function, and the messages that it pinned. */
  pinned: Pinned | undefined;
  pins: boolean[];
  format: ChatFormat;
  messages: unknown[];
  /** Tokens of each message as added. Shared with reports whose rows were not read yet. */
  tokens: number[];
  areTokensShared: boolean;
  total: number | undefined;
  text: GrowingText | undefined;
  /** Whether text was appended to the last message since the module received it. */
  hasGrown: boolean;
}

/** The text at the end of the last message, while it streams. */
interface GrowingText {
  path: Path;
  /** Including all appended text. */
  text: string;
  /** Whether the messages contain it. */
  isWritten: boolean;
  /** A high surrogate that waits for its low surrogate. */
  waiting: string;
}

const handles = new Handles<Handle>("chat", "messages");

/** Copies the options, reading each once. */
function copied(options: ChatSettings): ChatSettings {
  checkedObject(options, "options");
  const given = guarded("options", () => ({ ...options }));
  const { target } = given;
  if (typeof target !== "object" || target === null) return given;
  const read = (name: string): unknown => guarded(`target.${name}`, () => (target as Record<string, unknown>)[name]);
  const fields = Array.from(
    guarded("target", () => fieldsOf(target)),
    (name) => [name, read(name)],
  );
  return { ...given, target: Object.fromEntries(fields) as Target };
}

function callMethod(handle: Handle, name: string, request: unknown): unknown {
  return callJson(name, request, { binary: "sizes", handle });
}

/**
 * Replaces messages. The pin function is called for the first `fresh` added messages; the others were in the chat
 * before.
 */
function splice(handle: Handle, at: number, remove: number, added: readonly unknown[], fresh = added.length): void {
  let pins: boolean[] = [];
  if (handle.pinned) {
    const found = new Set(pinnedBy(handle.pinned, added.slice(0, fresh), at));
    const old = handle.pins.slice(at + fresh, at + added.length);
    pins = added.map((_, index) => (index < fresh ? found.has(at + index) : (old[index - fresh] ?? false)));
  }
  recount(handle, at, remove, added, pins);
  insert(handle.messages, at, remove, added);
  insert(handle.pins, at, remove, pins);
}

interface Spliced {
  again: boolean;
  format: ChatFormat;
  tokens: number[];
  repriced?: [index: number, tokens: number][];
  total: number;
}

function recount(
  handle: Handle,
  at: number,
  remove: number,
  added: readonly unknown[],
  pins: readonly boolean[],
): void {
  const send = (from: number, gone: number, messages: readonly unknown[], flags: readonly boolean[]): Spliced => {
    const pinned = flags.flatMap((isPinned, index) => (isPinned ? [from + index] : []));
    const request = { at: from, remove: gone, messages: plainMessages(messages), ...(handle.pinned && { pinned }) };
    return callMethod(handle, "splice", request) as Spliced;
  };
  let spliced = send(at, remove, added, pins);
  if (spliced.again) {
    // Together they have another format than separately.
    const { length } = handle.messages;
    spliced = send(0, length, replaced(handle.messages, at, remove, added), replaced(handle.pins, at, remove, pins));
    handle.tokens = spliced.tokens;
  } else {
    if (at < handle.messages.length) ownTokens(handle);
    insert(handle.tokens, at, remove, spliced.tokens);
  }
  reprice(handle, spliced);
  handle.format = spliced.format;
  handle.total = spliced.total;
  handle.text = undefined;
  handle.hasGrown = false;
}

/** Updates the costs of messages that changed because of other messages. */
function reprice(handle: Handle, { repriced = [] }: Pick<Spliced, "repriced">): void {
  if (repriced.length > 0) ownTokens(handle);
  for (const [index, tokens] of repriced) handle.tokens[index] = tokens;
}

function replaced<T>(list: readonly T[], at: number, remove: number, items: readonly T[]): T[] {
  return [...list.slice(0, at), ...items, ...list.slice(at + remove)];
}

function insert<T>(list: T[], at: number, remove: number, items: readonly T[]): void {
  if (at === list.length) for (const item of items) list.push(item);
  else if (remove === items.length) for (const [index, item] of items.entries()) list[at + index] = item;
  else list.splice(at, remove, ...items);
}

/** Copies the numbers before one is changed, if a report still refers to them. */
function ownTokens(handle: Handle): void {
  if (handle.areTokensShared) handle.tokens = handle.tokens.slice();
  handle.areTokensShared = false;
}

/** A lone surrogate. */
const LONE = /[\ud800-\udfff]/u;

function appendText(handle: Handle, delta: string): void {
  const last = handle.messages.at(-1);
  if (last === undefined)
    throw new CtxweaveError("invalid_input", "the chat has no message to append text to; append one first");
  const incremental = handle.text;
  let added = (incremental?.waiting ?? "") + delta;
  const waiting = /[\ud800-\udbff]$/.test(added) ? added.slice(-1) : "";
  if (waiting) added = added.slice(0, -1);
  if (LONE.test(added) || (incremental && LONE.test(incremental.text))) {
    // Its interpretation depends on earlier text: the whole message is read again.
    writeText(handle);
    if (incremental) return withText(handle, [incremental.path, incremental.text + added + waiting], incremental.path);
    return withText(handle, ...addition(handle, added + waiting));
  }
  const answer = callMethod(handle, "appendText", added) as Pick<Spliced, "repriced" | "total"> & {
    path: Path | null;
    tokens: [number];
  };
  const { path, tokens, total } = answer;
  if (!path) return withText(handle, ...addition(handle, added + waiting));
  const text = (incremental?.text ?? valueAt(last, path)) + added;
  handle.text = { path, text, isWritten: false, waiting };
  handle.hasGrown = true;
  ownTokens(handle);
  handle.tokens[handle.tokens.length - 1] = tokens[0];
  reprice(handle, answer);
  handle.total = total;
}

/** Reads the last message again, with a changed text. */
function withText(handle: Handle, change: Change, path: Path): void {
  const at = handle.messages.length - 1;
  splice(handle, at, 1, [copyWith(handle.messages[at], [change])], 0);
  const text = valueAt(handle.messages[at], path);
  if (LONE.test(text)) handle.text = { path, text, isWritten: true, waiting: "" };
}

/** Writes the streamed text into a copy of the last message. */
function writeText(handle: Handle): void {
  const incremental = handle.text;
  if (!incremental || incremental.isWritten) return;
  const { path, text, waiting } = incremental;
  const at = handle.messages.length - 1;
  if (waiting) return withText(handle, [path, text + waiting], path);
  handle.messages[at] = copyWith(handle.messages[at], [[path, text]]);
  incremental.isWritten = true;
}

function valueAt(message: unknown, path: Path): string {
  return path.reduce((value, key) => (value as Record<string | number, unknown>)[key], message) as string;
}

/** How to append a text to the last message, and the path of the text afterwards. */
function addition({ messages, format }: Handle, text: string): [change: Change, path: Path] {
  const message = messages.at(-1) as Record<string, unknown>;
  const base = isLangChain(message) ? [] : ["kwargs", "data"].filter((key) => format === "langchain" && key in message);
  const fields = (base.length > 0 ? message[base[0] as string] : message) as Record<string, unknown>;
  const key = format === "gemini" || format === "ai-sdk-ui" ? "parts" : "content";
  const path = [...base.slice(0, 1), key];
  const isItem = format === "openai-responses" || format === "openai-agents";
  const isStep = format === "gemini-interactions";
  const isModel = message["role"] === "assistant";
  const part = {
    ...(format !== "gemini" && { type: isItem ? (isModel ? "output_text" : "input_text") : "text" }),
    text,
  };
  const isSaid = !isStep || ["user_input", "model_output"].includes(message["type"] as string);
  const content = fields[key] ?? (isStep ? [] : "");
  if (Array.isArray(content) && isSaid)
    return [
      fields[key] === undefined ? [path, [part]] : [[...path, content.length], part],
      [...path, content.length, "text"],
    ];
  if (content === "" && isSaid && !(isItem && !("role" in message))) {
    return key === "parts"
      ? [
          [path, [part]],
          [...path, 0, "text"],
        ]
      : [[path, text], path];
  }
  throw new CtxweaveError("invalid_input", "the last message cannot hold a text; append one that can");
}

/** Options that determine the costs and sizes of messages: changing one recounts everything. */
const COUNTING = ["costs", "format", "tokenizer", "model", "system", "tools", "maxBytes"];

/** Mutually exclusive options. */
const EXCLUSIVE_LIMITS = [
  ["maxTokens", "contextWindow"],
  ["contextWindow", "maxTokens"],
] as const;

type ChatFit = Omit<FitResult<unknown[]>, "state">;

function stateOf(handle: Handle): FitState | undefined {
  return (callMethod(handle, "state", null) as FitState | null) ?? undefined;
}

/** The last message, if the module needs its current text. */
function grown(handle: Handle): { last?: unknown } {
  if (!handle.hasGrown) return {};
  handle.hasGrown = false;
  return { last: plainMessages(handle.messages.slice(-1))[0] };
}

function fit(handle: Handle, given: ChatSettings | undefined): ChatFit {
  writeText(handle);
  const { target, ...rest } = { ...given };
  const own = Object.entries(rest).filter(([, value]) => value !== undefined);
  const rules = rulesOf(target ?? handle.target);
  const textOf = (of: typeof rules): string => (of ? jsonOf(of, "target") : "");
  const isOwnTarget = textOf(rules) === textOf(rulesOf(handle.target));
  if (own.length === 0 && isOwnTarget) return resultOf(handle, callMethod(handle, "fit", grown(handle)) as FitResponse);
  const options: Record<string, unknown> = { ...handle.options, ...Object.fromEntries(own) };
  // The limit of this fit overrides the chat's.
  for (const [name, other] of EXCLUSIVE_LIMITS)
    if (rest[name] !== undefined && rest[other] === undefined) delete options[other];
  const pinned = options["pinned"] as Pinned | undefined;
  if (typeof pinned === "function") options["pinned"] = pinnedBy(pinned, handle.messages);
  if (own.some(([name]) => COUNTING.includes(name))) {
    if (handle.pinned && pinned === undefined) {
      options["pinned"] = handle.pins.flatMap((isPinned, index) => (isPinned ? [index] : []));
    }
    const all = { previous: stateOf(handle) ?? null, ...options } as unknown as FitOptions;
    const { state: _, ...fitted } = fitMessages(handle.messages, all);
    return fitted;
  }
  delete options["system"];
  delete options["tools"];
  return resultOf(handle, callMethod(handle, "fit", { options, target: rules, ...grown(handle) }) as FitResponse);
}

/** A fit as returned by the module. */
interface FitResponse {
  messages?: (Entry | Run)[];
  rows?: (FitRow | [...Run, FitRow["fate"], FitRow["reason"] | null])[];
  report: FitReport;
}

/** A range of indices. */
type Run = [from: number, to: number];

function resultOf(handle: Handle, { messages: entries, rows, report }: FitResponse): ChatFit {
  const { messages, tokens } = handle;
  let fitted: unknown[] = [];
  if (entries) {
    for (const entry of entries) {
      if (isRun(entry)) for (let at = entry[0]; at < entry[1]; at += 1) fitted.push(messages[at]);
      else fitted.push(messageAt(entry, messages));
    }
  } else fitted = messages.slice();
  // Creating ten thousand rows takes longer than the rest of the fit, and few callers read them: rows are created
  // lazily.
  handle.areTokensShared = true;
  const put = (value: unknown): void => {
    Object.defineProperty(report, "messages", { value, writable: true, enumerable: true, configurable: true });
  };
  Object.defineProperty(report, "messages", {
    get: () => {
      put((rows ?? []).flatMap((row) => rowsOf(row, tokens)));
      return report.messages;
    },
    set: put,
    enumerable: true,
    configurable: true,
  });
  return { messages: fitted, report };
}

function isRun(entry: Entry | Run): entry is Run {
  return Array.isArray(entry) && typeof entry[1] === "number";
}

function rowsOf(row: NonNullable<FitResponse["rows"]>[number], tokens: readonly number[]): FitRow[] {
  if (!Array.isArray(row)) return [row];
  const [from, to, fate, reason] = row;
  return Array.from({ length: to - from }, (_, at) => {
    const index = from + at;
    return { index, fate, ...(reason !== null && { reason }), tokens: tokens[index] as number } as FitRow;
  });
}

interface Takes {
  list: string;
  system: string;
  /** The field with the settings, unless they are fields of the body. */
  config?: string;
  limit?: string;
  formats: readonly ChatFormat[];
}

/**
 * The formats that a provider accepts unchanged, and its names for the list of messages, the system context and the
 * limit of the answer.
 */
const TAKES: Record<string, Takes | undefined> = {
  // The provider is the caller's text, such as `constructor`.
  __proto__: null as never,
  anthropic: { list: "messages", system: "system", limit: "max_tokens", formats: ["anthropic"] },
  openai: { list: "messages", system: "messages", formats: ["openai", "generic"] },
  "openai-responses": {
    list: "input",
    system: "instructions",
    limit: "max_output_tokens",
    formats: ["openai-responses"],
  },
  gemini: {
    list: "contents",
    system: "systemInstruction",
    config: "generationConfig",
    limit: "maxOutputTokens",
    formats: ["gemini"],
  },
  "gemini-interactions": {
    list: "input",
    system: "system_instruction",
    config: "generation_config",
    limit: "max_output_tokens",
    formats: ["gemini-interactions"],
  },
};

/** All names for the limit of the answer. */
const LIMITS = ["max_completion_tokens", "max_output_tokens", "maxOutputTokens", "max_tokens"];

/** The fields of a target that affect the vendor's rules. */
function rulesOf(target: Target | undefined): Record<string, unknown> | undefined {
  if (typeof target !== "object" || target === null) return undefined;
  const { provider, model, reasoning, tool_choice, temperature, top_p, top_k, ...fields } = target as Target &
    Record<string, unknown>;
  const names = (typeof provider === "string" ? RULE_FIELDS[provider] : undefined) ?? [];
  return {
    ...{ model, reasoning, tool_choice, temperature, top_p, top_k },
    ...Object.fromEntries(names.map((name) => [name, fields[name]])),
  };
}

const RULE_FIELDS: Record<string, readonly string[] | undefined> = {
  // The provider is the caller's text, such as `constructor`.
  __proto__: null as never,
  anthropic: ["thinking"],
  "openai-responses": ["previous_response_id", "conversation"],
  "gemini-interactions": ["previous_interaction_id"],
};

/** The field in a provider's body that limits the answer of a model, and an alternative that the model accepts. */
function limitFieldsOf(provider: string, model: unknown): [name: string, also: string] {
  if (provider !== "openai") return [TAKES[provider]?.limit ?? "", ""];
  return callJson("limitFields", { model: String(model ?? "") }) as [string, string];
}

/** Whether OpenAI accepts `generic` messages unchanged: if they are texts. */
function isPlain(messages: readonly unknown[]): boolean {
  return messages.every((message) => typeof (message as Record<string, unknown>)["content"] === "string");
}

function bodyOf(target: Target, handle: Handle, given: ChatSettings, fitted: unknown[]): [body: object, Diagnostic[]] {
  const { provider, model, maxTokens, temperature, stream, tools, ...others } = target as Target &
    Record<string, unknown>;
  const takes = typeof provider === "string" ? TAKES[provider] : undefined;
  if (!takes) throw invalid("target.provider", `one of \`${Object.keys(TAKES).join("`, `")}\``);
  const { list, formats, config: configName } = takes;
  const isOwn = formats.includes(handle.format) && (handle.format !== "generic" || isPlain(fitted));
  const to = formats[0] as ChatFormat;
  const converted = isOwn
    ? undefined
    : convertMessages(fitted, { from: handle.format, to, ...(typeof model === "string" && { model }) });
  const messages = converted?.messages ?? fitted;
  const { dropReasoning: _, openingText: __, cache: ___, ...fields } = others;
  const diagnostics: Diagnostic[] = [...(converted?.diagnostics ?? [])];
  const tell = (code: Diagnostic["code"], severity: Diagnostic["severity"], name: string, what: string): void => {
    diagnostics.push({ code, severity, message: `\`target.${name}\` ${what}`, path: `target.${name}` });
  };

  const config = { ...(fields[configName ?? ""] as Record<string, unknown> | undefined) };
  const [limitName, also] = limitFieldsOf(provider, model);
  let limit: unknown = maxTokens ?? (configName === undefined ? fields : config)[limitName];
  for (const name of LIMITS) {
    if (!(name in fields) || (name === limitName && configName === undefined)) continue;
    if (limit === undefined && name === also) continue;
    if (limit === undefined) {
      limit = fields[name];
      tell("body_field_renamed", "info", name, `was renamed to \`${limitName}\`, the name that \`${provider}\` uses`);
    } else tell("body_field_unused", "warning", name, "repeats the limit of the answer; it was left out");
    delete fields[name];
  }
  const all = { ...handle.options, ...given } as ChatSettings;
  const texts = [all.system, converted?.system].filter((text) => text !== undefined);
  const system = texts.length < 2 ? texts[0] : texts.join("\n\n");
  for (const name of system === undefined ? [list] : new Set([list, takes.system])) {
    if (!(name in fields)) continue;
    tell("body_field_unused", "warning", name, "would override a field of the chat; it was left out");
    delete fields[name];
  }

  const body: Record<string, unknown> = { model, [list]: messages, tools: tools ?? all.tools, temperature, stream };
  switch (provider) {
    case "anthropic":
      body["max_tokens"] = limit ?? all.tokenBuffer ?? 1024;
      body["system"] = system ?? fields["system"];
      break;
    case "openai":
      if (system !== undefined) body[list] = [{ role: "system", content: system }, ...messages];
      body[limitName] = limit;
      break;
    case "openai-responses":
      body["instructions"] = system ?? fields["instructions"];
      body["max_output_tokens"] = limit;
      break;
    default: {
      const settings = { ...config, [limitName]: limit, temperature: temperature ?? config["temperature"] };
      delete body["temperature"];
      if (provider === "gemini") {
        delete body["model"];
        delete body["stream"];
        body[takes.system] =
          typeof system === "string" ? { parts: [{ text: system }] } : (system ?? fields[takes.system]);
      } else {
        body[takes.system] = system ?? fields[takes.system];
      }
      fields[configName ?? ""] = JSON.stringify(settings) === "{}" ? undefined : settings;
    }
  }
  return [{ ...fields, ...body }, diagnostics];
}
