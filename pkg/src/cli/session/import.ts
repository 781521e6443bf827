/** `ctxweave session import`: converts a session file to commits. */

import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openArea } from "../areas.js";
import { count, text } from "../arguments.js";
import { command } from "../command.js";
import { exits, Failure } from "../failure.js";
import { given } from "../input.js";
import { reason, writeFile } from "../output.js";
import { counted, diagnosticLines } from "../report.js";
import { fromOption, session } from "./read.js";

export const importSession = command({
  name: "session import",
  summary: "turn a session into commits: records and blobs",
  usage: "[FILE] [options]",
  about: `FILE is a session file of Claude Code, Codex, Gemini CLI or another agent. A commit holds the new records of a turn;
    a compaction is a commit of its own, and abandoned branches are kept. The output is records as JSONL, for
    \`importJsonl\` of a \`CommitGraph\`. \`--blobs\` writes their blobs: every readable line of the file.`,
  options: {
    from: fromOption,
    blobs: text("FOLDER", "write each blob into this folder, named `blake3-HASH`"),
    "created-at": text("TIME", "time of lines without one (RFC 3339); default: time of the file"),
    principal: text("NAME", "principal of the commits"),
    "every-turns": count("N", "answers per commit; default 1"),
  },
  examples: [
    {
      description: "records and blobs",
      line: "npx ctxweave session import claude.jsonl --blobs blobs > commits.jsonl",
    },
    {
      description: "newest commit and branches as JSON",
      line: "npx ctxweave session import claude.jsonl --out commits.jsonl --json",
    },
  ],
  async run(values, operands, { progress }) {
    const { name, bytes, format } = await session(operands, values.from);
    const { area } = await openArea("commits");
    progress(`importing ${name} …`);
    const imported = area.importTranscript(format, bytes as Uint8Array<ArrayBuffer>, {
      ...given({ principal: values.principal, everyTurns: values["every-turns"] }),
      createdAt: values["created-at"] ?? changedAt(operands[0]),
    });
    const { tip, records, blobs, branches, diagnostics } = imported;
    if (values.blobs !== undefined) writeBlobs(values.blobs, blobs, progress);
    return {
      result: records.map((record) => `${JSON.stringify(record)}\n`).join(""),
      named: { records },
      report: { format, ...given({ tip }), branches, blobs: blobs.length, diagnostics },
      lines: [
        [["strong", format], `: ${counted(records.length, "commit")}, ${counted(blobs.length, "blob")}`],
        tip === undefined ? "no conversation found" : `newest: ${tip}`,
        ...branches.map(({ tip, from, sideChain }) => {
          const what = sideChain ? "side chain" : "abandoned branch";
          return `  ${what}: ${tip}${from === undefined ? "" : `, from ${from}`}`;
        }),
        ...diagnosticLines(diagnostics, name),
      ],
    };
  },
});

/** The modification time of the file; the current time for standard input. */
function changedAt(file: string | undefined): Date {
  return file === undefined || file === "-" ? new Date() : statSync(file).mtime;
}

function writeBlobs(
  folder: string,
  blobs: readonly { artifactRef: string; bytes: Uint8Array }[],
  progress: (what: string) => void,
): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new Failure(exits.file, `cannot create the folder \`${folder}\`: ${reason(error)}`, { cause: error });
  }
  for (const [at, { artifactRef, bytes }] of blobs.entries()) {
    progress(`writing blob ${at + 1} of ${blobs.length} …`);
    writeFile(join(folder, artifactRef.replace(":", "-")), bytes);
  }
}
