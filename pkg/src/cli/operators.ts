/** `ctxweave operators`: what each step of a task template may see. */

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
  summary: "check a task template in XML, and say what each of its steps may see",
  usage: "[FILE] [options]",
  about: `FILE is a task template in XML. What comes out says, for each operator, what it sees of its parent's context, of the
    steps before it, and of what a memory system finds. Findings have their line and column; an error among them is exit
    code 1.`,
  options: {
    strict: flag("a required setting that is left out is an error"),
    exclusive: flag("inherited and fresh context in one block are an error"),
    write: flag("write the template with all defaults made explicit, in place of the table"),
  },
  examples: [
    { description: "what each step sees", line: "npx ctxweave operators task.xml" },
    {
      description: "a check for a script",
      line: "npx ctxweave operators task.xml --strict --quiet > table.txt || echo mend it",
    },
    { description: "with all defaults written down", line: "npx ctxweave operators task.xml --write" },
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

/** A row for each operator, indented as deep as it is. */
function table(rows: readonly ExplainedOperator[]): string {
  const cells = [
    ["operator", "parent's context", "steps before", "memory"],
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
