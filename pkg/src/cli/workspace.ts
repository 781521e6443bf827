/** `ctxweave workspace`: what an agent reads in its first turn. */

import { readFile } from "node:fs/promises";
import { openArea, tokenizerOption } from "./areas.js";
import { number, text } from "./arguments.js";
import { command } from "./command.js";
import { exits, Failure, misused } from "./failure.js";
import { given } from "./input.js";
import { statSync } from "node:fs";
import { reason } from "./output.js";
import { diagnosticLines, grouped, json, tokensLine } from "./report.js";

export const workspace = command({
  name: "workspace",
  summary: "what an agent reads in its first turn: tastes, brief, notes, log, gaps",
  usage: "FOLDER [options]",
  about: `FOLDER has \`brief.md\`, \`notes.md\`, \`log.jsonl\` and \`vocabulary_gaps.jsonl\`, each where there is one. The tastes
    that the brief names are in a folder beside it. What comes out is the response to the agent's \`read_context\`.`,
  options: {
    tastes: text("FOLDER", "the folder of the taste files; default `tastes` in FOLDER"),
    tokenizer: tokenizerOption,
    "notes-head": number("N", "lines of long notes that stay at the start; default 10"),
    "notes-tail": number("N", "lines of long notes that stay at the end; default 30"),
    "log-entries": number("N", "entries of the log; default 10"),
    "gap-records": number("N", "records of gaps; default 10"),
  },
  examples: [
    { description: "a workspace and its tastes", line: "npx ctxweave workspace manta --tastes tastes" },
    { description: "what it costs", line: "npx ctxweave workspace manta --tastes tastes --out context.json --json" },
  ],
  async run(values, [folder, ...others]) {
    if (folder === undefined || others.length > 0) throw misused("give one folder; `--help` has examples");
    try {
      statSync(folder);
    } catch (error) {
      throw new Failure(exits.file, `cannot read \`${folder}\`: ${reason(error)}`, { cause: error });
    }
    const { area, tokenizer } = await openArea("workspace", values.tokenizer);
    const { context, tokens, diagnostics } = await area.loadContext((path) => readFile(path), {
      workspaceDir: folder,
      tastesDir: values.tastes ?? `${folder}/tastes`,
      limits: given({
        notesHeadLines: values["notes-head"],
        notesTailLines: values["notes-tail"],
        logEntries: values["log-entries"],
        gapRecords: values["gap-records"],
      }),
      ...given({ tokenizer }),
    });
    const { tastes, brief, notes, recentLog, recentGaps } = tokens;
    const parts = Object.entries({ tastes, brief, notes, log: recentLog, gaps: recentGaps });
    return {
      result: json(context),
      named: { context },
      report: { tokens, diagnostics },
      lines: [
        tokensLine(tokens),
        `  ${parts.map(([name, count]) => `${name} ${grouped(count)}`).join(", ")}`,
        ...diagnosticLines(diagnostics),
      ],
    };
  },
});
