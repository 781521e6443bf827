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
  /** All its texts, for the search. */
  text: string;
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

type Transcript = ReturnType<typeof transcriptToMessages>;
type Content = Transcript["messages"][number]["content"];

const partsOf = (content: Content): TranscriptPart[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

/** The texts of a message, with the names and arguments of its calls. */
const textsOf = (content: Content): string[] =>
  partsOf(content).flatMap((part) => {
    if ("text" in part) return stringsIn(part.text);
    if (part.type === "toolCall") return stringsIn([part.name, part.arguments]);
    return part.type === "toolResult" ? textsOf(part.content as Content) : [];
  });

function stringsIn(value: unknown): string[] {
  if (typeof value === "object") return Object.values(value ?? {}).flatMap(stringsIn);
  return typeof value === "string" ? [value] : [];
}

function read({ blobs }: OpenSession, record: CommitRecord): Details {
  const { summary = "" } = record;
  const blob = blobs.get(record.artifact_ref);
  let found: Pick<Transcript, "system" | "messages"> = { messages: [] };
  try {
    if (blob) found = transcriptToMessages(record.format as TranscriptFormat, blob);
  } catch {
    // Unreadable blobs are reported when the commit is materialized.
  }
  const { system = "", messages } = found;
  const text = [summary, system, ...messages.flatMap(({ content }) => textsOf(content))].join("\n");
  if (record.commit_type === "compaction") {
    return { words: oneLine(summary || "A summary of earlier messages"), by: "summary", tools: [], text };
  }
  const said: { by: "user" | "assistant"; text: string }[] = [];
  const results: string[] = [];
  const tools = new Map<string, number>();
  for (const { role, content } of messages) {
    for (const part of partsOf(content)) {
      if (part.type === "text") said.push({ by: role, text: oneLine(part.text) });
      if (part.type === "toolCall") tools.set(part.name, (tools.get(part.name) ?? 0) + 1);
      if (part.type === "toolResult") results.push(...textsOf(part.content as Content).map(oneLine));
    }
  }
  // Agents put generated text before the user's words in tags.
  const first =
    said.find(({ by, text: words }) => by === "user" && words !== "" && !words.startsWith("<")) ??
    said.find(({ text: words }) => words !== "");
  return {
    words: first?.text ?? results.find((result) => result !== "") ?? [...tools.keys()][0] ?? "no text",
    by: first?.by ?? "tool",
    tools: [...tools],
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
