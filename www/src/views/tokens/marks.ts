import type { TextPiece, TruncatedText } from "ctxweave/tokens";
import { tokens } from "../../ui/format.js";

/** A marked stretch of the text, which may be empty, and a label at its beginning. */
export interface Mark {
  start: number;
  end: number;
  kind: "cut" | "overlap" | "found";
  label?: string | undefined;
}

/** The removed part of a truncated text: the result is its beginning, the marker and its end. */
export function marksOfCut(text: string, { text: left, truncated, head, tail }: TruncatedText, marker: string): Mark[] {
  const label = left.length > head + tail ? marker : undefined;
  return truncated ? [{ start: head, end: text.length - tail, kind: "cut", label }] : [];
}

/** The beginnings of pieces, and the stretches that they share with the piece before. */
export const marksOfPieces = (pieces: readonly TextPiece[]): Mark[] =>
  pieces.map(({ start, tokens: cost }, at) => ({
    start,
    end: Math.max(pieces[at - 1]?.end ?? 0, start),
    kind: "overlap",
    label: `Piece ${at + 1}: ${tokens(cost)}`,
  }));
