import { artifactRef, CommitGraph, detectFormat, importTranscript } from "ctxweave/commits";
import type { CommitRecord, ImportedTranscript, TranscriptFormat } from "ctxweave/commits";

/** A session as stored and as carried by a link: the opened file, and messages added on the page. */
export interface Session {
  name: string;
  file: Uint8Array<ArrayBuffer>;
  forks: readonly Fork[];
}

/** A message that continues a commit. */
interface Fork {
  parent: string;
  text: string;
  /** Its time. */
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

/** Reads the document of a link, in which text bytes are text. Throws if it is not a session. */
export function sessionOf(content: unknown): Session {
  const { name, file, forks } = (content ?? {}) as Record<string, unknown>;
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
  if (typeof name !== "string" || !(bytes instanceof Uint8Array) || !Array.isArray(forks)) {
    throw new Error("this is not a session");
  }
  const session = { name, file: bytes as Uint8Array<ArrayBuffer>, forks: forks as Fork[] };
  importOf(session);
  return session;
}

/** Whether sessions of a format are CBOR; those of all others are text. */
export const isCbor = (format: string): boolean => format === "bureau-agent-v1" || format === "events-v1";

export const formatOf = ({ file }: Pick<Session, "file">): TranscriptFormat => detectFormat(file) ?? "generic-v1";

/** Opened as a session, a tree would be one without messages. */
function isLoomTree(bytes: Uint8Array): boolean {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes)) as { tree?: object } | null;
    const tree = (value?.tree ?? value) as { nodes?: unknown; edges?: unknown } | null;
    return Array.isArray(tree?.nodes) && Array.isArray(tree.edges);
  } catch {
    return false;
  }
}

/** A file is imported once, regardless of undo and redo. */
const imports = new WeakMap<Uint8Array, ImportedTranscript>();

/** The commits of a file. Throws if it contains no conversation. */
export function importOf({ file }: Pick<Session, "file">): ImportedTranscript {
  const known = imports.get(file);
  if (known) return known;
  if (isLoomTree(file)) throw new Error("this is a Loom tree, not a session: open it in the view Loom");
  const imported = importTranscript(formatOf({ file }), file, {
    createdAt: new Date(0).toISOString(),
    principal: "page",
  });
  if (!imported.records.some(({ message_count: messages }) => messages !== 0)) {
    throw new Error("this file contains no conversation");
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
      format: isCbor(format) ? "generic-v1" : format,
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

/** A message of the user that continues a commit, in that commit's format. */
export function forkFrom(from: CommitRecord, text: string): Fork {
  const at = new Date().toISOString();
  return { parent: from.id, text, at, line: JSON.stringify(messageIn(from, text, at)) };
}

/** One message of the user in a format. In a Claude Code session it refers to the previous record. */
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
