/** `ctxweave/ai-sdk`: fits messages of the AI SDK, directly or in hooks. Imports nothing from the SDK. */

import { checkedList, checkedObject, checkedOptions, checkedText, invalid } from "../api/checked.js";
import { type FitEdits, type FitOptions, type FitResult, fitMessages } from "../entries/chat.js";
import { guarded } from "../source.js";
import { fitter, type HookOptions, listOf, modelName, valued } from "./hook.js";

export { CtxweaveError, fitMessagesWith, init, loadVocabulary } from "../entries/chat.js";
export type * from "../types/chat.js";
export type { FitStates } from "./conversations.js";
export type { HookOptions };

/** `fitMessages` for a list of `ModelMessage`. Call `init` first. */
export function fitModelMessages<Message>(
  messages: readonly Message[],
  options: FitOptions<Message>,
): FitResult<Message[]> {
  return fitMessages(messages, withFormat("ai-sdk", options as FitOptions)) as FitResult<Message[]>;
}

/**
 * `fitMessages` for a list of `UIMessage`: a message with several steps is cut between its steps. Call `init` first.
 */
export function fitUIMessages<Message>(
  messages: readonly Message[],
  options: FitOptions<Message>,
): FitResult<Message[]> {
  return fitMessages(messages, withFormat("ai-sdk-ui", options as FitOptions)) as FitResult<Message[]>;
}

function withFormat(format: "ai-sdk" | "ai-sdk-ui", options: FitOptions): FitOptions {
  checkedObject(options, "options");
  return guarded("options", () => ({ format, ...options }));
}

type PrunedCalls = "all" | "before-last-message" | `before-last-${number}-messages`;

/** Options of the AI SDK's `pruneMessages`. Emptied messages are removed, because every provider rejects them. */
export interface PruneOptions<Message> {
  messages: readonly Message[];
  /** Default `none`. */
  reasoning?: "all" | "before-last-message" | "none" | undefined;
  /** The calls to remove, with their results. Default: none. */
  toolCalls?:
    PrunedCalls | "none" | readonly { type: PrunedCalls; tools?: readonly string[] | undefined }[] | undefined;
  emptyMessages?: "remove" | undefined;
}

/**
 * `pruneMessages` of the AI SDK, implemented by the edits of `fitMessages`: calls and results stay together, an open
 * call at the end and results that the model has not read are kept, and kept messages are returned by reference. Call
 * `init` first.
 *
 * @throws {CtxweaveError} `invalid_input` for unknown values
 */
export function pruneMessages<Message>(options: PruneOptions<Message>): Message[] {
  const known = ["messages", "reasoning", "toolCalls", "emptyMessages"] as const;
  const {
    messages,
    reasoning = "none",
    toolCalls = "none",
    emptyMessages = "remove",
  } = checkedOptions(options, known, "");
  if (emptyMessages !== "remove") throw invalid("emptyMessages", "`remove`");
  checkedList(messages, "messages");
  let list = guarded("messages", () => [...messages]);
  // Index of each remaining message in the input: the last N messages include those already removed.
  let indices = Array.from(list.keys());
  const prune = (kept: number, edits: FitEdits): void => {
    const pinned = Array.from(list.keys()).filter((at) => (indices[at] as number) >= messages.length - kept);
    const whole = { maxTokens: Number.MAX_SAFE_INTEGER, pinned, edits: { ...edits, when: "always" as const } };
    const fitted = fitModelMessages(list, whole);
    list = fitted.messages;
    indices = indices.filter((_, at) => fitted.report.messages[at]?.fate !== "cut");
  };
  if (reasoning !== "none") prune(keptBy("reasoning", reasoning), { reasoning: { remove: "all" } });
  const calls = typeof toolCalls === "string" ? (toolCalls === "none" ? [] : [{ type: toolCalls }]) : toolCalls;
  const rules = guarded("toolCalls", () => [...checkedList<unknown>(calls, "toolCalls")]);
  for (const [index, rule] of (rules as readonly { type: PrunedCalls; tools?: readonly string[] }[]).entries()) {
    const { type, tools } = checkedOptions(rule, ["type", "tools"], `toolCalls[${index}]`);
    const path = `toolCalls[${index}].tools`;
    const named = tools && guarded(path, () => [...checkedList<string>(tools, path)]);
    const exclude = named && guarded("messages", () => namesOfTools(list)).filter((name) => !named.includes(name));
    prune(keptBy("toolCalls", type), { toolCalls: { keepLast: 0, ...valued({ exclude }) } });
  }
  return list;
}

