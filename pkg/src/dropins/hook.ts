/** What the hooks of all hosts have in common. */

import {
  type FitOptions,
  type FitReport,
  type FitSettings,
  fitMessages,
  fitMessagesWith,
  init,
  type Summarize,
} from "../entries/chat.js";

/**
 * How a hook fits messages. Where neither `maxTokens` nor `contextWindow` nor `model` is given, the limit is that of the model
 * that the host is about to call, which `modelInfo` then has to know.
 */
export interface HookOptions<Message = unknown> extends Omit<FitSettings<Message>, "format"> {
  /** Is told what became of the messages, each time. */
  onReport?: (report: FitReport) => void;
  /** Summarises what is cut. */
  summarize?: Summarize<Message>;
}

/** Fits messages by the options, and by what the host says where the options do not. Nothing has to be loaded before. */
export async function fitInHook<Message>(
  messages: readonly Message[],
  { onReport, summarize, ...options }: HookOptions<Message>,
  host: Pick<FitSettings, "format" | "model" | "system" | "tools">,
): Promise<Message[]> {
  await init();
  const { model, ...rest } = host;
  // Next to a limit it says whose rules there are.
  const all = { ...rest, ...(model === undefined ? {} : { model }), ...options } as FitOptions<Message>;
  const fitted = summarize
    ? await fitMessagesWith(messages, all as FitOptions, summarize as Summarize<unknown> as never)
    : fitMessages(messages, all as FitOptions);
  onReport?.(fitted.report);
  return fitted.messages as Message[];
}

/** The name of a model, where the host has it. */
export function modelName(model: unknown): string | undefined {
  if (typeof model === "string") return model;
  const { modelId, model: name, modelName } = (model ?? {}) as Partial<Record<string, unknown>>;
  return [modelId, name, modelName].find((name) => typeof name === "string") as string | undefined;
}

/** Fields that have a value. */
export function given<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const own = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(own) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
