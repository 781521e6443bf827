import type { Diagnostic } from "ctxweave/operators";

/** A position to underline, with its severity. */
export interface Underline {
  start: number;
  end: number;
  severity: Diagnostic["severity"];
}

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
export function extentAt(text: string, start: number): number {
  const rest = text.slice(start);
  const found = rest.startsWith("<") ? /^<[^>\n\r]*>?/.exec(rest) : /^[^\s<>]+/.exec(rest);
  return start + Math.max(1, found?.[0].length ?? 1);
}

/** Splits a text into pieces, each with the worst finding in it. */
export function pieces(
  text: string,
  underlines: readonly Underline[],
): { text: string; severity?: Underline["severity"] }[] {
  const rank = { info: 0, warning: 1, error: 2 };
  const cuts = new Set([0, text.length]);
  for (const { start, end } of underlines) {
    cuts.add(Math.min(start, text.length));
    cuts.add(Math.min(end, text.length));
  }
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(1).map((end, i) => {
    const start = sorted[i] ?? 0;
    const over = underlines.filter((it) => it.start <= start && it.end >= end);
    const worst = over.sort((a, b) => rank[b.severity] - rank[a.severity])[0];
    return { text: text.slice(start, end), ...(worst ? { severity: worst.severity } : {}) };
  });
}