/** Number of messages at the end that are kept. */
function keptBy(option: string, type: string): number {
  checkedText(type, option);
  const [, count] = /^before-last-(\d+)-messages$/.exec(type) ?? [];
  const kept = { all: 0, "before-last-message": 1 }[type] ?? Number(count);
  if (Number.isNaN(kept)) {
    throw invalid(option, "`all`, `before-last-message`, `none` or for calls `before-last-N-messages`");
  }
  return kept;
}

function namesOfTools(messages: readonly unknown[]): string[] {
  const parts = messages.flatMap((message) => (message as { content?: unknown }).content);
  return parts.flatMap((part) => (part as { toolName?: string } | undefined)?.toolName ?? []);
}

/** The type that `wrapLanguageModel` takes, for each version of the SDK with middleware. */
export interface FitMiddleware {
  /** The SDK's versions have different types for it, and none reads it. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly specificationVersion: any;
  transformParams<Params extends { prompt: unknown[]; tools?: unknown }>(call: {
    params: Params;
    model?: unknown;
  }): Promise<Params>;
}

/**
 * Middleware for `wrapLanguageModel`: fits each prompt before it goes to the model, counting the tool definitions. The
 * application's messages are unchanged. See docs/hooks.md.
 */
export function fitMiddleware(options: HookOptions = {}): FitMiddleware {
  const fit = fitter(options);
  return {
    specificationVersion: "v4",
    transformParams: async (call) => {
      const { params, model } = guarded("call", () => ({ ...checkedObject(call, "call") }));
      const asked = guarded("call.params", () => ({ ...checkedObject(params, "call.params") }));
      const host = valued({ model: modelName(model), tools: asked.tools });
      const { abortSignal: signal } = asked as { abortSignal?: unknown };
      const prompt = await fit(
        asked.prompt,
        { format: "ai-sdk", ...host },
        { signal, path: "call.params.abortSignal" },
      );
      return { ...asked, prompt: prompt.map(asPromptMessage) };
    },
  };
}

/** In a prompt the content of a user message is a list of parts, including that of a marker or a summary. */
function asPromptMessage(message: unknown): unknown {
  const { role, content } = message as { role?: unknown; content?: unknown };
  return role === "user" && typeof content === "string"
    ? { role, content: [{ type: "text", text: content }] }
    : message;
}

/** The type that `generateText`, `streamText` and agents take as `prepareStep`. */
export type FitPrepareStep = <Message>(step: {
  messages: Message[];
  model?: unknown;
  instructions?: unknown;
}) => Promise<{ messages: Message[] } | undefined>;

/**
 * A `prepareStep` that fits the messages of each step; returns nothing if they fit unchanged. In version 7 later steps
 * begin with its result: its marker or summary is recognized and replaced. See docs/hooks.md.
 */
export function fitPrepareStep(options: HookOptions = {}): FitPrepareStep {
  const fit = fitter(options);
  return async (step) => {
    const { messages, model, instructions } = guarded("step", () => ({ ...checkedObject(step, "step") }));
    const system = guarded("step.instructions", () =>
      (listOf(instructions, "step.instructions") ?? [instructions]).flatMap(
        (it) => (it as { content?: unknown } | undefined)?.content ?? it ?? [],
      ),
    );
    const host = valued({ model: modelName(model), system });
    const fitted = await fit(messages, { format: "ai-sdk", ...host });
    const isSame = fitted.length === messages.length && fitted.every((message, at) => message === messages[at]);
    return isSame ? undefined : { messages: fitted as typeof messages };
  };
}
