/** `ctxweave/openai-agents`: the input of each model call of an agent, fitted. Nothing of the SDK is imported. */

import { fitter, given, type HookOptions, modelName } from "./hook.js";

export { CtxweaveError, fitMessages, fitMessagesWith, init, loadVocabulary } from "../entries/chat.js";
export type * from "../types/chat.js";
export type { FitStates } from "./conversations.js";
export type { HookOptions };

/** What `run` takes as `callModelInputFilter`. */
export interface FitModelInput {
  <Data extends { input: unknown[]; instructions?: string }>(call: { modelData: Data; agent?: unknown }): Promise<Data>;
  /** The items reach the filter as they are, and none of them is ever changed. */
  preserveInputIdentity: true;
}

/**
 * A `callModelInputFilter` that fits the input of each call. The session keeps all items. With `conversationId` or
 * `previousResponseId` only what is new passes here, and the endpoint has the rest: do not fit there.
 */
export function fitModelInput(options: HookOptions = {}): FitModelInput {
  const fit = fitter(options);
  const filter = async <Data extends { input: unknown[]; instructions?: string }>(call: {
    modelData: Data;
    agent?: unknown;
  }): Promise<Data> => {
    const { modelData } = call;
    const agent = (call.agent ?? {}) as { model?: unknown; tools?: unknown };
    const host = given({
      model: modelName(agent.model),
      system: modelData.instructions,
      tools: definitions(agent.tools),
    });
    return { ...modelData, input: await fit(modelData.input, { format: "openai-agents", ...host }) };
  };
  return Object.assign(filter, { preserveInputIdentity: true as const });
}

/** What the endpoint is told of an agent's tools. */
function definitions(tools: unknown): object[] | undefined {
  if (!Array.isArray(tools) || tools.length === 0) return undefined;
  return (tools as Partial<Record<string, unknown>>[]).map(({ type, name, description, parameters }) =>
    given({ type, name, description, parameters }),
  );
}
