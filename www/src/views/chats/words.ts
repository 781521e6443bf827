import type { ChatFormat, FitFate, FitReason } from "ctxweave/chat";
import { STRATEGY_NAMES } from "../../ui/words.js";

/** The terms of the package's reports and options, as shown in the view. */

export const STRATEGIES = { ...STRATEGY_NAMES, keepStart: "Keep start" };

export const FORMATS: readonly { value: ChatFormat; name: string }[] = [
  { value: "openai", name: "OpenAI, Chat Completions" },
  { value: "openai-responses", name: "OpenAI, Responses" },
  { value: "openai-agents", name: "OpenAI Agents SDK" },
  { value: "anthropic", name: "Anthropic" },
  { value: "gemini", name: "Gemini" },
  { value: "gemini-interactions", name: "Gemini, Interactions" },
  { value: "ai-sdk", name: "AI SDK, for models" },
  { value: "ai-sdk-ui", name: "AI SDK, for pages" },
  { value: "langchain", name: "LangChain" },
];

export const FATES: Record<FitFate, string> = {
  kept: "Kept",
  changed: "Changed",
  cut: "Cut",
  summarized: "Summarized",
};

export const REASONS: Record<FitReason, string> = {
  callRemoved: "an old call",
  compacted: "a compaction replaces it",
  emptyText: "an empty text, which the provider rejects",
  endOn: "after the last allowed message",
  firstTurn: "the first message must be the user's",
  imageRemoved: "an old image",
  inputCleared: "old arguments were cleared",
  nothingLeft: "no content left",
  overLimit: "over the limit",
  reasoningPrefixChanged: "its signature is no longer valid",
  reasoningRemoved: "old reasoning",
  replaced: "replaced by a new one",
  resultCleared: "an old result was cleared",
  resultShortened: "an old result was shortened",
  shortened: "shortened to fit",
  toolPairBroken: "half of a tool call",
};

/** The beginning of a possibly long text. */
export const excerpt = (text: string, letters: number): string =>
  text.length > letters ? `${text.slice(0, letters)}…` : text;
