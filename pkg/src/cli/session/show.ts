/** `ctxweave session show`: prints the conversation of a session. */

import { openArea } from "../areas.js";
import { flag } from "../arguments.js";
import { command } from "../command.js";
import { conversationText } from "../conversation.js";
import type { Line } from "../output.js";
import { counted, diagnosticLines } from "../report.js";
import { leftOut } from "./left-out.js";
import { fromOption, session } from "./read.js";

export const show = command({
  name: "session show",
  summary: "print the conversation of a session",
  usage: "[FILE] [options]",
  about: `FILE is a session file of Claude Code, Codex, Gemini CLI or another agent. The output is the conversation as a model
    sees it: without side chains and abandoned branches, and from the newest compaction on. \`--json\` writes messages.`,
  options: {
    from: fromOption,
    full: flag("do not shorten long tool results"),
    "through-compactions": flag("include the history before the newest compaction"),
  },
  examples: [
    { description: "a session as text", line: "npx ctxweave session show claude.jsonl" },
    {
      description: "complete, with the history before compactions",
      line: "npx ctxweave session show claude.jsonl --full --through-compactions",
    },
    {
      description: "as messages",
      line: "npx ctxweave session show claude.jsonl --json > messages.json",
    },
  ],
  async run({ from, full, "through-compactions": throughCompactions }, operands) {
    const { name, bytes, format } = await session(operands, from);
    const { area } = await openArea("commits");
    const { system, messages, diagnostics } = area.transcriptToMessages(format, bytes as Uint8Array<ArrayBuffer>, {
      throughCompactions,
    });
    const left = leftOut(area, format, bytes, throughCompactions);
    return {
      result: conversationText(system, messages, full),
      named: { ...(system === undefined ? {} : { system }), messages },
      report: { format, diagnostics, leftOut: Object.values(left) },
      lines: [
        [["strong", format], `: ${counted(messages.length, "message")}`],
        ...diagnosticLines(diagnostics, name),
        ...Object.values(left).map((what): Line => [["faint", what]]),
      ],
    };
  },
});
