/** Counting tokens. */

import { callJson } from "../call.js";
import { call, keepVocabulary } from "../runtime.js";
import { asBytes, guarded } from "../source.js";
import type { ExactTokenizer, OwnTokenizer, Tokenizer } from "../types/common.js";
import { checkedText, invalid } from "./checked.js";

/** How to count. */
export interface CountOptions {
  /** Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer;
}

/** How many tokens the text has. */
export function countTokens(text: string, options?: CountOptions): number {
  const tokenizer = tokenizerOf(options);
  const checked = checkedText(text, "text");
  if (isCustom(options)) return callJson("countTokens", { text: checked, options }) as number;
  return call((wasm) => wasm.countTokens(checked, tokenizer));
}

/** How many tokens each of the texts has, in one crossing. */
export function countTokensBatch(texts: readonly string[], options?: CountOptions): Uint32Array {
  const tokenizer = tokenizerOf(options);
  if (!guarded("texts", () => Array.isArray(texts))) throw invalid("texts", "a list of strings");
  // Not `map`, which leaves holes as they are.
  const checked = guarded("texts", () => Array.from(texts, (text, at) => checkedText(text, `texts[${at}]`)));
  if (isCustom(options)) return Uint32Array.from(checked, (text) => countTokens(text, options));
  return call((wasm) => wasm.countTokensBatch(checked, tokenizer));
}

/** How many tokens the text has, or null when it has more than `limit`; reads no more of it than that takes. */
export function countTokensUpTo(text: string, limit: number, options?: CountOptions): number | null {
  const tokenizer = tokenizerOf(options);
  if (!(typeof limit === "number" && limit >= 0)) throw invalid("limit", "a number of tokens, 0 or more");
  // More than a u32 holds is more than any text has; Infinity is a way to say so.
  const most = Math.min(Math.floor(limit), 0xffff_ffff);
  const checked = checkedText(text, "text");
  if (isCustom(options))
    return (callJson("countTokensUpTo", { text: checked, limit: most, options }) ?? null) as number | null;
  return call((wasm) => wasm.countTokensUpTo(checked, most, tokenizer)) ?? null;
}

/**
 * The name of the tokenizer that the options ask for. Where they have only that to say it is seen here: to send them to the
 * wasm takes longer than to count a short text.
 */
function tokenizerOf(options: CountOptions | undefined): string | undefined {
  if (options === undefined) return undefined;
  return onlyTokenizer(options) ?? (callJson("tokenizerName", { options }) as string);
}

/** The name of a tokenizer, where the options are nothing else. */
export function onlyTokenizer(options: unknown): string | undefined {
  try {
    const keys = Object.keys(options as object);
    const { tokenizer } = options as { tokenizer?: unknown };
    if (typeof tokenizer === "string" && keys.length === 1) return tokenizer;
  } catch {
    // The wasm is told what is wrong with them, and says it.
  }
  return undefined;
}

/** Whether the checked options have a custom counter, which crosses next to the JSON of a call. */
function isCustom(options: CountOptions | undefined): boolean {
  return typeof options?.tokenizer === "object";
}

/** A call of a tool, as OpenAI writes it. */
export interface ChatToolCall {
  type?: "function" | "custom";
  function?: { name: string; arguments: string };
  custom?: { name: string; input: string };
}

/** A part of a message, as OpenAI writes it. */
export type ChatPart =
  | { type: "text"; text: string }
  | { type: "refusal"; refusal: string }
  | { type: "image_url"; image_url: string | { url: string; detail?: string } };

/**
 * One message of a chat: OpenAI's, or any with a `role` and a text. It may hold other fields, as ids, which cost nothing.
 * What cannot be counted, as a recording, is refused.
 */
export interface ChatMessage {
  role: string;
  /** Text, or parts of it; `null` where the message is nothing but calls. */
  content?: string | null | readonly ChatPart[];
  name?: string;
  refusal?: string | null;
  reasoning_content?: string | null;
  tool_calls?: readonly ChatToolCall[] | null;
  function_call?: { name: string; arguments: string } | null;
}

/** How to count a chat, and what its messages cost besides their texts. */
export interface ChatCountOptions extends CountOptions {
  /** These two are read alike. `ctxweave` and `ctxweave/chat` have all formats. */
  format?: "openai" | "generic";
  /** What is counted by this model's tokenizer, where no other is given, and images as it takes them. */
  model?: string;
  /** Tokens for each message. Default 3. */
  perMessage?: number;
  /** Tokens for each name, but for that of a `function`. Default 1. */
  perName?: number;
  /** Tokens for the request. Default 3. */
  perRequest?: number;
  /** The definitions of tools, a list: their JSON, 10 tokens each and 12 for all of them, which is measured and not published. */
  tools?: unknown;
}

/**
 * How many tokens a chat is, as OpenAI's cookbook counts it: roles, contents, names and the overhead; and of calls, which it
 * says nothing about, the name, the arguments and 3 tokens more. Images cost what OpenAI's documentation says for their size, at the
 * highest detail, by the `model` or else the dearest of its models; the size is read from a `data:` address, and an image after another one costs 4,784.
 *
 * @throws {CtxweaveError} `unknown_value` for a model that is not known, `vocabulary_not_loaded` where it is counted by a vocabulary that is not
 *   loaded, `invalid_input` for what cannot be counted
 */
export function countChatTokens(messages: readonly ChatMessage[], options?: ChatCountOptions): number {
  return callJson("countChatTokens", { messages, options }) as number;
}

/** What is known of a model. */
export interface ModelInfo {
  /** Whose it is. */
  family:
    | "openai"
    | "claude"
    | "gemini"
    | "llama"
    | "qwen"
    | "deepseek"
    | "mistral"
    | "xai"
    | "zai"
    | "moonshot"
    | "minimax"
    | "cohere"
    | "nova"
    | "xiaomi";
  /**
   * What to give as `tokenizer`: an encoding, whose counts are exact, or where the vendor publishes none the family's multiple of the
   * estimate, or the estimate.
   */
  tokenizer: "o200k_base" | "cl100k_base" | "claude" | "claude-3" | "gemini" | "heuristic";
  /** Tokens that the model can take in, its answer included. */
  contextWindow: number;
  /** The most that a request may have, where that is less than the window. */
  inputLimit?: number;
  /** The most that an answer can have, where that is known. */
  outputLimit?: number;
  /**
   * Whether the vendor binds the model's signed thinking to everything before it: after a change of an earlier message it is refused.
   */
  preservedThinking: boolean;
  /** The known model whose properties these are, if the name is an unknown member of a known line. */
  countsAs?: string;
}

/**
 * What is known of the model of that name, a snapshot's, a fine-tuned one's or one with a provider before it (`openai/gpt-4o`) too;
 * undefined for a name that is not known. An unknown member of a known line (`claude-opus-9`) has the properties of the newest model of
 * the line, which `countsAs` names. The table is LiteLLM's: docs/tokens.md.
 */
export function modelInfo(name: string): ModelInfo | undefined {
  return callJson("modelInfo", { name }) as ModelInfo | undefined;
}

/**
 * Loads the vocabulary of an exact tokenizer from the bytes of its asset, which are checked: `ctxweave/vocab/<name>.bin`, or what
 * `vocabularyOf` has made, under any name that no encoding has. The modules `ctxweave/vocab/<name>` bring the bytes by themselves.
 * Loading it again is harmless. Every entry point that counts takes every vocabulary.
 *
 * @throws {CtxweaveError} `invalid_vocabulary` when the bytes are not that asset, or are damaged, or another one has the name;
 *   `unknown_value` for a name that the entry point cannot have
 */
export function loadVocabulary(name: ExactTokenizer, asset: ArrayBuffer | ArrayBufferView): void {
  if (typeof name !== "string") throw invalid("name", "the name of a vocabulary");
  const bytes = asBytes(asset, "asset");
  if (!bytes) throw invalid("asset", "the bytes of a vocabulary asset");
  // A copy: what becomes of the caller's buffer is the caller's business.
  keepVocabulary(name, bytes.slice());
}
