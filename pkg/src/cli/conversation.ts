/** Messages as text, for people. */

/** A part of a message, as assemblies and transcripts have them. */
interface Part {
  type: string;
  text?: string;
  name?: string;
  arguments?: unknown;
  content?: string | readonly Part[];
  isError?: boolean | undefined;
  ref?: string;
  vendor?: string;
  value?: unknown;
}

/** A message of an assembly or a transcript. */
interface Message {
  role: string;
  content: string | readonly Part[];
}

/** Characters of a tool result that are shown unless `--full` is given. */
const SHOWN_RESULT_CHARS = 600;

/** The system context and each message below a line with its role. */
export function conversationText(system: string | undefined, messages: readonly Message[], full: boolean): string {
  const all = system === undefined ? messages : [{ role: "system", content: system }, ...messages];
  return all.map(({ role, content }) => `── ${role}\n${contentText(content, full)}\n`).join("\n");
}

function contentText(content: string | readonly Part[], full: boolean): string {
  return typeof content === "string" ? content : content.map((part) => partText(part, full)).join("\n");
}

function partText(
  { type, text, name, arguments: args, content, isError, ref, vendor, value }: Part,
  full: boolean,
): string {
  if (type === "text") return text ?? "";
  if (type === "reasoning") return `[thinks] ${text ?? ""}`;
  if (type === "toolCall") return `[calls ${name}] ${JSON.stringify(args)}`;
  if (type === "vendor") return `[${vendor}] ${JSON.stringify(value)}`;
  if (type !== "toolResult") return `[${type} ${ref ?? ""}]`;
  const whole = [...contentText(content ?? "", full)];
  const rest = whole.length - SHOWN_RESULT_CHARS;
  const shown =
    full || rest <= 0
      ? whole.join("")
      : `${whole.slice(0, SHOWN_RESULT_CHARS).join("")}\n[… ${rest} more characters; \`--full\` shows all]`;
  return `[${isError ? "error" : "result"}] ${shown}`;
}
