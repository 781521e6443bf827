import { transcriptToMessages } from "ctxweave/commits";
import type { CommitRecord, TranscriptFormat, TranscriptPart } from "ctxweave/commits";
import type { OpenSession } from "./session.js";

/** A summary of a commit for the list. */
export interface Details {
  /** Its first words. */
  words: string;
  /** Their author. */
  by: "user" | "assistant" | "tool" | "summary";
  /** The tools called, with the number of calls. */
  tools: readonly [name: string, times: number][];
}

const known = new WeakMap<OpenSession, Map<string, Details>>();

/** Reads the blob of a commit, on demand and once. */
export function detailsOf(session: OpenSession, record: CommitRecord): Details {
  let all = known.get(session);
  if (!all) known.set(session, (all = new Map()));
  let found = all.get(record.id);
  if (!found) all.set(record.id, (found = read(session, record)));
  return found;
}

/** The records of a commit as they are in its file, which include its texts. */
export function recordsOf({ blobs }: OpenSession, { artifact_ref, summary = "" }: CommitRecord): string {
  const blob = blobs.get(artifact_ref);
  return blob ? `${summary} ${new TextDecoder().decode(blob)}` : summary;
}

function read({ blobs }: OpenSession, record: CommitRecord): Details {
  if (record.commit_type === "compaction") {
    return { words: oneLine(record.summary ?? "A summary of earlier messages"), by: "summary", tools: [] };
  }
  const blob = blobs.get(record.artifact_ref);
  let messages: ReturnType<typeof transcriptToMessages>["messages"] = [];
  try {
    if (blob) messages = transcriptToMessages(record.format as TranscriptFormat, blob).messages;
  } catch {
    // Unreadable blobs are reported when the commit is materialized.
  }
  const said: { by: "user" | "assistant"; text: string }[] = [];
  const tools = new Map<string, number>();
  for (const { role, content } of messages) {
    for (const part of typeof content === "string" ? [{ type: "text", text: content } as const] : content) {
      if (part.type === "text") said.push({ by: role, text: oneLine(part.text) });
      if (part.type === "toolCall") tools.set(part.name, (tools.get(part.name) ?? 0) + 1);
    }
  }
  // Agents put generated text before the user's words in tags.
  const first =
    said.find(({ by, text }) => by === "user" && text !== "" && !text.startsWith("<")) ??
    said.find(({ text }) => text !== "");
  const result = first
    ? undefined
    : firstResult(messages.flatMap(({ content }) => (typeof content === "string" ? [] : content)));
  return {
    words: first?.text ?? result ?? [...tools.keys()][0] ?? "no text",
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

/** The label of a commit in a list: its first words and its time. */
export function nameOf(session: OpenSession, record: CommitRecord): string {
  const { words } = detailsOf(session, record);
  const short = words.length > 60 ? `${words.slice(0, 58).trimEnd()}…` : words;
  const time = timeOf(record);
  return time ? `${short} (${time})` : short;
}

/** The time of a commit; empty if unknown. */
export function timeOf({ created_at }: CommitRecord): string {
  const time = new Date(created_at);
  if (time.getTime() === 0 || Number.isNaN(time.getTime())) return "";
  return time.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
}
