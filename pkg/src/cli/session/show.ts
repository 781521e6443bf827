/** `ctxweave session show`: what was said. */

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
  summary: "what was said in a session file",
  usage: "[FILE] [options]",
  about: `FILE is a session file of Claude Code, Codex, Gemini CLI or another agent. What is shown is the conversation that a
    model would see: no side chains, no branches that were left, and after a compaction its summary. \`--json\` gives it as
    messages.`,
  options: {
    from: fromOption,
    full: flag("long tool results whole"),
    "through-compactions": flag("the whole history; by default it begins with its newest summary"),
  },
  examples: [
    { description: "read a session", line: "npx ctxweave session show claude.jsonl" },
    {
      description: "all of it, before its compactions too",
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
