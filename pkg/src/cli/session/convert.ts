/** `ctxweave session convert`: converts a session to another agent's format. */

import type { TranslationTier } from "../../types/transcripts.js";
import { openArea } from "../areas.js";
import { choice, flag } from "../arguments.js";
import { command } from "../command.js";
import { misused } from "../failure.js";
import type { Line } from "../output.js";
import { counted, diagnosticLines, grouped } from "../report.js";
import { fullName, writtenChoices } from "./format.js";
import { leftOut } from "./left-out.js";
import { fromOption, session } from "./read.js";

const tiers: Record<TranslationTier, string> = {
  native: "unchanged, already in this format",
  fields: "field by field",
  transcode: "turn by turn",
  rendering: "as a narrative in one message",
  raw: "unchanged, with a description",
};

/** Bytes above which progress is shown. */
const LARGE_BYTES = 4 << 20;

export const convert = command({
  name: "session convert",
  summary: "convert a session of one agent for another",
  usage: "[FILE] --to NAME [options]",
  about: `FILE is a session file of Claude Code, Codex, Gemini CLI or another agent, detected from its records. Turns, tool
    calls, results and reasoning become records of the other agent. The report lists everything that its format cannot
    express. The output is deterministic.`,
  options: {
    to: choice([...writtenChoices, "markdown"], "format of the output"),
    from: fromOption,
    narrative: flag("write the turns of another vendor as one narrative message"),
    "through-compactions": flag("include the history before the newest compaction"),
  },
  examples: [
    {
      description: "from Claude Code to Codex",
      line: "npx ctxweave session convert --to codex claude.jsonl --out rollout.jsonl",
    },
    {
      description: "and back",
      line: "npx ctxweave session convert --to claude rollout.jsonl > claude-again.jsonl",
    },
    {
      description: "as Markdown, to read or paste",
      line: "npx ctxweave session convert --to markdown claude.jsonl",
    },
    {
      description: "result and losses as JSON",
      line: "npx ctxweave session convert --to gemini claude.jsonl --json > gemini.json",
    },
  ],
  async run({ to, from, narrative, "through-compactions": throughCompactions }, operands, { progress }) {
    if (to === undefined) throw misused("missing format; give `--to codex`, `--to claude`, `--to gemini`, …");
    const { name, bytes, format } = await session(operands, from);
    const { area } = await openArea("commits");
    if (bytes.length > LARGE_BYTES) progress.now(`converting ${grouped(bytes.length)} bytes of ${name} …`);
    const wanted = to === "markdown" ? to : fullName(to);
    const { diagnostics, ...translated } = area.translateTranscript({
      parts: [{ format, bytes }],
      format: wanted,
      crossFamily: narrative ? "render" : "transcode",
      throughCompactions,
    });
    // Markdown was requested, so it is not a loss.
    const found = diagnostics.filter(({ code }) => to !== "markdown" || code !== "unknown_format");
    const left = translated.tier === "native" ? {} : leftOut(area, format, bytes, throughCompactions);
    const losses = [
      ...found.filter(({ severity }) => severity !== "info").map(({ message }) => message),
      ...Object.values(left),
    ];
    const text = wanted === "bureau-agent-v1" ? undefined : new TextDecoder().decode(translated.bytes);
    const { tier, messageCount, tokenCount } = translated;
    return {
      result: translated.bytes,
      named: text === undefined ? { base64: Buffer.from(translated.bytes).toString("base64") } : { text },
      report: { from: format, to: wanted, tier, messageCount, tokenCount, lost: losses, diagnostics: found },
      lines: [
        [["strong", `${format} → ${wanted}`], `: ${counted(messageCount, "message")}, ${tiers[tier]}`],
        losses.length > 0 ? [["warning", "not converted:"]] : [["good", "no losses"]],
        ...diagnosticLines(found, name),
        ...Object.values(left).map((what): Line => [["warning", "warning"], `: ${what}`]),
      ],
    };
  },
});
