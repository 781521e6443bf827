/** Which agent wrote a session file. */

import type { TranscriptFormat } from "../../types/transcripts.js";
import { isObject } from "../input.js";

/** The names that formats have on the command line, and in the library. */
export const formatNames = {
  claude: "claude-code-v1",
  codex: "codex-v1",
  "codex-v0": "codex-v0",
  gemini: "gemini-v1",
  generic: "generic-v1",
  bureau: "bureau-agent-v1",
} as const satisfies Record<string, TranscriptFormat>;

/** The names to choose from: the short ones, and those of the library. */
export const formatChoices = [...new Set([...Object.keys(formatNames), ...Object.values(formatNames)])];

/** The library's name of a format. */
export function fullName(name: string): TranscriptFormat {
  return formatNames[name as keyof typeof formatNames] ?? (name as TranscriptFormat);
}

/** Lines that are looked at: a session says what it is at its beginning. */
const LINES = 50;

/** The format, by the shape of the first records that have one; undefined where none has. */
export function formatOf(bytes: Uint8Array): TranscriptFormat | undefined {
  // An array of CBOR maps, or the null that stands for an empty one. JSON begins with none of these bytes.
  const [first = 0] = bytes;
  if ((first >= 0x80 && first <= 0x9f) || first === 0xf6) return "bureau-agent-v1";
  for (const record of firstRecords(bytes)) {
    const format = formatOfRecord(record);
    if (format) return format;
  }
  return undefined;
}

/** The records at the beginning of a file: one object, or one a line. */
function firstRecords(bytes: Uint8Array): Record<string, unknown>[] {
  const lines = new TextDecoder().decode(bytes.subarray(0, 1 << 20)).split("\n", LINES);
  const records = lines.map(objectOf).filter((record) => record !== undefined);
  if (records.length > 0) return records;
  const whole = objectOf(new TextDecoder().decode(bytes));
  return whole ? [whole] : [];
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const codexItems = /^(message|reasoning|compaction|.*_call|.*_call_output)$/;

function formatOfRecord(record: Record<string, unknown>): TranscriptFormat | undefined {
  const has = (name: string) => Object.hasOwn(record, name);
  const type = typeof record["type"] === "string" ? record["type"] : "";
  if (has("projectHash") || has("$set") || has("$rewindTo") || type === "gemini") return "gemini-v1";
  if (has("payload") && has("type")) return "codex-v1";
  if (has("parentUuid") || has("leafUuid") || has("session_id") || (has("message") && has("type")))
    return "claude-code-v1";
  if (has("record_type") || (has("instructions") && has("id")) || codexItems.test(type)) return "codex-v0";
  if (has("sessionId") && has("type")) return "claude-code-v1";
  return has("role") ? "generic-v1" : undefined;
}
