import { transcriptToMessages } from "ctxweave/commits";
import type { CommitRecord, TranscriptFormat, TranscriptPart } from "ctxweave/commits";
import type { OpenSession } from "./session.js";

/** What a commit is about, at a glance. */
export interface Details {
  /** The first words that are said in it. */
  words: string;
  /** Who says them. */
  by: "user" | "assistant" | "tool" | "summary";
  /** The tools that are called, with how often. */
  tools: readonly [name: string, times: number][];
}

const known = new WeakMap<OpenSession, Map<string, Details>>();

/** Reads a commit's own blob, when it is asked for, and once. */
export function detailsOf(session: OpenSession, record: CommitRecord): Details {
  let all = known.get(session);
  if (!all) known.set(session, (all = new Map()));
  let found = all.get(record.id);
  if (!found) all.set(record.id, (found = read(session, record)));
  return found;
}

function read({ blobs }: OpenSession, record: CommitRecord): Details {
  if (record.commit_type === "compaction") {
    return { words: oneLine(record.summary ?? "A summary of what came before"), by: "summary", tools: [] };
  }
  const blob = blobs.get(record.artifact_ref);
  let messages: ReturnType<typeof transcriptToMessages>["messages"] = [];
  try {
    if (blob) messages = transcriptToMessages(record.format as TranscriptFormat, blob).messages;
  } catch {
    // What cannot be read says so where it is materialised.
  }
  const said: { by: "user" | "assistant"; text: string }[] = [];
  const tools = new Map<string, number>();
  for (const { role, content } of messages) {
    for (const part of typeof content === "string" ? [{ type: "text", text: content } as const] : content) {
      if (part.type === "text") said.push({ by: role, text: oneLine(part.text) });
      if (part.type === "toolCall") tools.set(part.name, (tools.get(part.name) ?? 0) + 1);
    }
  }
  // What agents put before the user's words stands in tags.
  const first =
    said.find(({ by, text }) => by === "user" && text !== "" && !text.startsWith("<")) ??
    said.find(({ text }) => text !== "");
  const result = first
    ? undefined
    : firstResult(messages.flatMap(({ content }) => (typeof content === "string" ? [] : content)));
  return {
    words: first?.text ?? result ?? [...tools.keys()][0] ?? "nothing that is said",
    by: first?.by ?? "tool",
    tools: [...tools],
  };
}

function firstResult(parts: readonly (string | TranscriptPart)[]): string | undefined {
  for (const part of parts) {
    if (typeof part === "string" || part.type !== "toolResult") continue;
    const text = typeof part.content === "string" ? part.content : firstResult(part.content);
    if (text) return oneLine(text);
  }
  return undefined;
}

const MAX_LABEL_LETTERS = 160;

function oneLine(text: string): string {
  return text
    .slice(0, 4 * MAX_LABEL_LETTERS)
    .replace(/\s+/gu, " ")
    .trim()
    .slice(0, MAX_LABEL_LETTERS);
}

/** What a commit is called in a list: the first words, and when they were said. */
export function nameOf(session: OpenSession, record: CommitRecord): string {
  const { words } = detailsOf(session, record);
  const short = words.length > 60 ? `${words.slice(0, 58).trimEnd()}…` : words;
  const time = timeOf(record);
  return time ? `${short} (${time})` : short;
}

/** When a commit was made; nothing where that is not known. */
export function timeOf({ created_at }: CommitRecord): string {
  const time = new Date(created_at);
  if (time.getTime() === 0 || Number.isNaN(time.getTime())) return "";
  return time.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
}
