import { transcriptToMessages } from "ctxweave/commits";
import type { CommitRecord, TranscriptMessages, TranscriptPart } from "ctxweave/commits";
import type { OpenSession } from "./session.js";

/** A summary of a commit for the list. */
interface Details {
  /** Its first words. */
  words: string;
  /** Their author. */
  by: "user" | "assistant" | "tool" | "summary";
  /** The tools called, with the number of calls. */
  tools: ReadonlyMap<string, number>;
  /** All its texts, for the search. */
  text: string;
}

const known = new WeakMap<CommitRecord, Details>();

/** Reads the blob of a commit, on demand and once. */
export function detailsOf(session: OpenSession, record: CommitRecord): Details {
  let found = known.get(record);
  if (!found) known.set(record, (found = read(session, record)));
  return found;
}

export const partsOf = (content: string | TranscriptPart[]): TranscriptPart[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

/** The texts of a message, with the names and arguments of its calls. */
const textsOf = (content: string | TranscriptPart[]): string[] =>
  partsOf(content).flatMap((part) => {
    if ("text" in part) return stringsIn(part.text);
    if (part.type === "toolCall") return stringsIn([part.name, part.arguments]);
    return part.type === "toolResult" ? textsOf(part.content) : [];
  });

function stringsIn(value: unknown): string[] {
  if (typeof value === "object") return Object.values(value ?? {}).flatMap(stringsIn);
  return typeof value === "string" ? [value] : [];
}

function messagesOf({ blobs }: OpenSession, { artifact_ref, format }: CommitRecord): Partial<TranscriptMessages> {
  const blob = blobs.get(artifact_ref);
  try {
    return blob ? transcriptToMessages(format, blob) : {};
  } catch {
    // Unreadable blobs are reported when the commit is materialized.
    return {};
  }
}

function read(session: OpenSession, record: CommitRecord): Details {
  const { summary = "", commit_type } = record;
  const { system = "", messages = [] } = messagesOf(session, record);
  const text = [summary, system, ...messages.flatMap(({ content }) => textsOf(content))].join("\n");
  const tools = new Map<string, number>();
  if (commit_type === "compaction") {
    return { words: oneLine(summary || "A summary of earlier messages"), by: "summary", tools, text };
  }
  const texts: Pick<Details, "words" | "by">[] = [];
  const results: string[] = [];
  for (const { role, content } of messages) {
    for (const part of partsOf(content)) {
      if (part.type === "text") texts.push({ words: oneLine(part.text), by: role });
      if (part.type === "toolCall") tools.set(part.name, (tools.get(part.name) ?? 0) + 1);
      if (part.type === "toolResult") results.push(...textsOf(part.content).map(oneLine));
    }
  }
  // Agents put generated text before the user's words in tags.
  const first =
    texts.find(({ by, words }) => by === "user" && words !== "" && !words.startsWith("<")) ??
    texts.find(({ words }) => words !== "");
  const [firstTool = "no text"] = tools.keys();
  return {
    ...(first ?? { words: results.find((result) => result !== "") ?? firstTool, by: "tool" }),
    tools,
    text,
  };
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
export function nameOf(session: OpenSession, id: string): string {
  const record = session.records.get(id);
  if (!record) return id;
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
