/** A session as the requests that the agent sent: one per answer, each with what the model saw. */

import type { TranscriptFormat } from "ctxweave/commits";
import type { MeasuredMessages } from "ctxweave/chat";
import type { LoomTreeData, Media, Target } from "ctxweave/loom";
import { answersIn, MIN_CACHED_TOKENS } from "../views/chats/parts.js";
import { modelOf, type Request } from "../views/chats/request.js";
import { chatArea, commitsArea, loomArea } from "./areas.js";

/** The conversation from its beginning or a compaction to the next one. */
export interface Segment {
  /** A request body with all messages of the segment. */
  body: Request;
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

/** The requests of a session file. Throws if it has no conversation. */
export async function turnsOfSession(name: string, format: TranscriptFormat, bytes: Uint8Array): Promise<SessionTurns> {
  const { CommitGraph, importTranscript } = await commitsArea();
  const { records, blobs, ...imported } = importTranscript(format, bytes, {
    createdAt: new Date(0).toISOString(),
    principal: "page",
  });
  const tip = imported.tip ?? records.at(-1)?.id;
  if (tip === undefined) throw new Error("this file contains no conversation");
  const bytesOf = new Map(blobs.map((blob) => [blob.artifactRef, blob.bytes as Uint8Array<ArrayBuffer>]));
  const graph = new CommitGraph();
  const read = async (commit: string): Promise<Measured> => {
    const found = graph.materialize(graph.planMaterialization({ commit, stop: "compaction" }), bytesOf);
    return bodyOfTranscript(found.format as TranscriptFormat, found.bytes);
  };
  try {
    for (const record of records) graph.checkpoint(record);
    // Each segment ends before a compaction, the last one with the session.
    const history = graph.history(tip).toReversed();
    const segments: Segment[] = [];
    const turns: SessionTurn[] = [];
    let begin: string | undefined;
    for (const [at, { id, commit_type: type }] of history.entries()) {
      const next = history[at + 1];
      if (type === "compaction") begin = id;
      if (next && next.commit_type !== "compaction") continue;
      const { body, measured } = await read(id);
      const earlier = begin === undefined ? 0 : answersIn((await read(begin)).measured.messages).length;
      turns.push(...turnsIn(measured, segments.length, earlier));
      segments.push({ body });
    }
    return { name, format, segments, turns };
  } finally {
    graph.free();
  }
}

interface Measured {
  body: Request;
  measured: MeasuredMessages;
}

/** A conversation as a body of the agent's provider. */
async function bodyOfTranscript(format: TranscriptFormat, bytes: Uint8Array): Promise<Measured> {
  const { transcriptToLoomTree } = await commitsArea();
  const { tree, tip, media } = transcriptToLoomTree(format, bytes);
  const written = async (target?: Target): Promise<Measured> => {
    const body = tip === undefined ? [] : await bodyOfTree(tree, tip, media as Record<string, Media>, target);
    return { body, measured: await measure(body) };
  };
  // Blocks that only newer clients know are not messages of every provider.
  return written(TARGETS[format]).catch(() => written());
}

/** Measures a body for its model, estimated if that needs a vocabulary. */
async function measure(body: Request): Promise<MeasuredMessages> {
  const { measureMessages } = await chatArea();
  const model = modelOf(body);
  return measureMessages(body, { model, tokenizer: model?.startsWith("gpt") ? "heuristic" : undefined });
}

/** The path to a node as the body of a request. */
export async function bodyOfTree(
  tree: LoomTreeData,
  tip: string,
  media: Record<string, Media> | undefined,
  target: Target = CLAUDE,
): Promise<Request> {
  const { requestBody } = await loomArea();
  const options = { contextWindow: 1e9, preferences: { tokenBuffer: 0 }, target };
  const bytes = requestBody({ tree, tip, ...(media ? { media } : {}), ...options });
  return JSON.parse(new TextDecoder().decode(bytes)) as Request;
}

/** The requests in a segment, except those of its first answers, which an earlier one has. */
function turnsIn({ messages, total }: MeasuredMessages, segment: number, earlier: number): SessionTurn[] {
  const upTo = [total - messages.reduce((sum, { tokens }) => sum + tokens, 0)];
  for (const { tokens } of messages) upTo.push((upTo.at(-1) ?? 0) + tokens);
  const turns: SessionTurn[] = [];
  for (const length of answersIn(messages).slice(earlier)) {
    const after = messages.findIndex(({ role }, at) => at > length && role !== "assistant");
    const tokens = upTo[length] ?? 0;
    const answer = (upTo.at(after) ?? tokens) - tokens;
    const before = turns.at(-1)?.tokens ?? 0;
    turns.push({ segment, length, tokens, answer, cached: before >= MIN_CACHED_TOKENS ? before : 0 });
  }
  return turns;
}
