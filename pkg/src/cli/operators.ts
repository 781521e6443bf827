/** `ctxweave operators`: validates a task template and explains what each operator sees. */

import type { ExplainedOperator } from "../types/operators.js";
import { openArea } from "./areas.js";
import { flag } from "./arguments.js";
import { command } from "./command.js";
import { exits } from "./failure.js";
import { oneInput } from "./input.js";
import type { Line } from "./output.js";
import { counted, diagnosticLines } from "./report.js";

export const operators = command({
  name: "operators",
  summary: "validate a task template and explain what each step sees",
  usage: "[FILE] [options]",
  about: `FILE is a task template in XML. The output lists, for each operator, what it sees of its parent's context, of earlier
    steps and of the memory system. Diagnostics have a line and column. An error among them gives exit code 1.`,
  options: {
    strict: flag("a missing required setting is an error"),
    exclusive: flag("inherited together with fresh context is an error"),
    write: flag("write the template with all defaults explicit"),
  },
  examples: [
    { description: "what each step sees", line: "npx ctxweave operators task.xml" },
    {
      description: "a check for a script",
      line: "npx ctxweave operators task.xml --strict --quiet > out.txt || echo invalid",
    },
    { description: "with all defaults explicit", line: "npx ctxweave operators task.xml --write" },
  ],
  async run({ strict, exclusive, write }, operands) {
    const { name, bytes } = await oneInput(operands);
    const { area } = await openArea("operators");
    const { task, diagnostics } = area.parseTask(bytes, { mode: strict ? "strict" : "compat", exclusive });
    const rows = area.explainTask(task);
    const isWrong = diagnostics.some(({ severity }) => severity === "error");
    const written = write ? area.writeTask(task) : undefined;
    return {
      result: written ?? table(rows),
      named: written === undefined ? { operators: rows } : { template: written },
      report: { diagnostics },
      lines: [summary(rows.length, isWrong), ...diagnosticLines(diagnostics, name)],
      exit: isWrong ? exits.input : exits.done,
    };
  },
});

const summary = (operators: number, isWrong: boolean): Line => [
  ["strong", counted(operators, "operator")],
  ": ",
  isWrong ? ["error", "with errors"] : ["good", "no errors"],
];

/** A row for each operator, indented by its level. */
function table(rows: readonly ExplainedOperator[]): string {
  const cells = [
    ["operator", "parent's context", "earlier steps", "memory"],
    ...rows.map(({ level, role, type, id, inherited, accumulated, fresh }) => [
      `${"  ".repeat(level)}${id ?? role} (${type})`,
      inherited.sees,
      accumulated.sees,
      fresh.sees,
    ]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
