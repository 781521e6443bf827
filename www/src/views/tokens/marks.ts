import type { TextPiece, TruncatedText } from "ctxweave/tokens";

/** What is said of a stretch of the text. */
export interface Stretch {
  start: number;
  end: number;
  kind: "cut" | "overlap";
}

/** What stands between two characters. */
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

/** What was cut out of a text: the result is its beginning, the marker and its end. */
export function marksOfCut(text: string, { text: left, truncated }: TruncatedText, marker: string): Marks {
  if (!truncated) return NO_MARKS;
  const { head, tail, marked } = endsOf(text, left, marker);
  return {
    stretches: [{ start: head, end: text.length - tail, kind: "cut" }],
    marks: marked ? [{ at: head, kind: "marker", text: marker }] : [],
  };
}

/** How much of both ends of the text is left. */
function endsOf(text: string, left: string, marker: string): { head: number; tail: number; marked: boolean } {
  const most = Math.min(text.length, left.length);
  let same = 0;
  while (same < most && text[same] === left[same]) same += 1;
  let sameEnd = 0;
  while (sameEnd < most && text.at(-1 - sameEnd) === left.at(-1 - sameEnd)) sameEnd += 1;
  for (const shown of marker ? [marker, ""] : [""]) {
    const kept = left.length - shown.length;
    const head = kept < 0 ? -1 : left.indexOf(shown, Math.max(0, kept - sameEnd));
    if (head >= 0 && head <= Math.min(same, kept)) return { head, tail: kept - head, marked: shown !== "" };
  }
  return { head: 0, tail: 0, marked: false };
}

/** Where the pieces of a text begin, and what stands in two of them. */
export function marksOfPieces(pieces: readonly TextPiece[], name: (piece: TextPiece, at: number) => string): Marks {
  const stretches: Stretch[] = [];
  const marks = pieces.map((piece, at): Mark => {
    const end = pieces[at - 1]?.end ?? 0;
    if (end > piece.start) stretches.push({ start: piece.start, end, kind: "overlap" });
    return { at: piece.start, kind: "piece", text: name(piece, at) };
  });
  return { stretches, marks };
}
