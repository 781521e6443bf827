/** Shared parts of reports. */

import type { Diagnostic } from "../types/common.js";
import type { Line, Tone } from "./output.js";

const tones: Record<Diagnostic["severity"], Tone> = { error: "error", warning: "warning", info: "faint" };

/** Rows shown of a list; `--json` has all. */
const MAX_SHOWN_ROWS = 30;

/** Diagnostics, with equal ones counted: `warning: 3 × text (chat.json:4)`. */
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

/** The first rows and the number of the others. */
export function shortened(lines: readonly Line[]): Line[] {
  if (lines.length <= MAX_SHOWN_ROWS) return [...lines];
  return [
    ...lines.slice(0, MAX_SHOWN_ROWS),
    [["faint", `  … ${lines.length - MAX_SHOWN_ROWS} more; \`--json\` lists all`]],
  ];
}

/** `92 of 100 tokens (heuristic)`. */
export function tokensLine(
  { total, tokenizer, tokenizerError }: { total: number; tokenizer: string; tokenizerError?: number },
  limit?: number,
): Line {
  const ofLimit = limit === undefined ? "" : ` of ${grouped(limit)}`;
  const isEstimate = ["heuristic", "characters"].includes(tokenizer) || tokenizerError !== undefined;
  const may = tokenizerError === undefined ? "" : `, error up to ${tokenizerError} %`;
  const how = isEstimate ? ` (estimated: ${tokenizer}${may})` : ` (${tokenizer})`;
  return [
    ["strong", `${grouped(total)}${ofLimit} tokens`],
    ["faint", how],
  ];
}

/** 1234567 → `1,234,567`. */
export function grouped(number: number): string {
  return number.toLocaleString("en-US");
}

/** `3 messages`, `1 message`, `2 branches`. */
export function counted(number: number, what: string): string {
  if (number === 1) return `1 ${what}`;
  return `${grouped(number)} ${what === "leaf" ? "leaves" : `${what}${what.endsWith("ch") ? "es" : "s"}`}`;
}

/** JSON for a file or a pipe. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
