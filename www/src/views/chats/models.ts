import { fitMessages, modelInfo } from "ctxweave/chat";
import type { Encoding, ModelInfo } from "ctxweave/chat";
import { isEncoding, isLoaded } from "../../ui/vocabularies.js";

/** Names of models to choose from, by vendor; their properties come from the package (`modelInfo`). */
export const MODELS: Readonly<Record<string, readonly string[]>> = {
  Anthropic: ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-sonnet-4-5", "claude-haiku-4-5"],
  OpenAI: ["gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna", "gpt-5.6", "gpt-5-mini", "gpt-4.1", "gpt-4o", "gpt-4"],
  Google: ["gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-2.5-pro"],
  Others: ["deepseek-v4-pro", "mistral-large-latest", "qwen3-32b"],
};

export const MODEL_NAMES = Object.values(MODELS).flat();

export interface KnownModel extends ModelInfo {
  name: string;
  /** Maximum tokens of a request. */
  limit: number;
  /** The vocabulary for exact counts, if published. */
  vocabulary?: Encoding;
}

/** The package's properties of a model. */
export function knownModel(name: string | undefined): KnownModel | undefined {
  const info = name === undefined ? undefined : modelInfo(name);
  if (!name || !info) return undefined;
  const { limit } = fitMessages([], { model: name }).report;
  return { ...info, name, limit, ...(isEncoding(info.tokenizer) ? { vocabulary: info.tokenizer } : {}) };
}

/** Whether the counts of a model are exact: its vocabulary is published and loaded. */
export const isExact = (model: KnownModel): boolean => model.vocabulary !== undefined && isLoaded(model.vocabulary);

/** The window of a model: `200k`, `1M` */
export function windowOf({ contextWindow: tokens }: ModelInfo): string {
  return tokens >= 1e6 ? `${Number((tokens / 1e6).toFixed(2))}M` : `${Math.round(tokens / 1000)}k`;
}
