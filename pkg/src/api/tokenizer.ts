/// <reference lib="esnext.disposable" />
/** Encoding, decoding and incremental counting. */

import { callJson, numbersOf } from "../call.js";
import { decoderOf } from "../coders.js";
import type * as glue from "../glue.js";
import { writeRequest } from "../request.js";
import { call } from "../runtime.js";
import { asUint32, guarded } from "../source.js";
import type { CalibratedTokenizer, ExactTokenizer, OwnTokenizer, ReadonlyData, Tokenizer } from "../types/common.js";
import { checkedList, checkedText, invalid, onlyTokenizer } from "./checked.js";
import { type Handle, Handles } from "./handles.js";
import { type CountOptions, countTokensUpTo } from "./tokens.js";

/** Which tokenizer to use. */
export interface TokenOptions {
  /** An exact tokenizer, with its vocabulary loaded: the estimate and custom counters have no tokens. */
  tokenizer: ExactTokenizer;
}

/** How to encode a text. */
export interface EncodeOptions extends TokenOptions {
  /**
   * Special tokens, such as `<|endoftext|>`, to encode as such: all of the vocabulary's, or those listed. All others
   * are plain text. Default none. Added tokens that are not special are recognized without it.
   */
  allowedSpecial?: "all" | readonly string[] | undefined;
}

/**
 * Encodes a text into token ids, equal to those of tiktoken or of the vocabulary's origin.
 *
 * @throws {CtxweaveError} `unknown_value` for a tokenizer without tokens, and for a special token unknown to the
 *   encoding
 */
export function encodeTokens(text: string, options: ReadonlyData<EncodeOptions>): Uint32Array<ArrayBuffer> {
  const checked = checkedText(text, "text");
  const tokenizer = checked.length < MIN_UNITS_FOR_REQUEST ? onlyTokenizer(options) : undefined;
  const ids = tokenizer === undefined ? undefined : call((wasm) => wasm.encodeTokens(checked, tokenizer));
  // The wasm can report invalid options only if it receives all of them.
  return ids ?? numbersOf(callJson("encodeTokens", { text: checked, options }));
}

/** Shorter texts cross separately, longer ones as part of a request, where they cost less. In UTF-16 code units. */
const MIN_UNITS_FOR_REQUEST = 2048;

/**
 * Decodes token ids into text; special tokens become their text. Invalid UTF-8, such as a split character, becomes
 * U+FFFD.
 *
 * @throws {CtxweaveError} `invalid_input` with the index in `ids` of a number that is not a token of the encoding
 */
export function decodeTokens(ids: Uint32Array | readonly number[], options: ReadonlyData<TokenOptions>): string {
  // A getter of the options may transfer the buffer of the tokens.
  const tokenizer = onlyTokenizer(options);
  const tokens = tokensOf(ids);
  const units = tokenizer === undefined ? undefined : call((wasm) => wasm.decodeTokens(tokens, tokenizer));
  if (units !== undefined) return textOf(units);
  decoder ??= decoderOf("utf-8");
  return decoder.decode(decodeTokenBytes(tokens, options));
}

let decoder: TextDecoder | undefined;

let decoder16: TextDecoder | undefined;

/** Up to this length joining characters is faster than a decoder. */
const MAX_CHARACTERS_TO_JOIN = 64;

/** Decodes code units: ASCII bytes, or UTF-16. */
function textOf(units: Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer>): string {
  if (units.length < MAX_CHARACTERS_TO_JOIN) return String.fromCharCode.apply(null, units as unknown as number[]);
  // Node's `Buffer` is three times as fast as a decoder.
  const bytes = (globalThis as { Buffer?: BufferLike }).Buffer?.from?.(
    units.buffer,
    units.byteOffset,
    units.byteLength,
  );
  const isAscii = units.BYTES_PER_ELEMENT === 1;
  const slice = isAscii ? bytes?.latin1Slice : bytes?.ucs2Slice;
  if (typeof slice === "function") return slice.call(bytes, 0, units.byteLength);
  if (isAscii) return (decoder ??= decoderOf("utf-8")).decode(units);
  return (decoder16 ??= decoderOf("utf-16le")).decode(units);
}

/** The used part of Node's `Buffer`. */
interface BufferLike {
  from?(
    bytes: ArrayBuffer,
    at: number,
    length: number,
  ): {
    latin1Slice?(start: number, end: number): string;
    ucs2Slice?(start: number, end: number): string;
  };
}

