/// <reference lib="esnext.disposable" />
/** Texts as tokens and back, cut and split by them, and counted while they grow. */

import type * as glue from "../glue.js";
import { callJson, rawAnswerOf } from "../json.js";
import { call } from "../runtime.js";
import type { Encoding, OwnTokenizer, ReadonlyData, Tokenizer } from "../types/common.js";
import { checkedText, invalid } from "./checked.js";
import { type Handle, Handles } from "./handles.js";
import { type CountOptions, countTokensUpTo } from "./tokens.js";

/** Which tokens. */
export interface TokenOptions {
  /** An exact tokenizer: the estimate and counters of one's own have no tokens. Its vocabulary has to be loaded. */
  tokenizer: Encoding;
}

/** How to make tokens of a text. */
export interface EncodeOptions extends TokenOptions {
  /**
   * Special tokens, such as `<|endoftext|>`, that stand for themselves: all of the encoding's, or those named. All others are the
   * plain text that they are. Default: none.
   */
  allowedSpecial?: "all" | readonly string[];
}

/**
 * The tokens of a text, by number, as tiktoken gives them.
 *
 * @throws {CtxweaveError} `unknown_value` for a tokenizer without tokens and for a special token that the encoding does not have
 */
export function encodeTokens(text: string, options: ReadonlyData<EncodeOptions>): Uint32Array<ArrayBuffer> {
  return numbers(callJson("encodeTokens", { text: checkedText(text, "text"), options }));
}

/**
 * The text that tokens stand for, special ones for their own text. What is no UTF-8, as where a character is torn, becomes U+FFFD.
 *
 * @throws {CtxweaveError} `invalid_input` with the place in `ids` of a number that is no token of the encoding
 */
export function decodeTokens(ids: Uint32Array | readonly number[], options: ReadonlyData<TokenOptions>): string {
  decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
  return decoder.decode(decodeTokenBytes(ids, options));
}

let decoder: TextDecoder | undefined;

/**
 * The bytes that tokens stand for: UTF-8, but for characters that are torn.
 *
 * @throws {CtxweaveError} `invalid_input` with the place in `ids` of a number that is no token of the encoding
 */
export function decodeTokenBytes(
  ids: Uint32Array | readonly number[],
  options: ReadonlyData<TokenOptions>,
): Uint8Array<ArrayBuffer> {
  const tokens = tokensOf(ids);
  const bytes = new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength);
  return callJson("decodeTokenBytes", { ids: bytes, options }) as Uint8Array<ArrayBuffer>;
}

function tokensOf(ids: Uint32Array | readonly number[]): Uint32Array {
  if (ids instanceof Uint32Array) return ids;
  if (!Array.isArray(ids)) throw invalid("ids", "a Uint32Array or a list of tokens");
  const tokens = Uint32Array.from(ids as number[]);
  const wrong = (ids as unknown[]).findIndex((id, at) => id !== tokens[at]);
  if (wrong >= 0) throw invalid(`ids[${wrong}]`, "a token, a whole number from 0 to 4294967295");
  return tokens;
}

/** Where the tokens of a text end. */
export interface TokenSpans {
  /** The tokens, by number. */
  ids: Uint32Array<ArrayBuffer>;
  /**
   * Where each of them ends, in UTF-16 code units: it begins where the one before ends, and the last ends with the text. A token that
   * ends inside a character ends where that character begins; the one that ends the character has all of it.
   */
  ends: Uint32Array<ArrayBuffer>;
  /** Which tokens end inside a character: their indices, in order. */
  splits: Uint32Array<ArrayBuffer>;
}

/**
 * The tokens of a text and where they end, for display.
 *
 * @throws {CtxweaveError} as {@link encodeTokens}
 */
export function tokenSpans(text: string, options: ReadonlyData<EncodeOptions>): TokenSpans {
  const all = numbers(callJson("tokenSpans", { text: checkedText(text, "text"), options }));
  const count = all[0] ?? 0;
  return {
    ids: all.slice(1, 1 + count),
    ends: all.slice(1 + count, 1 + 2 * count),
    splits: all.slice(1 + 2 * count),
  };
}

/** How many tokens the text has, or false when it has more than `limit`; reads no more of it than that takes. */
export function isWithinTokenLimit(text: string, limit: number, options?: CountOptions): number | false {
  return countTokensUpTo(text, limit, options) ?? false;
}

/**
 * Where a text may be cut, never inside a grapheme cluster, as an emoji or a letter with its marks:
 *
 * - `token`: between tokens of the text as a whole; `grapheme` where the tokenizer has no tokens
 * - `grapheme`: between any two clusters
 * - `word`: not between two letters or digits, but in scripts that put no spaces between words
 * - `line`: behind a line end
 * - `sentence`: behind `.`, `!`, `?`, `…` and their like with the white space that follows, and behind a blank line
 */
export type TextBoundary = "token" | "grapheme" | "word" | "line" | "sentence";

/** How to cut a text. */
export interface TruncateOptions extends CountOptions {
  /** Which side goes: the `end`, the `start`, or the `middle`, so that about as much stays of both ends. Default `end`. */
  side?: "end" | "start" | "middle";
  /** Where it may be cut. Default `token`. */
  boundary?: TextBoundary;
  /** Stands where something was cut out, and is counted. Default none. */
  marker?: string;
}

