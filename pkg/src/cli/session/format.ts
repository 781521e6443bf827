/** Names of session formats. */

import type { TranscriptFormat, WrittenTranscriptFormat } from "../../types/transcripts.js";

/** Short names of the command line for formats that can be written, and names of the library. */
const writtenNames = {
  claude: "claude-code-v1",
  codex: "codex-v1",
  "codex-v0": "codex-v0",
  gemini: "gemini-v1",
  generic: "generic-v1",
  bureau: "bureau-agent-v1",
  pi: "pi-v3",
  atif: "atif-1.7",
  otel: "otel-genai",
  sts: "sts",
} as const satisfies Record<string, WrittenTranscriptFormat>;

/** The names of all formats that can be read. */
const formatNames = {
  ...writtenNames,
  qwen: "qwen-code-v1",
  copilot: "copilot-cli-v1",
  cline: "cline-v1",
  opencode: "opencode-export",
  continue: "continue-v1",
  events: "events-v1",
} as const satisfies Record<string, TranscriptFormat>;

const choices = (names: Record<string, string>) => [...new Set([...Object.keys(names), ...Object.values(names)])];

/** All names of formats to read, and of those to write. */
export const formatChoices = choices(formatNames);
export const writtenChoices = choices(writtenNames);

/** The library's name of a format. */
export function fullName(name: string): TranscriptFormat {
  return formatNames[name as keyof typeof formatNames] ?? (name as TranscriptFormat);
}
