/** Counting tokens. */

import { callJson } from "../call.js";
import { call, keepVocabulary } from "../runtime.js";
import { asBytes, guarded } from "../source.js";
import type { ExactTokenizer, OwnTokenizer, Tokenizer } from "../types/common.js";
import { checkedList, checkedText, invalid, onlyTokenizer } from "./checked.js";

/** How to count tokens. */
export interface CountOptions {
  /** Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
}

/** Counts the tokens of a text. */
export function countTokens(text: string, options?: CountOptions): number {
  const tokenizer = tokenizerOf(options);
  const checked = checkedText(text, "text");
  if (isCustom(options)) return callJson("countTokens", { text: checked, options }) as number;
  return call((wasm) => wasm.countTokens(checked, tokenizer));
}

/** Counts the tokens of each text, in one crossing into the wasm. */
export function countTokensBatch(texts: readonly string[], options?: CountOptions): Uint32Array {
  const tokenizer = tokenizerOf(options);
  checkedList(texts, "texts");
  // Not `map`, which skips holes.
  const checked = guarded("texts", () => Array.from(texts, (text, at) => checkedText(text, `texts[${at}]`)));
  if (isCustom(options)) return Uint32Array.from(checked, (text) => countTokens(text, options));
  return call((wasm) => wasm.countTokensBatch(checked, tokenizer));
}

/** Counts the tokens of a text, or returns null if it has more than `limit`. Stops reading at the limit. */
export function countTokensUpTo(text: string, limit: number, options?: CountOptions): number | null {
  const tokenizer = tokenizerOf(options);
  if (!(typeof limit === "number" && limit >= 0)) throw invalid("limit", "a number of tokens, 0 or more");
  // No text has more tokens than a u32 can hold; Infinity means no limit.
  const whole = Math.min(Math.floor(limit), 0xffff_ffff);
  const checked = checkedText(text, "text");
  if (isCustom(options))
    return (callJson("countTokensUpTo", { text: checked, limit: whole, options }) ?? null) as number | null;
  return call((wasm) => wasm.countTokensUpTo(checked, whole, tokenizer)) ?? null;
}

/**
 * The tokenizer's name, if the options contain nothing else. Checked here, because sending options to the wasm takes
 * longer than counting a short text.
 */
function tokenizerOf(options: CountOptions | undefined): string | undefined {
  if (options === undefined) return undefined;
  return onlyTokenizer(options) ?? (callJson("tokenizerName", { options }) as string);
}

/** Whether the checked options have a custom counter, which crosses next to the JSON of a call. */
function isCustom(options: CountOptions | undefined): boolean {
  return typeof options?.tokenizer === "object";
}

/** A tool call in OpenAI's format. */
export interface ChatToolCall {
  type?: "function" | "custom" | undefined;
  function?: { name: string; arguments: string } | undefined;
  custom?: { name: string; input: string } | undefined;
}

/** A part of a message in OpenAI's format. */
export type ChatPart =
  | { type: "text"; text: string }
  | { type: "refusal"; refusal: string }
  | { type: "image_url"; image_url: string | { url: string; detail?: string | undefined } };

/**
 * One message of a chat in OpenAI's format, or any with a `role` and a text. Other fields, such as ids, cost nothing.
 * Content that cannot be counted, such as a recording, throws.
 */
export interface ChatMessage {
  role: string;
  /** Text, or parts of it; `null` for a message with only calls. */
  content?: string | null | readonly ChatPart[] | undefined;
  name?: string | undefined;
  refusal?: string | null | undefined;
  reasoning_content?: string | null | undefined;
  tool_calls?: readonly ChatToolCall[] | null | undefined;
  function_call?: { name: string; arguments: string } | null | undefined;
}

/** How to count a chat: its tokenizer and overheads. */
export interface ChatCountOptions extends CountOptions {
  /** Both are read in the same way. `ctxweave` and `ctxweave/chat` support all formats. */
  format?: "openai" | "generic" | undefined;
  /** Selects the tokenizer, unless one is given, and the image prices. */
  model?: string | undefined;
  /** Tokens per message. Default 3. */
  perMessage?: number | undefined;
  /** Tokens per name, except that of a `function`. Default 1. */
  perName?: number | undefined;
  /** Tokens per request. Default 3. */
  perRequest?: number | undefined;
  /**
   * Tool definitions, as a list. They cost their JSON, 10 tokens each and 12 for all of them; this rule is measured,
   * not published.
   */
  tools?: unknown;
}

/**
 * Counts the tokens of a chat by the rules of OpenAI's cookbook: roles, contents, names and overheads. For tool calls,
 * which the cookbook leaves out: the name, the arguments and 3 tokens. Images have the price in OpenAI's documentation
 * for their size at the highest detail, for the `model` or else its most expensive model. The size is read from a
 * `data:` address; an image at another address costs 4,784. See docs/tokens.md.
 *
 * @throws {CtxweaveError} `unknown_value` for an unknown model, `vocabulary_not_loaded` if its vocabulary is not
 *   loaded, `invalid_input` for content that cannot be counted
 */
export function countChatTokens(messages: readonly ChatMessage[], options?: ChatCountOptions): number {
  return callJson("countChatTokens", { messages, options }) as number;
}

/** Properties of a model. */
export interface ModelInfo {
  /** The vendor's family. */
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
   * A valid `tokenizer`: an exact encoding; if the vendor publishes none, the family's multiple of the estimate, or the
   * estimate.
   */
  tokenizer: "o200k_base" | "cl100k_base" | "claude" | "claude-3" | "gemini" | "heuristic";
  /** Context window in tokens, including the answer. */
  contextWindow: number;
  /** Maximum tokens of a request, if less than the window. */
  inputLimit?: number;
  /** Maximum tokens of an answer, if known. */
  outputLimit?: number;
  /**
   * Whether signed thinking is bound to everything before it, so that the vendor rejects it after a change of an
   * earlier message.
   */
  preservedThinking: boolean;
  /** The known model whose properties these are, if the name is an unknown member of a known line. */
  countsAs?: string;
  /** The list price, if known. */
  price?: ModelPrice;
}

/**
 * A list price in US dollars per million tokens, at the standard tier and below the vendor's threshold for long requests.
 */
export interface ModelPrice {
  /** Tokens of the request. */
  input: number;
  /** Tokens of the answer; absent for models that write none, such as embeddings. */
  output?: number;
  /** Tokens read from the cache; absent if the vendor gives no discount. */
  cacheRead?: number;
  /** Tokens written to the cache; absent if they cost what `input` costs. */
  cacheWrite?: number;
  /** The registry and its release. */
  source: string;
  /** The day on which the registry was read, as `YYYY-MM-DD`. */
  date: string;
}

/**
 * Looks up a model by name, also by the name of a snapshot or a fine-tuned model, or with a provider prefix
 * (`openai/gpt-4o`); undefined for an unknown name. An unknown member of a known line (`claude-opus-9`) has the
 * properties of the line's newest model, which `countsAs` names. The table is LiteLLM's; see docs/tokens.md.
 */
export function modelInfo(name: string): ModelInfo | undefined {
  return callJson("modelInfo", { name }) as ModelInfo | undefined;
}

/**
 * Loads the vocabulary of an exact tokenizer from the bytes of its asset, which are validated:
 * `ctxweave/vocab/<name>.bin`, or a result of `vocabularyOf` under any name that is not an encoding's. The modules
 * `ctxweave/vocab/<name>` fetch the bytes themselves. Idempotent. Every entry point that counts accepts every
 * vocabulary.
 *
 * @throws {CtxweaveError} `invalid_vocabulary` if the bytes are damaged or another asset, or if another vocabulary has
 *   the name; `unknown_value` for a name that the entry point does not support
 */
export function loadVocabulary(name: ExactTokenizer, asset: ArrayBuffer | ArrayBufferView): void {
  if (typeof name !== "string") throw invalid("name", "the name of a vocabulary");
  const bytes = asBytes(asset, "asset");
  if (!bytes) throw invalid("asset", "the bytes of a vocabulary asset");
  // A copy, because the caller may change the buffer.
  keepVocabulary(name, bytes.slice());
}
