/** The functions of ctxweave. Each crosses into the wasm once; there is no logic here. */

import { call } from "./runtime.js";
import type { Tokenizer } from "./types/common.js";
import type { BufferAssembly, BufferRequest, DialogueAssembly, DialogueRequest } from "./types/loom.js";

/**
 * Turns a path through a tree into messages that stay under the token limit, with a report of what was kept, cut and
 * left out. The request is never changed.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleDialogue(request: DialogueRequest): DialogueAssembly {
  return call((raw) => raw.assembleDialogue(request)) as DialogueAssembly;
}

/**
 * Turns a path through a tree into one document that stays under the token limit, with a report of what was kept, cut
 * and left out. The request is never changed.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function assembleBuffer(request: BufferRequest): BufferAssembly {
  return call((raw) => raw.assembleBuffer(request)) as BufferAssembly;
}

/** How to count. */
export interface CountOptions {
  /** Default `heuristic`. */
  tokenizer?: Tokenizer;
}

/** How many tokens the text has. */
export function countTokens(text: string, options?: CountOptions): number {
  return call((raw) => raw.countTokens(text, options));
}

/** How many tokens each of the texts has, in one crossing. */
export function countTokensBatch(texts: readonly string[], options?: CountOptions): Uint32Array {
  return call((raw) => raw.countTokensBatch(texts, options));
}

/** How many tokens the text has, or null when it has more than `limit`; reads no more of it than that takes. */
export function countTokensUpTo(text: string, limit: number, options?: CountOptions): number | null {
  return call((raw) => raw.countTokensUpTo(text, limit, options)) ?? null;
}
