/** What a provider answers: what goes in and what comes out. */

import type { Diagnostic } from "./common.js";
import type { LoomEdge, LoomNode, Media } from "./loom.js";

/**
 * An answer: the object that the provider sent, or a list of the events of its stream as SDKs give them, or either as text or bytes
 * (JSON, or server-sent events).
 */
export type ProviderReply = string | Uint8Array | ArrayBuffer | object | readonly object[];

/** How an answer becomes nodes. */
export interface ContinuationOptions {
  /** Whose answer it is: what `target.provider` was. Any string has the type; a name that is not known is an error. */
  provider:
    "anthropic" | "openai" | "openai-responses" | "gemini" | "gemini-interactions" | "completion" | (string & {});
  /** The node that the answers continue; null where they begin a tree. */
  parent: string | null;
  /** An id for each answer, of which some may be left over; or the text that the ids begin with, before 1, 2 and so on. */
  ids: string | readonly string[];
  /** When they were made. */
  createdAt?: string | number | Date;
  /** Who wrote them. The model, as the provider names it, where this is not given. */
  authorAgentId?: string;
}

/**
 * Why an answer ends. `refusal` is the model's, `contentFilter` the provider's; `pause` is sent as it is to continue; what is none of
 * these is `other`.
 */
export type StopReason =
  "end" | "stopSequence" | "length" | "toolCalls" | "refusal" | "contentFilter" | "pause" | "other";

/** An answer as nodes and edges. {@link LoomTree.upsert} takes it as it is. */
export interface Continuation {
  /** One for each answer. A call that has no id gets one that is made of the node's. */
  nodes: LoomNode[];
  /** From the parent to each of them; none without a parent. */
  edges: LoomEdge[];
  /** Images and recordings by their `ref`s, as an assembly takes them; absent where there are none. */
  media?: Record<string, Media>;
  /** The model, as the provider names it. */
  model?: string;
  /** The tokens, where the provider says them. */
  usage?: Usage;
  /** Why the first answer ends, or why there is none; absent while it streams. */
  stopReason?: StopReason;
  /** Why each answer ends. */
  choices: ContinuationChoice[];
  /** What a node cannot say, and what was damaged or is missing. */
  diagnostics: Diagnostic[];
}

/** One of the answers. */
export interface ContinuationChoice {
  /** The node that it became. */
  nodeId: string;
  /** Why it ends; absent while it streams. */
  stopReason?: StopReason;
  /** The same in the provider's own word. */
  providerStopReason?: string;
}

/** Tokens of a request and all its answers, counted the same for all providers. */
export interface Usage {
  /** Of the prompt, those from a cache and those that went into one among them. */
  inputTokens?: number;
  /** Of the answers, reasoning among them. */
  outputTokens?: number;
  /** Those of the prompt that came from the provider's cache. */
  cachedTokens?: number;
  /** Those of the prompt that went into the provider's cache. */
  cacheWriteTokens?: number;
  /** Those of the answers that are reasoning. */
  reasoningTokens?: number;
}
