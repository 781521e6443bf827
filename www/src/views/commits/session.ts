import { artifactRef, CommitGraph, importTranscript } from "ctxweave/commits";
import type { CommitRecord, ImportedTranscript, TranscriptFormat } from "ctxweave/commits";

/** A session as it is kept and carried by a link: the file as it was opened, and what was said to it on the page. */
export interface Session {
  name: string;
  file: Uint8Array<ArrayBuffer>;
  forks: readonly Fork[];
}

/** A message that goes on from a commit. */
interface Fork {
  parent: string;
  text: string;
  /** When it was said. */
  at: string;
  /** The message, as a line of the session's format. */
  line: string;
}

export const FORMATS: readonly { value: TranscriptFormat; name: string }[] = [
  { value: "claude-code-v1", name: "Claude Code" },
  { value: "codex-v1", name: "Codex" },
  { value: "gemini-v1", name: "Gemini" },
  { value: "generic-v1", name: "generic" },
  { value: "bureau-agent-v1", name: "Bureau (CBOR)" },
];

/** Reads what a link carries, where text has become text. Throws where that is no session. */
export function sessionOf(content: unknown): Session {
  const { name, file, forks } = (content ?? {}) as Record<string, unknown>;
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
  if (typeof name !== "string" || !(bytes instanceof Uint8Array) || !Array.isArray(forks)) {
    throw new Error("this is no session");
  }
  const session = { name, file: bytes as Uint8Array<ArrayBuffer>, forks: forks as Fork[] };
  importOf(session);
  return session;
}

/** Guesses the format by the first line that says something. */
function guess(name: string, bytes: Uint8Array): TranscriptFormat {
  const start = new TextDecoder().decode(bytes.subarray(0, 4096)).replace(/^\uFEFF/u, "");
  if (/\.cbor$/i.test(name) || bytes.subarray(0, 64).some((byte) => byte === 0)) return "bureau-agent-v1";
  if (/"type":\s*"(session_meta|response_item|turn_context)"/.test(start)) return "codex-v1";
  if (/"(sessionId|parentUuid|leafUuid)":/.test(start) && !/"projectHash":/.test(start)) return "claude-code-v1";
  if (/"projectHash":/.test(start)) return "gemini-v1";
  if (/"record_type":|"type":\s*"(function_call|input_text|output_text)"/.test(start)) return "codex-v0";
  return "generic-v1";
}

export const formatOf = ({ name, file }: Pick<Session, "name" | "file">): TranscriptFormat => guess(name, file);

/** A tree opened as a session would be one without a message. */
function isLoomTree(bytes: Uint8Array): boolean {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes)) as { tree?: object } | null;
    const tree = (value?.tree ?? value) as { nodes?: unknown; edges?: unknown } | null;
    return Array.isArray(tree?.nodes) && Array.isArray(tree.edges);
  } catch {
    return false;
  }
}

/** A file is imported once, however often it is gone back to. */
const imports = new WeakMap<Uint8Array, ImportedTranscript>();

/** The commits of a file. Throws where it holds no conversation. */
export function importOf({ name, file }: Pick<Session, "name" | "file">): ImportedTranscript {
  const known = imports.get(file);
  if (known) return known;
  if (isLoomTree(file)) throw new Error("this is a Loom tree, not a session: open it in the view Loom");
  const imported = importTranscript(formatOf({ name, file }), file, {
    createdAt: new Date(0).toISOString(),
    principal: "page",
  });
  if (!imported.records.some(({ message_count: messages }) => messages !== 0)) {
    throw new Error("there is no conversation in this file");
  }
  imports.set(file, imported);
  return imported;
}

/** A session as commits: the graph, its records with parents before children, and their blobs. */
export interface OpenSession {
  graph: CommitGraph;
  records: readonly CommitRecord[];
  blobs: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  imported: ImportedTranscript;
}

export function opened(session: Session): OpenSession {
  const imported = importOf(session);
  const graph = new CommitGraph();
  const records: CommitRecord[] = imported.records.map((record) => graph.checkpoint(record).record);
  const blobs = new Map(imported.blobs.map((blob) => [blob.artifactRef, blob.bytes as Uint8Array<ArrayBuffer>]));
  for (const { parent, text, at, line } of session.forks) {
    const { format } = graph.show(parent);
    const blob = new TextEncoder().encode(`${line}\n`);
    const ref = artifactRef(blob);
    blobs.set(ref, blob);
    const { record } = graph.checkpoint({
      parent,
      commit_type: "delta",
      artifact_ref: ref,
      format: format === "bureau-agent-v1" ? "generic-v1" : format,
      principal: "page",
      checkpoint: "explicit",
      summary: text,
      message_count: 1,
      created_at: at,
    });
    records.push(record);
  }
  return { graph, records, blobs, imported };
}

/** A message of the user that goes on from a commit, in the format of what it goes on from. */
export function forkFrom(from: CommitRecord, text: string): Fork {
  const at = new Date().toISOString();
  return { parent: from.id, text, at, line: JSON.stringify(messageIn(from, text, at)) };
}

/** One message of the user in a format; what it hangs on in a Claude Code session is the record before it. */
function messageIn({ format, id }: CommitRecord, text: string, timestamp: string): Record<string, unknown> {
  switch (format) {
    case "claude-code-v1":
      return {
        type: "user",
        uuid: crypto.randomUUID(),
        parentUuid: `fork-of-${id}`,
        isSidechain: false,
        timestamp,
        message: { role: "user", content: text },
      };
    case "codex-v1":
      return {
        timestamp,
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
      };
    case "codex-v0":
      return { type: "message", role: "user", content: [{ type: "input_text", text }] };
    case "gemini-v1":
      return { id: crypto.randomUUID(), timestamp, type: "user", content: text };
    default:
      return { role: "user", content: text };
  }
}
