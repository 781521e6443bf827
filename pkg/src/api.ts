/**
 * The functions of ctxweave. Each crosses into the wasm once; there is no logic here, but that what is not a string never
 * gets to where the glue would take it for one.
 */

import { CtxweaveError } from "./error.js";
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
  return call((raw) => raw.countTokens(checkedText(text, "text"), options));
}

/** How many tokens each of the texts has, in one crossing. */
export function countTokensBatch(texts: readonly string[], options?: CountOptions): Uint32Array {
  return call((raw) => {
    if (!Array.isArray(texts)) throw invalid("texts", "a list of strings");
    return raw.countTokensBatch(
      texts.map((text, at) => checkedText(text, `texts[${at}]`)),
      options,
    );
  });
}

/** How many tokens the text has, or null when it has more than `limit`; reads no more of it than that takes. */
export function countTokensUpTo(text: string, limit: number, options?: CountOptions): number | null {
  const count = call((raw) => {
    if (!(typeof limit === "number" && limit >= 0)) throw invalid("limit", "a number of tokens, 0 or more");
    // More than a u32 holds is more than any text has; Infinity is a way to say so.
    return raw.countTokensUpTo(checkedText(text, "text"), Math.min(Math.floor(limit), 0xffff_ffff), options);
  });
  return count ?? null;
}

function checkedText(value: unknown, path: string): string {
  if (typeof value !== "string") throw invalid(path, "a string");
  return value;
}

function invalid(path: string, expected: string): CtxweaveError {
  return new CtxweaveError("invalid_input", `\`${path}\` must be ${expected}`, { path });
}
