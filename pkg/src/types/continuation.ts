/** Answers of providers: input and output types. */

import type { Diagnostic } from "./common.js";
import type { LoomEdge, LoomNode, Media } from "./loom.js";

/**
 * An answer: the provider's object, a list of its stream events as SDKs return them, or either as text or bytes (JSON,
 * or server-sent events).
 */
export type ProviderReply = string | Uint8Array | ArrayBuffer | object | readonly object[];

/** How to turn an answer into nodes. */
export interface ContinuationOptions {
  /** The provider of the answer: the `target.provider` of the request. Accepts any string; an unknown name throws. */
  provider:
    "anthropic" | "openai" | "openai-responses" | "gemini" | "gemini-interactions" | "completion" | (string & {});
  /** The node that the answers continue; null if they begin a tree. */
  parent: string | null;
  /** One id for each answer, possibly more; or a prefix for ids, followed by 1, 2 and so on. */
  ids: string | readonly string[];
  /** Time of creation. */
  createdAt?: string | number | Date | undefined;
  /** The author. Defaults to the model, as named by the provider. */
  authorAgentId?: string | undefined;
}

/**
 * Why an answer ends. `refusal` is the model's, `contentFilter` the provider's; a `pause` is sent back unchanged to
 * continue; `other` is everything else.
 */
export type StopReason =
  "end" | "stopSequence" | "length" | "toolCalls" | "refusal" | "contentFilter" | "pause" | "other";

/** An answer as nodes and edges, ready for {@link LoomTree.upsert}. */
export interface Continuation {
  /** One for each answer. A call without an id gets one derived from the node's. */
  nodes: LoomNode[];
  /** From the parent to each of them; empty without a parent. */
  edges: LoomEdge[];
  /** Images and recordings by `ref`, ready for an assembly; absent if the answer has none. */
  media?: Record<string, Media>;
  /** The model, as named by the provider. */
  model?: string;
  /** Token usage, if the provider states it. */
  usage?: Usage;
  /** Why the first answer ended, or why the provider returned none; absent while it streams. */
  stopReason?: StopReason;
  /** Why each answer ended. */
  choices: ContinuationChoice[];
  /** Content that a node cannot express, and what was damaged or missing. */
  diagnostics: Diagnostic[];
}

/** One answer. */
export interface ContinuationChoice {
  /** The node created for it. */
  nodeId: string;
  /** Why it ended; absent while it streams. */
  stopReason?: StopReason;
  /** The same as named by the provider. */
  providerStopReason?: string;
}

/** Tokens of a request and all its answers, with the same meaning for all providers. */
export interface Usage {
  /** Tokens of the prompt, including those read from and written to the cache. */
  inputTokens?: number;
  /** Tokens of the answers, including reasoning. */
  outputTokens?: number;
  /** Tokens of the prompt read from the provider's cache. */
  cachedTokens?: number;
  /** Tokens of the prompt written to the provider's cache. */
  cacheWriteTokens?: number;
  /** Reasoning tokens of the answers. */
  reasoningTokens?: number;
}
