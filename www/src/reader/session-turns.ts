/** A session as the requests that the agent sent: one per answer, each with what the model saw. */

import type { CommitGraph, ImportedTranscript, TranscriptFormat } from "ctxweave/commits";
import type { FitOptions } from "ctxweave/chat";
import type { LoomTreeData, Media, Target } from "ctxweave/loom";
import { chatArea, commitsArea, loomArea } from "./areas.js";

/** The conversation from its beginning or a compaction to the next one. */
export interface Segment {
  /** A request body with all messages of the segment. */
  body: Record<string, unknown>;
  /** The field of the body that holds the messages. */
  field: "contents" | "input" | "messages";
}

/** A request of a session. */
export interface SessionTurn {
  /** Index of its segment. */
  segment: number;
  /** Number of messages of the segment that it contains. */
  length: number;
  tokens: number;
  /** Tokens of the answer. */
  answer: number;
  /** Tokens that the provider read from its cache, estimated: those of the previous request, if this one begins alike. */
  cached: number;
}

export interface SessionTurns {
  name: string;
  format: TranscriptFormat;
  segments: readonly Segment[];
  turns: readonly SessionTurn[];
}

/** The provider and the model that an agent uses unless it is configured otherwise. */
const TARGETS: Partial<Record<TranscriptFormat, Target>> = {
  "codex-v0": { provider: "openai-responses", model: "gpt-6.1-sol" },
  "codex-v1": { provider: "openai-responses", model: "gpt-6.1-sol" },
  "gemini-v1": { provider: "gemini", model: "gemini-3.1-pro-preview" },
};
const CLAUDE: Target = { provider: "anthropic", model: "claude-sonnet-5-5", maxTokens: 1024 };
const FIELDS = ["messages", "input", "contents"] as const;

/** Providers cache no shorter prefix. */
const SHORTEST = 1024;

/** The requests of a session file. Throws if it has no conversation. */
export async function turnsOfSession(name: string, format: TranscriptFormat, bytes: Uint8Array): Promise<SessionTurns> {
  const { CommitGraph, importTranscript } = await commitsArea();
  const imported = importTranscript(format, bytes, { createdAt: new Date(0).toISOString(), principal: "page" });
  const tip = imported.tip ?? imported.records.at(-1)?.id;
  if (tip === undefined) throw new Error("this file contains no conversation");
  const graph = new CommitGraph();
  try {
    for (const record of imported.records) graph.checkpoint(record);
    return { name, format, ...(await readSegments(graph, imported, tip)) };
  } finally {
    graph.free();
  }
}

async function readSegments(
  graph: CommitGraph,
  { blobs }: ImportedTranscript,
  tip: string,
): Promise<Pick<SessionTurns, "segments" | "turns">> {
  const bytesOf = new Map(blobs.map(({ artifactRef, bytes }) => [artifactRef, bytes as Uint8Array<ArrayBuffer>]));
  const read = async (commit: string): Promise<Segment> => {
    const { format, bytes } = graph.materialize(graph.planMaterialization({ commit, stop: "compaction" }), bytesOf);
    return segmentOf(format as TranscriptFormat, bytes);
  };
  // Each segment ends before a compaction, the last one with the session.
  const history = graph.history(tip).toReversed();
  const segments: Segment[] = [];
  const turns: SessionTurn[] = [];
  let begin: string | undefined;
  for (const [at, { id, commit_type: type }] of history.entries()) {
    const next = history[at + 1];
    if (type === "compaction") begin = id;
    if (next && next.commit_type !== "compaction") continue;
    const segment = await read(id);
    const before = begin === undefined ? 0 : answersIn(await read(begin));
    turns.push(...(await turnsIn(segment, segments.length, before, turns.at(-1))));
    segments.push(segment);
  }
  return { segments, turns };
}

/** The messages of a segment, as a body of the agent's provider. */
async function segmentOf(format: TranscriptFormat, bytes: Uint8Array): Promise<Segment> {
  const [{ transcriptToLoomTree }, { fitMessages }] = await Promise.all([commitsArea(), chatArea()]);
  const { tree, tip, media } = transcriptToLoomTree(format, bytes);
  if (tip === undefined) return { body: { messages: [] }, field: "messages" };
  const given = await bodyOfTree(tree, tip, media as Record<string, Media>, TARGETS[format] ?? CLAUDE);
  try {
    // Blocks that only newer clients know are not messages.
    fitMessages(chatOf(given), countingOf(given));
    return given;
  } catch {
    return bodyOfTree(tree, tip, media as Record<string, Media>, CLAUDE);
  }
}

/** The path to a node as the body of a request. */
export async function bodyOfTree(
  tree: LoomTreeData,
  tip: string,
  media: Record<string, Media> | undefined,
  target: Target = CLAUDE,
): Promise<Segment> {
  const { requestBody } = await loomArea();
  const bytes = requestBody({
    tree,
    tip,
    ...(media ? { media } : {}),
    contextWindow: 1e9,
    preferences: { tokenBuffer: 0 },
    target,
  });
  const body = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  return { body, field: FIELDS.find((field) => Array.isArray(body[field])) ?? "messages" };
}

/** The segment as `fitMessages` takes it. */
const chatOf = ({ body, field }: Segment): unknown[] =>
  field === "input" ? (body["input"] as unknown[]) : (body as unknown as unknown[]);

/** Options that count a segment for its model, estimated where that needs a vocabulary, and cut nothing. */
function countingOf({ body: { model } }: Segment): FitOptions {
  const isGpt = typeof model === "string" && model.startsWith("gpt");
  return {
    maxTokens: 1e9,
    repair: "off",
    ...(isGpt ? { tokenizer: "heuristic" } : {}),
    ...(typeof model === "string" ? { model } : {}),
  };
}

const messagesOf = ({ body, field }: Segment): readonly { role?: string; type?: string }[] =>
  body[field] as { role?: string; type?: string }[];

/** Whether a message is by the model. The Responses API has its calls and thoughts as separate items. */
const isModels = ({ role, type = "message" }: { role?: string; type?: string }): boolean =>
  role === "assistant" || role === "model" || (role === undefined && !type.endsWith("_output") && type !== "message");

/** The index of the first message of each answer. */
function answers(segment: Segment): number[] {
  const messages = messagesOf(segment);
  return messages.flatMap((message, at) => {
    const before = messages[at - 1];
    return isModels(message) && !(before && isModels(before)) ? [at] : [];
  });
}

const answersIn = (segment: Segment): number => answers(segment).length;

async function turnsIn(
  segment: Segment,
  index: number,
  skipped: number,
  previous: SessionTurn | undefined,
): Promise<SessionTurn[]> {
  const { fitMessages } = await chatArea();
  const messages = messagesOf(segment);
  const { report } = fitMessages(chatOf(segment), countingOf(segment));
  const costs = report.messages.map(({ tokens }) => tokens);
  const outside = report.tokens.total - costs.reduce((sum, one) => sum + one, 0);
  const upTo = [outside];
  for (const cost of costs) upTo.push((upTo.at(-1) ?? 0) + cost);
  const turns: SessionTurn[] = [];
  let before = previous?.segment === index ? previous : undefined;
  for (const length of answers(segment).slice(skipped)) {
    const after = messages.findIndex((message, at) => at > length && !isModels(message));
    const tokens = upTo[length] ?? 0;
    const answer = (upTo[after < 0 ? messages.length : after] ?? tokens) - tokens;
    const cached = before && before.tokens >= SHORTEST ? before.tokens : 0;
    before = { segment: index, length, tokens, answer, cached };
    turns.push(before);
  }
  return turns;
}