/**
 * Decodes token ids into bytes: UTF-8, except for split characters.
 *
 * @throws {CtxweaveError} `invalid_input` with the index in `ids` of a number that is not a token of the encoding
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
  const numbers = asUint32(ids, "ids");
  if (numbers) return numbers;
  if (!guarded("ids", () => Array.isArray(ids))) throw invalid("ids", "a Uint32Array or a list of tokens");
  checkedList(ids as readonly number[], "ids");
  const tokens = guarded("ids", () => Uint32Array.from(ids as number[]));
  const wrong = guarded("ids", () => (ids as unknown[]).findIndex((id, at) => id !== tokens[at]));
  if (wrong >= 0) throw invalid(`ids[${wrong}]`, "a token, a whole number from 0 to 4294967295");
  return tokens;
}

/** Where the tokens of a text end. */
export interface TokenSpans {
  /** The token ids. */
  ids: Uint32Array<ArrayBuffer>;
  /**
   * The end of each token, in UTF-16 code units: a token begins where the previous one ends, and the last one ends with
   * the text. A token that ends inside a character ends at the beginning of that character, and the token that
   * completes the character covers all of it. A sequence that the vocabulary normalizes, such as a letter and its
   * combining accent, counts as one character.
   */
  ends: Uint32Array<ArrayBuffer>;
  /** Indices of the tokens that end inside a character, in order. */
  splits: Uint32Array<ArrayBuffer>;
}

/**
 * Encodes a text and returns the end of each token, for display.
 *
 * @throws {CtxweaveError} as {@link encodeTokens}
 */
export function tokenSpans(text: string, options: ReadonlyData<EncodeOptions>): TokenSpans {
  const all = numbersOf(callJson("tokenSpans", { text: checkedText(text, "text"), options }));
  const count = all[0] ?? 0;
  return {
    ids: all.slice(1, 1 + count),
    ends: all.slice(1 + count, 1 + 2 * count),
    splits: all.slice(1 + 2 * count),
  };
}

/** Result of `calibrate`: plain data. */
export interface Calibration {
  /** Valid as `tokenizer` in all functions. */
  tokenizer: CalibratedTokenizer;
  /** Error bound in percent: the largest error on the samples, and at least 5. Other texts may exceed it. */
  error: number;
  /** Number of samples. */
  samples: number;
}

/**
 * Fits a tokenizer to a provider's counts: the count of each text alone, from a counting endpoint or from `usage`,
 * minus the overhead of the request. A dozen texts of a few thousand characters each, of the kinds to be counted, are
 * enough. The result is the estimate times three factors, for Latin letters, for digits, signs and white space, and for
 * other scripts. It is never exact.
 *
 * @throws {CtxweaveError} `invalid_input` with the path in `samples` of an invalid sample, and for an empty list
 */
export function calibrate(samples: readonly { readonly text: string; readonly tokens: number }[]): Calibration {
  return callJson("calibrate", { samples }) as Calibration;
}

/** Counts the tokens of a text, or returns false if it has more than `limit`. Stops reading at the limit. */
export function isWithinTokenLimit(text: string, limit: number, options?: CountOptions): number | false {
  return countTokensUpTo(text, limit, options) ?? false;
}

interface StreamHandle extends Handle {
  raw: glue.TokenCounter;
  count: number;
  /** A high surrogate that waits for its low surrogate. */
  half: string;
}

const handles = new Handles<StreamHandle>("token counter", "text");

/** The code point of a text of one character; -1 for any other text. */
function onlyCharacter(text: string): number {
  const code = text.codePointAt(0) ?? -1;
  const isCharacter = text.length === (code > 0xffff ? 2 : 1) && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? code : -1;
}

/**
 * Counts a streaming text. After each delta the count is that of the whole text. The cost is proportional to the delta:
 * exact tokenizers count the last words again, the estimate a few characters. A custom counter counts the whole text
 * each time, which is kept in memory.
 *
 * A call that throws leaves the counter unchanged. Call `free` when done, or declare it with `using`; otherwise the
 * garbage collector frees it eventually. Methods of a freed counter throw `handle_freed`; after a restart of the module
 * they throw `handle_lost`.
 */
export class TokenCounter {
  /** @throws {CtxweaveError} as {@link countTokens} */
  constructor(options?: { readonly tokenizer?: Tokenizer | OwnTokenizer | undefined }) {
    const { json, counter } = writeRequest({ options });
    handles.set(this, { raw: call((wasm) => new wasm.TokenCounter(json, counter)), count: 0, half: "" });
  }

  /** Appends to the text; returns its tokens. The halves of a surrogate pair may come in two calls. */
  append(delta: string): number {
    const text = checkedText(delta, "delta");
    return handles.use(this, (handle) => {
      const character = handle.half === "" ? onlyCharacter(text) : -1;
      const count = character < 0 ? -1 : call(() => handle.raw.appendCharacter(character));
      if (count >= 0) return (handle.count = count);
      const all = handle.half + text;
      const last = all.charCodeAt(all.length - 1);
      const half = last >= 0xd800 && last < 0xdc00 ? all.slice(-1) : "";
      const whole = half === "" ? all : all.slice(0, -1);
      handle.count = call(() => handle.raw.append(whole, half !== ""));
      handle.half = half;
      return handle.count;
    });
  }

  /** Tokens of the text so far. */
  get count(): number {
    return handles.use(this, ({ count }) => count);
  }

  /** Clears the text. */
  reset(): void {
    handles.use(this, (handle) => {
      call(() => handle.raw.reset());
      handle.count = 0;
      handle.half = "";
    });
  }

  /** Frees the memory. Idempotent. */
  free(): void {
    handles.free(this);
  }

  [Symbol.dispose](): void {
    this.free();
  }
}
