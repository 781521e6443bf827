import { artifactRef, CommitGraph, detectFormat, identify, importTranscript } from "ctxweave/commits";
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

export const formatOf = ({ file }: Session): TranscriptFormat => detectFormat(file) ?? "generic-v1";

/** How files are imported; the time is that of messages without one. */
export const IMPORT_OPTIONS = { createdAt: "1970-01-01T00:00:00.000Z", principal: "page" };

/** A file is imported once, regardless of undo and redo. */
const imports = new WeakMap<Uint8Array, ImportedTranscript>();

/** The commits of a file. Throws if it contains no conversation. */
export function importOf(session: Session): ImportedTranscript {
  const { file } = session;
  const known = imports.get(file);
  if (known) return known;
  // Opened as a session, a tree would be one without messages.
  if (identify(file).kind === "tree") throw new Error("this is a Loom tree, not a session: open it in the view Loom");
  const imported = importTranscript(formatOf(session), file, IMPORT_OPTIONS);
  if (!imported.records.some(({ message_count: messages }) => messages !== 0)) {
    throw new Error("this file contains no conversation");
  }
  imports.set(file, imported);
  return imported;
}

/** A session as commits: the graph, its records by id, parents before children, and their blobs. */
export interface OpenSession {
  graph: CommitGraph;
  records: ReadonlyMap<string, CommitRecord>;
  blobs: ReadonlyMap<string, Uint8Array>;
  imported: ImportedTranscript;
}

export function opened(session: Session): OpenSession {
  const imported = importOf(session);
  const graph = new CommitGraph();
  const records = new Map<string, CommitRecord>();
  for (const record of imported.records) records.set(record.id, graph.checkpoint(record).record);
  const blobs = new Map(imported.blobs.map((blob) => [blob.artifactRef, blob.bytes]));
  for (const fork of session.forks) {
    const blob = new TextEncoder().encode(`${fork.line}\n`);
    const artifact_ref = artifactRef(blob);
    const { record } = graph.checkpoint({ ...commitOf(fork, graph), artifact_ref });
    blobs.set(artifact_ref, blob);
    records.set(record.id, record);
  }
  return { graph, records, blobs, imported };
}

/** The commit of an added message, without its blob. */
export function commitOf({ parent, text, at }: Fork, graph: CommitGraph) {
  const { format } = graph.show(parent);
  return {
    parent,
    format: isCbor(format) ? "generic-v1" : format,
    principal: IMPORT_OPTIONS.principal,
    summary: text,
    message_count: 1,
    created_at: at,
  };
}

/** A message of the user that continues a commit, in that commit's format. */
export function forkFrom(from: CommitRecord, text: string): Fork {
  const at = new Date().toISOString();
  return { parent: from.id, text, at, line: JSON.stringify(messageIn(from, text, at)) };
}

/** One message of the user in a format. In a Claude Code session it refers to the previous record. */
function messageIn({ format, id }: CommitRecord, text: string, timestamp: string): Record<string, unknown> {
  const inCodex = { type: "message", role: "user", content: [{ type: "input_text", text }] };
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
      return { timestamp, type: "response_item", payload: inCodex };
    case "codex-v0":
      return inCodex;
    case "gemini-v1":
      return { id: crypto.randomUUID(), timestamp, type: "user", content: text };
    default:
      return { role: "user", content: text };
  }
}
