/** `ctxweave/openai-agents`: fits the input of each model call of an agent. Imports nothing from the SDK. */

import { checkedObject } from "../api/checked.js";
import { guarded } from "../source.js";
import { fitter, type HookOptions, listOf, modelName, valued } from "./hook.js";

export { CtxweaveError, fitMessages, fitMessagesWith, init, loadVocabulary } from "../entries/chat.js";
export type * from "../types/chat.js";
export type { FitStates } from "./conversations.js";
export type { HookOptions };

/** The type that `run` takes as `callModelInputFilter`. */
export interface FitModelInput {
  <Data extends { input: unknown[]; instructions?: string }>(call: { modelData: Data; agent?: unknown }): Promise<Data>;
  /** Passes the items to the filter by reference; they are never mutated. */
  preserveInputIdentity: true;
}

/**
 * A `callModelInputFilter` that fits the input of each call. The session keeps all items. Do not use it with
 * `conversationId` or `previousResponseId`: the filter then receives only new items, and the endpoint has the others.
 * See docs/hooks.md.
 */
export function fitModelInput(options: HookOptions = {}): FitModelInput {
  const fit = fitter(options);
  const filter = async <Data extends { input: unknown[]; instructions?: string }>(call: {
    modelData: Data;
    agent?: unknown;
  }): Promise<Data> => {
    const modelData = guarded("call", () => checkedObject(checkedObject(call, "call").modelData, "call.modelData"));
    const asked = guarded("call.modelData", () => ({ ...modelData }));
    const agent = guarded("call.agent", () => {
      const { model, tools } = (call.agent ?? {}) as { model?: unknown; tools?: unknown };
      return { model, tools };
    });
    const host = valued({
      model: modelName(agent.model),
      system: asked.instructions,
      tools: guarded("call.agent.tools", () => definitions(agent.tools, "call.agent.tools")),
    });
    return { ...asked, input: await fit(asked.input, { format: "openai-agents", ...host }) };
  };
  return Object.assign(filter, { preserveInputIdentity: true as const });
}

/** The tool definitions sent to the endpoint. */
function definitions(tools: unknown, path: string): object[] | undefined {
  return listOf<Partial<Record<string, unknown>>>(tools, path)?.map(({ type, name, description, parameters }) =>
    valued({ type, name, description, parameters }),
  );
}
