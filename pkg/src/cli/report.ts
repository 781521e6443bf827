/** What reports have in common. */

import type { Diagnostic } from "../types/common.js";
import type { Line, Tone } from "./output.js";

const tones: Record<Diagnostic["severity"], Tone> = { error: "error", warning: "warning", info: "faint" };

/** So many rows are shown; `--json` has all. */
const ROWS = 30;

/** Diagnostics, the same ones counted: `warning: 3 × text (chat.json:4)`. */
export function diagnosticLines(diagnostics: readonly Diagnostic[], file?: string): Line[] {
  const groups = new Map<string, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    const key = `${diagnostic.severity} ${diagnostic.code} ${diagnostic.message}`;
    groups.set(key, [...(groups.get(key) ?? []), diagnostic]);
  }
  return shortened(
    [...groups.values()].map((group): Line => {
      const [{ severity, message, path, line, column } = {} as Diagnostic] = group;
      const times = group.length > 1 ? `${group.length} × ` : "";
      const place = [path ?? file, line, column].filter((part) => part !== undefined).join(":");
      const isPlaced = path !== undefined || line !== undefined;
      return [[tones[severity], severity], `: ${times}${message}`, isPlaced ? ["faint", ` (${place})`] : ""];
    }),
  );
}

/** The first rows, and how many more there are. */
export function shortened(lines: readonly Line[]): Line[] {
  if (lines.length <= ROWS) return [...lines];
  return [...lines.slice(0, ROWS), [["faint", `  … ${lines.length - ROWS} more; \`--json\` has all`]]];
}

/** `92 of at most 100 tokens (heuristic)`. */
export function tokensLine(
  { total, tokenizer, tokenizerError }: { total: number; tokenizer: string; tokenizerError?: number },
  limit?: number,
): Line {
  const most = limit === undefined ? "" : ` of at most ${grouped(limit)}`;
  const isEstimate = tokenizer === "heuristic" || tokenizerError !== undefined;
  const may = tokenizerError === undefined ? "" : `, may be ${tokenizerError} % off`;
  const how = isEstimate ? ` (estimated: ${tokenizer}${may})` : ` (${tokenizer})`;
  return [
    ["strong", `${grouped(total)}${most} tokens`],
    ["faint", how],
  ];
}

/** 1234567 → `1,234,567`. */
export function grouped(number: number): string {
  return number.toLocaleString("en-US");
}

/** `3 messages`, `1 message`, `2 branches`. */
export function counted(number: number, what: string): string {
  const plural = what.endsWith("ch") ? "es" : "s";
  return `${grouped(number)} ${what}${number === 1 ? "" : plural}`;
}

/** JSON for a file or a pipe. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