/** What is left of a text. */
export interface TruncatedText {
  /** The beginning of the text, the marker and its end; or the text as it was. */
  text: string;
  /** How many tokens that has. */
  tokens: number;
  /** Whether something was cut out. */
  truncated: boolean;
}

/**
 * The text with at most so many tokens: as it is where it fits, else as much of it as fits, so that with what stands up to the
 * next place where it could be cut it would not. Where nothing of it fits, the marker; where not even that does, nothing.
 */
export function truncateText(text: string, maxTokens: number, options?: ReadonlyData<TruncateOptions>): TruncatedText {
  const request = { text: checkedText(text, "text"), maxTokens, options };
  const left = callJson("truncateText", request) as {
    head: number;
    tail: number;
    marked: boolean;
    tokens: number;
    truncated: boolean;
  };
  const { head, tail, marked, tokens, truncated } = left;
  if (!truncated) return { text, tokens, truncated };
  const marker = marked ? (options?.marker ?? "") : "";
  return { text: text.slice(0, head) + marker + text.slice(text.length - tail), tokens, truncated };
}

/** How to split a text. */
export interface SplitOptions extends CountOptions {
  /** Tokens that a piece has at most; at least 1. */
  maxTokens: number;
  /** Tokens of the end of a piece that come again at the beginning of the next, at most: up to half of `maxTokens`. Default 0. */
  overlap?: number;
  /**
   * Where to cut. What has no such place within a piece is cut between words, and that between grapheme clusters. Default `token`,
   * for Markdown `line`.
   */
  boundary?: TextBoundary;
  /**
   * Whether the text is Markdown: a piece ends with a section, or else with a block, where it can. Blocks are paragraphs, lists, tables
   * and fenced code; a heading stays with what follows it. Default false.
   */
  markdown?: boolean;
}

/** A piece of a text. */
export interface TextPiece {
  text: string;
  /** Where it begins, in UTF-16 code units. */
  start: number;
  /** Where it ends. */
  end: number;
  /** How many tokens it has. */
  tokens: number;
}

/**
 * The pieces of a text with at most so many tokens each, in order: together they are the text, but for what comes again.
 *
 * @throws {CtxweaveError} `invalid_input` where one grapheme cluster alone has more tokens than a piece may have
 */
export function splitText(text: string, options: ReadonlyData<SplitOptions>): TextPiece[] {
  const rows = numbers(callJson("splitText", { text: checkedText(text, "text"), options }));
  return Array.from({ length: rows.length / 3 }, (_, at) => {
    const [start, end, tokens] = rows.subarray(3 * at) as unknown as [number, number, number];
    return { text: text.slice(start, end), start, end, tokens };
  });
}

/** A list of numbers as the wasm gives it. */
function numbers(answer: unknown): Uint32Array<ArrayBuffer> {
  return new Uint32Array((answer as Uint8Array<ArrayBuffer>).buffer);
}

interface StreamHandle extends Handle {
  raw: glue.TokenCounter;
  count: number;
  /** The first half of a character whose second half is still to come. */
  half: string;
}

const handles = new Handles<StreamHandle>("token counter", "text");

/**
 * Counts a text that grows, as a reply that streams. The count is that of the whole text after each delta, and a delta costs what it is
 * long: of an exact tokenizer's text the last words are kept and looked at again, of the estimate's a few characters. A
 * counter of one's own counts all of it again each time, which is kept.
 *
 * A call that throws leaves it as it was. Call `free` when it is done with (or say `using`); else the garbage collector frees it some
 * time. After that, and after the module had to be started anew, its methods throw `handle_freed` and `handle_lost`.
 */
export class TokenCounter {
  /** @throws {CtxweaveError} as {@link countTokens} */
  constructor(options?: { readonly tokenizer?: Tokenizer | OwnTokenizer }) {
    let raw: glue.TokenCounter | undefined;
    rawAnswerOf(
      (wasm, { json }, tokenizer) => {
        raw = new wasm.TokenCounter(json, tokenizer);
      },
      { options },
    );
    handles.set(this, { raw: raw as unknown as glue.TokenCounter, count: 0, half: "" });
  }

  /** Adds to the text, and says how many tokens it has now. Halves of a surrogate pair may come one after the other. */
  append(delta: string): number {
    const text = checkedText(delta, "delta");
    return handles.use(this, (handle) => {
      const all = handle.half + text;
      const last = all.charCodeAt(all.length - 1);
      const half = last >= 0xd800 && last < 0xdc00 ? all.slice(-1) : "";
      const whole = half === "" ? all : all.slice(0, -1);
      handle.count = call(() => handle.raw.append(whole, half !== ""));
      handle.half = half;
      return handle.count;
    });
  }

  /** How many tokens the text so far has. */
  get count(): number {
    return handles.use(this, ({ count }) => count);
  }

  /** Begins again, without a text. */
  reset(): void {
    handles.use(this, (handle) => {
      call(() => handle.raw.reset());
      handle.count = 0;
      handle.half = "";
    });
  }

  /** Gives its memory back. To free it again is harmless. */
  free(): void {
    handles.free(this);
  }

  [Symbol.dispose](): void {
    this.free();
  }
}
