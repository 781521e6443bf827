/** The report of a fit, as text. */

import type { FitReport } from "../types/chat.js";
import type { Line } from "./output.js";
import { counted, diagnosticLines, grouped, shortened, tokensLine } from "./report.js";

/** The lines of a fit's report. */
export function fitLines({ format, limit, tokens, messages, edits, added, prefix, diagnostics }: FitReport): Line[] {
  const of = (fate: string) => messages.filter((row) => row.fate === fate).length;
  const fates = ["kept", "changed", "cut", "summarized"].filter((fate) => of(fate) > 0);
  const rows = messages.filter(({ fate }) => fate !== "kept");
  return [
    [
      ["strong", `${format}: ${counted(messages.length, "message")}`],
      fates.length > 0 ? `, ${fates.map((fate) => `${grouped(of(fate))} ${fate}`).join(", ")}` : "",
    ],
    tokensLine(tokens, limit),
    ...(prefix
      ? [
          `  prefix: ${counted(prefix.messages, "message")} of the last fit${prefix.reason ? ` (${prefix.reason})` : ""}`,
        ]
      : []),
    ...(edits ?? []).map(({ edit, count, tokens }) => `  ${edit}: ${count} edited, ${grouped(tokens)} tokens freed`),
    ...shortened(
      rows.map(({ index, fate, reason, tokens, tokensAfter }): Line => {
        const tone = fate === "cut" ? "warning" : "faint";
        const after = tokensAfter === undefined ? "" : `, ${grouped(tokensAfter)} after`;
        return [`  message ${index} `, [tone, fate], ` (${reason ?? ""}), ${grouped(tokens)} tokens before${after}`];
      }),
    ),
    ...(added ? [`  ${added.kind} at ${added.index}: ${added.text.slice(0, 80)}`] : []),
    ...diagnosticLines(diagnostics),
  ];
}
