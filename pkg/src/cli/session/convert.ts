/** `ctxweave session convert`: the conversation of one agent, in the format of another. */

import type { TranslationTier } from "../../types/transcripts.js";
import { openArea } from "../areas.js";
import { choice, flag } from "../arguments.js";
import { command } from "../command.js";
import { misused } from "../failure.js";
import type { Line } from "../output.js";
import { counted, diagnosticLines, grouped } from "../report.js";
import { formatChoices, fullName } from "./format.js";
import { leftOut } from "./left-out.js";
import { fromOption, session } from "./read.js";

const tiers: Record<TranslationTier, string> = {
  native: "byte for byte: it is that format already",
  fields: "field by field",
  transcode: "turn by turn",
  rendering: "as a narrative in one message",
  raw: "as it is, with a description",
};

/** Above this size it takes long enough to say what is being done. */
const LARGE = 4 << 20;

export const convert = command({
  name: "session convert",
  summary: "a session of one agent for another: Claude Code, Codex, Gemini CLI",
  usage: "[FILE] --to NAME [options]",
  about: `FILE is a session file as the agent keeps it; which agent that is, its shape tells. Turns, tool calls, results and
    reasoning are written as the other agent's own. What the other format cannot say is in the report: nothing is lost
    without a word. The same file always gives the same bytes.`,
  options: {
    to: choice([...formatChoices, "markdown"], "the format to write"),
    from: fromOption,
    narrative: flag("write another vendor's turns as one message that tells them, in place of turns"),
    "through-compactions": flag("the whole history; by default it begins with its newest summary"),
  },
  examples: [
    {
      description: "a session of Claude Code, for Codex",
      line: "npx ctxweave session convert --to codex claude.jsonl --out rollout.jsonl",
    },
    {
      description: "the other way",
      line: "npx ctxweave session convert --to claude rollout.jsonl > claude-again.jsonl",
    },
    {
      description: "to read, or to paste into an issue",
      line: "npx ctxweave session convert --to markdown claude.jsonl",
    },
    {
      description: "what would be lost, as JSON",
      line: "npx ctxweave session convert --to gemini claude.jsonl --out gemini.jsonl --json",
    },
  ],
  async run({ to, from, narrative, "through-compactions": throughCompactions }, operands, { progress }) {
    if (to === undefined) throw misused("say which format is wanted: `--to codex`, `--to claude`, `--to gemini`, …");
    const { name, bytes, format } = await session(operands, from);
    const { area } = await openArea("commits");
    if (bytes.length > LARGE) progress.now(`converting ${grouped(bytes.length)} bytes of ${name} …`);
    const wanted = to === "markdown" ? to : fullName(to);
    const { diagnostics, ...translated } = area.translateTranscript({
      parts: [{ format, bytes }],
      format: wanted,
      crossFamily: narrative ? "render" : "transcode",
      throughCompactions,
    });
    // Where the target is none of the formats, Markdown is what was asked for, and not a loss.
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
        losses.length > 0 ? [["warning", "not all of it came over:"]] : [["good", "nothing was lost"]],
        ...diagnosticLines(found, name),
        ...Object.values(left).map((what): Line => [["warning", "warning"], `: ${what}`]),
      ],
    };
  },
});
