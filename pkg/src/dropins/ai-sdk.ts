/** `ctxweave/ai-sdk`: messages of the AI SDK, fitted, and hooks that fit them. Nothing of the SDK is imported. */

import { type FitOptions, type FitResult, fitMessages } from "../entries/chat.js";
import { fitInHook, given, type HookOptions, modelName } from "./hook.js";

export { CtxweaveError, fitMessagesWith, init, loadVocabulary } from "../entries/chat.js";
export type * from "../types/chat.js";
export type { HookOptions };

/** `fitMessages` for a list of `ModelMessage`. Call `init` before. */
export function fitModelMessages<Message>(
  messages: readonly Message[],
  options: FitOptions<Message>,
): FitResult<Message[]> {
  return fitMessages(messages, { format: "ai-sdk", ...options } as object) as FitResult<Message[]>;
}

/** `fitMessages` for a list of `UIMessage`: a run of several steps that is one message is cut between its steps. */
export function fitUIMessages<Message>(
  messages: readonly Message[],
  options: FitOptions<Message>,
): FitResult<Message[]> {
  return fitMessages(messages, { format: "ai-sdk-ui", ...options } as object) as FitResult<Message[]>;
}

/** What `wrapLanguageModel` takes, of each version of the SDK that has middleware. */
export interface FitMiddleware {
  /** Each version of the SDK has another one in its types, and none looks at it. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly specificationVersion: any;
  transformParams<Params extends { prompt: unknown[]; tools?: unknown }>(call: {
    params: Params;
    model?: unknown;
  }): Promise<Params>;
}

/**
 * Middleware for `wrapLanguageModel`: each prompt is fitted before it goes to the model, with the definitions of the tools
 * counted. What the application keeps stays whole.
 */
export function fitMiddleware(options: HookOptions = {}): FitMiddleware {
  return {
    specificationVersion: "v4",
    transformParams: async ({ params, model }) => {
      const host = given({ model: modelName(model), tools: params.tools });
      const prompt = await fitInHook(params.prompt, options, { format: "ai-sdk", ...host });
      return { ...params, prompt: prompt.map(asPromptMessage) };
    },
  };
}

/** In a prompt a user's message is a list of parts, also a marker or a summary. */
function asPromptMessage(message: unknown): unknown {
  const { role, content } = message as { role?: unknown; content?: unknown };
  return role === "user" && typeof content === "string"
    ? { role, content: [{ type: "text", text: content }] }
    : message;
}

/** What `generateText`, `streamText` and agents take as `prepareStep`. */
export type FitPrepareStep = <Message>(step: {
  messages: Message[];
  model?: unknown;
  instructions?: unknown;
}) => Promise<{ messages: Message[] } | undefined>;

/**
 * A `prepareStep` that fits the messages of each step. It gives nothing where they fit as they are. In version 7 what it gives
 * is what the later steps begin with: a marker or a summary that it put there is known again and not stacked.
 */
export function fitPrepareStep(options: HookOptions = {}): FitPrepareStep {
  return async ({ messages, model, instructions }) => {
    const system = [instructions]
      .flat()
      .flatMap((it) => (it as { content?: unknown } | undefined)?.content ?? it ?? []);
    const host = given({ model: modelName(model), system });
    const fitted = await fitInHook<unknown>(messages, options, { format: "ai-sdk", ...host });
    const isSame = fitted.length === messages.length && fitted.every((message, at) => message === messages[at]);
    return isSame ? undefined : { messages: fitted as typeof messages };
  };
}
