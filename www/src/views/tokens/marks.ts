import type { TextPiece, TruncatedText } from "ctxweave/tokens";

/** A marked stretch of the text. */
export interface Stretch {
  start: number;
  end: number;
  kind: "cut" | "overlap" | "found";
}

/** A mark between two characters. */
export interface Mark {
  at: number;
  kind: "marker" | "piece";
  text: string;
}

export interface Marks {
  stretches: readonly Stretch[];
  marks: readonly Mark[];
}

export const NO_MARKS: Marks = { stretches: [], marks: [] };

/** The removed part of a truncated text: the result is its beginning, the marker and its end. */
export function marksOfCut(text: string, { text: left, truncated, head, tail }: TruncatedText, marker: string): Marks {
  if (!truncated) return NO_MARKS;
  return {
    stretches: [{ start: head, end: text.length - tail, kind: "cut" }],
    marks: left.length > head + tail ? [{ at: head, kind: "marker", text: marker }] : [],
  };
}

/** The beginnings of pieces, and the stretches shared by two pieces. */
export function marksOfPieces(pieces: readonly TextPiece[], name: (piece: TextPiece, at: number) => string): Marks {
  const stretches: Stretch[] = [];
  const marks = pieces.map((piece, at): Mark => {
    const end = pieces[at - 1]?.end ?? 0;
    if (end > piece.start) stretches.push({ start: piece.start, end, kind: "overlap" });
    return { at: piece.start, kind: "piece", text: name(piece, at) };
  });
  return { stretches, marks };
}
