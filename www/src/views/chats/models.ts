import { computed } from "@preact/signals";
import { fitMessages, modelInfo } from "ctxweave/chat";
import type { Encoding, ModelInfo } from "ctxweave/chat";
import { isEncoding, isLoaded } from "../../ui/vocabularies.js";

/** Models to choose from; their properties come from the package (`modelInfo`). */
export const MODELS: readonly { vendor: string; names: readonly string[] }[] = [
  {
    vendor: "Anthropic",
    names: ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-sonnet-4-5", "claude-haiku-4-5"],
  },
  {
    vendor: "OpenAI",
    names: ["gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna", "gpt-5.6", "gpt-5-mini", "gpt-4.1", "gpt-4o", "gpt-4"],
  },
  { vendor: "Google", names: ["gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-2.5-pro"] },
  { vendor: "Others", names: ["deepseek-v4-pro", "mistral-large-latest", "qwen3-32b"] },
];

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

/** All models to choose from, with their properties. */
export const choices = computed(() =>
  MODELS.map(({ vendor, names }) => ({
    vendor,
    models: names.flatMap((name) => knownModel(name) ?? []),
  })),
);

/** `200k`, `1M` */
export function window(tokens: number): string {
  return tokens >= 1e6 ? `${Number((tokens / 1e6).toFixed(2))}M` : `${Math.round(tokens / 1000)}k`;
}
