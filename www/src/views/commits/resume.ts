import type { Materialized } from "ctxweave/commits";

/**
 * A file from which an agent continues: its name, and the folder where that agent looks for it, with code between
 * backticks. The metadata that an agent needs to find a conversation is in its first lines.
 */
export function resumeFile({ format, bytes }: Materialized, fallback: string): { name: string; where: string } {
  const start = new TextDecoder().decode(bytes.subarray(0, 16_384));
  const field = (name: string): string | undefined => new RegExp(`"${name}":"([^"]+)"`).exec(start)?.[1];
  switch (format) {
    case "claude-code-v1": {
      const id = field("sessionId") ?? fallback;
      return {
        name: `${id}.jsonl`,
        where: `Claude Code looks for it in \`~/.claude/projects\`, in the folder of the project: \`claude --resume ${id}\``,
      };
    }
    case "codex-v1":
    case "codex-v0": {
      const id = field("id") ?? fallback;
      const time = (field("timestamp") ?? "").slice(0, 19).replaceAll(":", "-");
      return {
        name: `rollout-${time ? `${time}-` : ""}${id}.jsonl`,
        where: `Codex looks for it in \`~/.codex/sessions\`, by year, month and day: \`codex resume ${id}\``,
      };
    }
    case "gemini-v1":
      return {
        name: `session-${field("sessionId") ?? fallback}.json${start.trimStart().startsWith('{"sessionId"') ? "l" : ""}`,
        where: "Gemini CLI looks for it in `~/.gemini/tmp`, in the folder of the project",
      };
    case "bureau-agent-v1":
      return { name: `${fallback}.cbor`, where: "A CBOR array of messages" };
    default:
      return { name: `${fallback}.jsonl`, where: "One line of JSON per message" };
  }
}
