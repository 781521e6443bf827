/** The layout of a text: boxes of one token or more, and blocks of boxes that are rendered together. */

import { firstWhere } from "../../ui/binary-search.js";
import { wholePlace } from "../../ui/text-edits.js";

/** Boxes in text order. Most are one token; tokens that end inside a character share a box with the next. */
export interface Boxes {
  /** The end of each box, in UTF-16 code units. */
  ends: Uint32Array<ArrayBuffer>;
  /** The first token of each box, then the number of tokens. */
  tokens: Uint32Array<ArrayBuffer>;
  /** The id of each token; absent if the tokenizer only estimates. */
  ids?: Uint32Array<ArrayBuffer>;
}

/** The first box of each block, then the number of boxes. */
export type Blocks = readonly number[];

export function boxesOf({ ids, ends }: Required<Pick<Boxes, "ids" | "ends">>): Boxes {
  const boxEnds = new Uint32Array(ends.length);
  const tokens = new Uint32Array(ends.length + 1);
  let boxes = 0;
  for (const [token, end] of ends.entries()) {
    if (end === (ends[token - 1] ?? 0)) continue;
    boxEnds[boxes] = end;
    boxes += 1;
    tokens[boxes] = token + 1;
  }
  return { ends: boxEnds.subarray(0, boxes), tokens: tokens.subarray(0, boxes + 1), ids };
}

/** Text without known tokens: its lines, long ones in pieces of this length. */
const LONGEST = 200;

export function linesOf(text: string): Boxes {
  const ends: number[] = [];
  for (let at = 0; at < text.length;) {
    const line = text.indexOf("\n", at);
    const end = line < 0 ? text.length : line + 1;
    at = end > at + LONGEST ? wholePlace(text, at + LONGEST) : end;
    ends.push(at);
  }
  return { ends: Uint32Array.from(ends), tokens: new Uint32Array(ends.length + 1) };
}

/** A block ends at a line end after a minimum of boxes, and after the maximum in any case. */
const BLOCK_BOXES = { least: 120, most: 600 };
/** The same for boxes without tokens, which are lines. */
const BLOCK_LINES = { least: 20, most: 60 };

export function blocksOf(text: string, { ends, ids }: Boxes): Blocks {
  const { least, most } = ids ? BLOCK_BOXES : BLOCK_LINES;
  const blocks = [0];
  let first = 0;
  for (const [at, end] of ends.entries()) {
    const boxes = at + 1 - first;
    if (boxes >= most || (boxes >= least && text.charCodeAt(end - 1) === 10)) {
      first = at + 1;
      blocks.push(first);
    }
  }
  if (first < ends.length) blocks.push(ends.length);
  return blocks;
}

/** The beginning of a box, and the end of the last one. */
export const startOf = ({ ends }: Boxes, box: number): number => ends[box - 1] ?? 0;

/** The block that contains a position. */
export function blockAt(boxes: Boxes, blocks: Blocks, place: number): number {
  const next = firstWhere(blocks, (first) => startOf(boxes, first) > place, 1);
  return Math.max(Math.min(next, blocks.length - 1) - 1, 0);
}

/** The cost of the characters of a text, from 0 to 4: at four or more characters per token it is 0. */
export function heatOf(characters: number, tokens: number): number {
  return tokens === 0 ? 0 : Math.max(4 - Math.floor(characters / tokens), 0);
}
