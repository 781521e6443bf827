/** `ctxweave session import`: a session file as commits. */

import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openArea } from "../areas.js";
import { number, text } from "../arguments.js";
import { command } from "../command.js";
import { exits, Failure } from "../failure.js";
import { given } from "../input.js";
import { reason, writeFile } from "../output.js";
import { counted, diagnosticLines } from "../report.js";
import { fromOption, session } from "./read.js";

export const importSession = command({
  name: "session import",
  summary: "a session file as commits: its records, and the blobs that they name",
  usage: "[FILE] [options]",
  about: `FILE is a session file of Claude Code, Codex, Gemini CLI or another agent. A commit holds what is new in a turn; a
    compaction becomes a commit of its own, and branches start where the user left them. The records come out as JSONL, as
    \`importJsonl\` of a \`CommitGraph\` takes them, and \`--blobs\` writes what they name: every readable line of the file.`,
  options: {
    from: fromOption,
    blobs: text("FOLDER", "write each blob into this folder, as `blake3-` and its hash"),
    "created-at": text("TIME", "for lines without a time of their own (RFC 3339); default: when the file was changed"),
    principal: text("NAME", "whose session it is"),
    "every-turns": number("N", "a commit for every N answers; default 1"),
  },
  examples: [
    {
      description: "records and blobs",
      line: "npx ctxweave session import claude.jsonl --blobs blobs > commits.jsonl",
    },
    {
      description: "with the newest commit and the branches as JSON",
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
        tip === undefined ? "there is no conversation in it" : `newest: ${tip}`,
        ...branches.map(({ tip, from, sideChain }) => {
          const what = sideChain ? "another agent's conversation" : "a branch that was left";
          return `  ${what}: ${tip}${from === undefined ? "" : `, from ${from}`}`;
        }),
        ...diagnosticLines(diagnostics, name),
      ],
    };
  },
});

/** When the file was changed; now, for standard input. */
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
    throw new Failure(exits.file, `cannot make the folder \`${folder}\`: ${reason(error)}`, { cause: error });
  }
  for (const [at, { artifactRef, bytes }] of blobs.entries()) {
    progress(`writing blob ${at + 1} of ${blobs.length} …`);
    writeFile(join(folder, artifactRef.replace(":", "-")), bytes);
  }
}
