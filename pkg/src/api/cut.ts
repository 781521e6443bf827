/** Texts cut and split by their tokens. */

import { callJson, numbersOf } from "../call.js";
import type { ReadonlyData } from "../types/common.js";
import { checkedText } from "./checked.js";
import type { CountOptions } from "./tokens.js";

/**
 * Where a text may be cut, never inside a grapheme cluster, as an emoji or a letter with its marks:
 *
 * - `token`: between tokens of the text as a whole; `grapheme` where the tokenizer has no tokens
 * - `grapheme`: between any two clusters
 * - `word`: not between two letters or digits, but in scripts that put no spaces between words
 * - `line`: after a line end
 * - `sentence`: after `.`, `!`, `?`, `…` and their like with the white space that follows, and after a blank line
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
  /** How many UTF-16 code units of the beginning of the text are left: all of them where nothing was cut out. */
  head: number;
  /** How many of its end are left, after the marker: 0 where nothing was cut out. */
  tail: number;
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
  if (!truncated) return { text, tokens, truncated, head, tail };
  const marker = marked ? (options?.marker ?? "") : "";
  return { text: text.slice(0, head) + marker + text.slice(text.length - tail), tokens, truncated, head, tail };
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
  const rows = numbersOf(callJson("splitText", { text: checkedText(text, "text"), options }));
  return Array.from({ length: rows.length / 3 }, (_, at) => {
    const [start, end, tokens] = rows.subarray(3 * at) as unknown as [number, number, number];
    return { text: text.slice(start, end), start, end, tokens };
  });
}
