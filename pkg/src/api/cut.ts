/** Cutting and splitting texts by tokens. */

import { callJson, numbersOf } from "../call.js";
import { guarded } from "../source.js";
import type { ReadonlyData } from "../types/common.js";
import { checkedText } from "./checked.js";
import type { CountOptions } from "./tokens.js";

/**
 * Where a text may be cut. Never inside a grapheme cluster, such as an emoji or a letter with its marks.
 *
 * - `token`: between tokens of the whole text; `grapheme` if the tokenizer has no tokens
 * - `grapheme`: between any two clusters
 * - `word`: not between two letters or digits, except in scripts without spaces between words
 * - `line`: after a line end
 * - `sentence`: after `.`, `!`, `?`, `…` and similar signs, with the white space that follows, and after a blank line
 */
export type TextBoundary = "token" | "grapheme" | "word" | "line" | "sentence";

/** How to cut a text. */
export interface TruncateOptions extends CountOptions {
  /**
   * The part to remove: the `end`, the `start`, or the `middle`, which keeps about as much of both ends. Default `end`.
   */
  side?: "end" | "start" | "middle" | undefined;
  /** Where it may be cut. Default `token`. */
  boundary?: TextBoundary | undefined;
  /** Text that replaces the removed part; it is counted. Default none. */
  marker?: string | undefined;
}

/** A truncated text. */
export interface TruncatedText {
  /** The kept beginning, the marker and the kept end; or the text unchanged. */
  text: string;
  /** Tokens of `text`. */
  tokens: number;
  /** Whether something was removed. */
  truncated: boolean;
  /** UTF-16 code units kept at the beginning: all of them if nothing was removed. */
  head: number;
  /** UTF-16 code units kept at the end, after the marker: 0 if nothing was removed. */
  tail: number;
}

/**
 * Truncates a text to a number of tokens. The result is maximal: extended to the next allowed boundary it would be over
 * the limit. If no part of the text fits, the result is the marker; if that does not fit either, it is empty. See
 * docs/tokens.md.
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
  if (!truncated) return { text, tokens, truncated, head, tail };
  const path = "options.marker";
  const marker = marked
    ? checkedText(
        guarded(path, () => options?.marker ?? ""),
        path,
      )
    : "";
  return { text: text.slice(0, head) + marker + text.slice(text.length - tail), tokens, truncated, head, tail };
}

/** How to split a text. */
export interface SplitOptions extends CountOptions {
  /** Maximum tokens of a piece; at least 1. */
  maxTokens: number;
  /**
   * Maximum tokens repeated from the end of a piece at the beginning of the next: at most half of `maxTokens`. Default
   * 0.
   */
  overlap?: number | undefined;
  /**
   * Where to cut. A stretch without such a boundary is cut between words, and a long word between grapheme clusters.
   * Default `token`, for Markdown `line`.
   */
  boundary?: TextBoundary | undefined;
  /**
   * Whether the text is Markdown: a piece ends with a section, otherwise with a block, if possible. Blocks are
   * paragraphs, lists, tables and fenced code; a heading stays with the text after it. Default false.
   */
  markdown?: boolean | undefined;
}

/** A piece of a text. */
export interface TextPiece {
  text: string;
  /** Start, in UTF-16 code units. */
  start: number;
  /** End, exclusive. */
  end: number;
  /** Its tokens. */
  tokens: number;
}

/**
 * Splits a text into pieces of at most `maxTokens` tokens. Without the overlaps the pieces are the text.
 *
 * @throws {CtxweaveError} `invalid_input` if one grapheme cluster has more tokens than a piece may have
 */
export function splitText(text: string, options: ReadonlyData<SplitOptions>): TextPiece[] {
  const rows = numbersOf(callJson("splitText", { text: checkedText(text, "text"), options }));
  return Array.from({ length: rows.length / 3 }, (_, at) => {
    const [start, end, tokens] = rows.subarray(3 * at) as unknown as [number, number, number];
    return { text: text.slice(start, end), start, end, tokens };
  });
}
