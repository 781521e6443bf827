/** `ctxweave workspace`: the first turn of an agent. */

import { readFile } from "node:fs/promises";
import { openArea, tokenizerOption } from "./areas.js";
import { count, text } from "./arguments.js";
import { command } from "./command.js";
import { exits, Failure, misused } from "./failure.js";
import { given } from "./input.js";
import { statSync } from "node:fs";
import { reason } from "./output.js";
import { diagnosticLines, grouped, json, tokensLine } from "./report.js";

function checkFolder(folder: string): void {
  let isFolder: boolean;
  try {
    isFolder = statSync(folder).isDirectory();
  } catch (error) {
    throw new Failure(exits.file, `cannot read \`${folder}\`: ${reason(error)}`, { cause: error });
  }
  if (!isFolder)
    throw new Failure(exits.file, `cannot read \`${folder}\`: it is not a folder; give the folder of the workspace`);
}

export const workspace = command({
  name: "workspace",
  summary: "build an agent's first turn from a workspace",
  usage: "FOLDER [options]",
  about: `FOLDER can contain \`brief.md\`, \`notes.md\`, \`log.jsonl\` and \`vocabulary_gaps.jsonl\`. The tastes that the brief names
    are in the folder of \`--tastes\`. The output is the response to the agent's \`read_context\`.`,
  options: {
    tastes: text("FOLDER", "folder of the taste files; default `tastes` in FOLDER"),
    tokenizer: tokenizerOption,
    "notes-head": count("N", "first lines to keep of long notes; default 10"),
    "notes-tail": count("N", "last lines to keep of long notes; default 30"),
    "log-entries": count("N", "log entries; default 10"),
    "gap-records": count("N", "gap records; default 10"),
  },
  examples: [
    { description: "a workspace and its tastes", line: "npx ctxweave workspace manta --tastes tastes" },
    { description: "its token cost", line: "npx ctxweave workspace manta --tastes tastes --out context.json --json" },
  ],
  async run(values, [folder, ...others]) {
    if (folder === undefined || others.length > 0) throw misused("give one folder (examples: `--help`)");
    checkFolder(folder);
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
