import type { Diagnostic } from "ctxweave/operators";

/** The offset of a position from the library: lines end with LF, CR or CRLF, columns count UTF-16 units. */
export function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  const ends = /\r\n|\r|\n/g;
  for (let at = 1; at < line; at += 1) {
    if (!ends.exec(text)) return text.length;
    start = ends.lastIndex;
  }
  return Math.min(text.length, start + column - 1);
}

/** The end of the token at a position: of a tag, or of a word. */
function endOf(text: string, start: number): number {
  const token = /^(<[^>\n\r]*>?|[^\s<>]+)/.exec(text.slice(start))?.[0] ?? "";
  return Math.min(text.length, start + Math.max(1, token.length));
}

/** Splits a text into pieces, each with the worst severity of the findings in it. */
export function pieces(
  text: string,
  findings: readonly Diagnostic[],
): { text: string; severity: Diagnostic["severity"] | undefined }[] {
  const ranges = findings.flatMap(({ line, column, severity }) => {
    if (line === undefined || column === undefined) return [];
    const start = offsetOf(text, line, column);
    return [{ start, end: endOf(text, start), severity }];
  });
  const ends = ranges.flatMap(({ start, end }) => [start, end]);
  const cuts = [...new Set([0, ...ends, text.length])].toSorted((a, b) => a - b);
  return cuts.slice(1).map((end, i) => {
    const start = cuts[i] as number;
    const over = ranges.filter((it) => it.start <= start && it.end >= end).map(({ severity }) => severity);
    const severity = (["error", "warning", "info"] as const).find((one) => over.includes(one));
    return { text: text.slice(start, end), severity };
  });
}
