/** Names of session formats. */

import type { TranscriptFormat } from "../../types/transcripts.js";

/** Short names of the command line, and names of the library. */
export const formatNames = {
  claude: "claude-code-v1",
  codex: "codex-v1",
  "codex-v0": "codex-v0",
  gemini: "gemini-v1",
  generic: "generic-v1",
  bureau: "bureau-agent-v1",
} as const satisfies Record<string, TranscriptFormat>;

/** All accepted names. */
export const formatChoices = [...new Set([...Object.keys(formatNames), ...Object.values(formatNames)])];

/** The library's name of a format. */
export function fullName(name: string): TranscriptFormat {
  return formatNames[name as keyof typeof formatNames] ?? (name as TranscriptFormat);
}
