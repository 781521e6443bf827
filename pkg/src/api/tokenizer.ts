/// <reference lib="esnext.disposable" />
/** Texts as tokens and back, and counted while they grow. */

import { callJson, numbersOf } from "../call.js";
import { decoderOf } from "../coders.js";
import type * as glue from "../glue.js";
import { writeRequest } from "../request.js";
import { call } from "../runtime.js";
import { asUint32, guarded } from "../source.js";
import type { CalibratedTokenizer, ExactTokenizer, OwnTokenizer, ReadonlyData, Tokenizer } from "../types/common.js";
import { checkedText, invalid } from "./checked.js";
import { type Handle, Handles } from "./handles.js";
import { type CountOptions, countTokensUpTo, onlyTokenizer } from "./tokens.js";

/** Which tokens. */
export interface TokenOptions {
  /** An exact tokenizer: the estimate and counters of the caller's have no tokens. Its vocabulary has to be loaded. */
  tokenizer: ExactTokenizer;
}

/** How to make tokens of a text. */
export interface EncodeOptions extends TokenOptions {
  /**
   * Special tokens, such as `<|endoftext|>`, that stand for themselves: all of the vocabulary's, or those named. All others are the
   * plain text that they are. Default: none.
   */
  allowedSpecial?: "all" | readonly string[];
}

/**
 * The tokens of a text, by number, as tiktoken gives them, or what made the vocabulary.
 *
 * @throws {CtxweaveError} `unknown_value` for a tokenizer without tokens and for a special token that the encoding does not have
 */
export function encodeTokens(text: string, options: ReadonlyData<EncodeOptions>): Uint32Array<ArrayBuffer> {
  const checked = checkedText(text, "text");
  const tokenizer = checked.length < MIN_UNITS_FOR_REQUEST ? onlyTokenizer(options) : undefined;
  const ids = tokenizer === undefined ? undefined : call((wasm) => wasm.encodeTokens(checked, tokenizer));
  // The wasm says what is wrong with the options only if it gets all of them.
  return ids ?? numbersOf(callJson("encodeTokens", { text: checked, options }));
}

/** Texts of fewer UTF-16 code units cross by themselves, longer ones as part of a request, where each costs less. */
const MIN_UNITS_FOR_REQUEST = 2048;

/**
 * The text that tokens stand for, special ones for their own text. What is no UTF-8, as where a character is torn, becomes U+FFFD.
 *
 * @throws {CtxweaveError} `invalid_input` with the place in `ids` of a number that is no token of the encoding
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

/** So few characters are put together faster than a decoder begins. */
const MAX_CHARACTERS_TO_JOIN = 64;

/** The text of these code units: bytes, all of them ASCII, or UTF-16. */
function textOf(units: Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer>): string {
  if (units.length < MAX_CHARACTERS_TO_JOIN) return String.fromCharCode.apply(null, units as unknown as number[]);
  // Where there is Node's `Buffer`, it is three times as fast as a decoder.
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

/** What of Node's `Buffer` is used. */
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
  const numbers = asUint32(ids, "ids");
  if (numbers) return numbers;
  if (!guarded("ids", () => Array.isArray(ids))) throw invalid("ids", "a Uint32Array or a list of tokens");
  const tokens = guarded("ids", () => Uint32Array.from(ids as number[]));
  const wrong = guarded("ids", () => (ids as unknown[]).findIndex((id, at) => id !== tokens[at]));
  if (wrong >= 0) throw invalid(`ids[${wrong}]`, "a token, a whole number from 0 to 4294967295");
  return tokens;
}

/** Where the tokens of a text end. */
export interface TokenSpans {
  /** The tokens, by number. */
  ids: Uint32Array<ArrayBuffer>;
  /**
   * Where each of them ends, in UTF-16 code units: it begins where the one before ends, and the last ends with the text. A token that
   * ends inside a character ends where that character begins; the one that ends the character has all of it. What the vocabulary
   * normalizes, as a letter with its accent after it, is as one character.
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
  const all = numbersOf(callJson("tokenSpans", { text: checkedText(text, "text"), options }));
  const count = all[0] ?? 0;
  return {
    ids: all.slice(1, 1 + count),
    ends: all.slice(1 + count, 1 + 2 * count),
    splits: all.slice(1 + 2 * count),
  };
}

/** What `calibrate` found: plain data to keep. */
export interface Calibration {
  /** What to give as `tokenizer`, wherever one is taken. */
  tokenizer: CalibratedTokenizer;
  /** By how many percent its counts may be off: the largest error on the samples, and 5 at least. Other texts may be further off. */
  error: number;
  /** How many samples it was fitted to. */
  samples: number;
}

/**
 * Fits a tokenizer to what a provider counted: its own count of each text by itself, from an endpoint that counts or from `usage`, less
 * what the request costs next to the text. A dozen texts of some thousand characters each, of the kinds that will be counted,
 * are enough. It is the estimate times three factors, of Latin letters, of digits, signs and white space, and of
 * other scripts, and never exact.
 *
 * @throws {CtxweaveError} `invalid_input` with the place in `samples` of what is no sample, and for no samples
 */
export function calibrate(samples: readonly { readonly text: string; readonly tokens: number }[]): Calibration {
  return callJson("calibrate", { samples }) as Calibration;
}

/** How many tokens the text has, or false when it has more than `limit`; reads no more of it than that takes. */
export function isWithinTokenLimit(text: string, limit: number, options?: CountOptions): number | false {
  return countTokensUpTo(text, limit, options) ?? false;
}

interface StreamHandle extends Handle {
  raw: glue.TokenCounter;
  count: number;
  /** The first half of a character whose second half is still to come. */
  half: string;
}

const handles = new Handles<StreamHandle>("token counter", "text");

/** The code point of a text that is one character; -1 for any other text. */
function onlyCharacter(text: string): number {
  const code = text.codePointAt(0) ?? -1;
  const isCharacter = text.length === (code > 0xffff ? 2 : 1) && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? code : -1;
}

/**
 * Counts a text that grows, as a reply that streams. The count is that of the whole text after each delta, and a delta costs what it is
 * long: of an exact tokenizer's text the last words are kept and looked at again, of the estimate's a few characters. A
 * counter of the caller's counts all of it again each time, which is kept.
 *
 * A call that throws leaves it as it was. Call `free` when it is done with (or say `using`); else the garbage collector frees it some
 * time. After that, and after the module had to be restarted, its methods throw `handle_freed` and `handle_lost`.
 */
export class TokenCounter {
  /** @throws {CtxweaveError} as {@link countTokens} */
  constructor(options?: { readonly tokenizer?: Tokenizer | OwnTokenizer }) {
    const { json, counter } = writeRequest({ options });
    handles.set(this, { raw: call((wasm) => new wasm.TokenCounter(json, counter)), count: 0, half: "" });
  }

  /** Adds to the text, and says how many tokens it has now. Halves of a surrogate pair may come one after the other. */
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
