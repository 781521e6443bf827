import type { CommitRecord } from "./commits.js";
import type { Diagnostic, JsonValue, Limits, OwnTokenizer, Tokenizer } from "./common.js";
import type { LoomTreeData, VendorBlock } from "./loom.js";

/** A format of agent sessions; docs/session-formats.md has the rules of each. */
export type TranscriptFormat =
  | WrittenTranscriptFormat
  | "cline-v1"
  | "continue-v1"
  | "copilot-cli-v1"
  | "events-v1"
  | "opencode-export"
  | "qwen-code-v1";

/** A format that conversations of other agents can be translated to; the others are only read and joined. */
export type WrittenTranscriptFormat =
  | "atif-1.7"
  | "bureau-agent-v1"
  | "claude-code-v1"
  | "codex-v0"
  | "codex-v1"
  | "gemini-v1"
  | "generic-v1"
  | "otel-genai"
  | "pi-v3"
  | "sts";

/** A session file as stored by the host. Invalid UTF-8 is preserved only if passed as bytes. */
export type TranscriptBytes = ArrayBuffer | ArrayBufferView | string;

// ---------------------------------------------------------------------------------------------------------------------
// Import
// ---------------------------------------------------------------------------------------------------------------------

/** Properties of the commits that a session file does not contain. */
export interface ImportOptions {
  /** The kind of agent; part of each commit's id. */
  template?: string | undefined;
  principal?: string | undefined;
  machine?: string | undefined;
  /** Defaults to the session named in the file. */
  sessionId?: string | undefined;
  ticketId?: string | undefined;
  threadId?: string | undefined;
  /** The commit that the conversation continues. Default: none. */
  parent?: string | undefined;
  /**
   * RFC 3339, a `Date`, or milliseconds as `Date.now()` returns them: for lines without a time. Required if no line has
   * one.
   */
  createdAt?: string | number | Date | undefined;
  /** Number of assistant answers per delta. Default 1. */
  everyTurns?: number | undefined;
  /**
   * The `resume` of an earlier import of the same file; this import continues there. The bytes must then start at
   * `resume.offset`, and the options must be those of the first import.
   */
  resume?: TranscriptResume | undefined;
  /**
   * The file is still being written: lines that do not complete a commit are left for the next import. Default false.
   */
  growing?: boolean | undefined;
  /** The bytes are the whole file despite a `resume`, after `resume_incomplete`. Default false. */
  wholeFile?: boolean | undefined;
  /** Tokenizer for `token_count`. Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
  limits?: Limits | undefined;
}

/**
 * Where an incremental import stopped: JSON of a few kB, however long the session, plus the header line of files whose
 * compactions repeat it. Store it with the commits, unchanged.
 */
export interface TranscriptResume {
  version: 1;
  format: TranscriptFormat;
  /** Byte offset for the next import, slightly before the new data. */
  offset: number;
  /** Number of bytes that are in commits or were skipped. */
  consumed: number;
  /** Internal. */
  state: JsonValue;
}

/** A session file as commits. */
export interface ImportedTranscript {
  /**
   * The newest commit of the conversation; absent if the file is empty. If no line was read as conversation, the
   * diagnostic `no_messages` is reported, whether or not its lines are in a blob.
   */
  tip?: string;
  /** Parents before children. */
  records: ImportedRecord[];
  /**
   * The blobs of the records, each once. If bytes were passed, most are views of these: `slice()` a blob that is kept
   * while they change, or that is cloned (`postMessage`, IndexedDB).
   */
  blobs: { artifactRef: string; bytes: Uint8Array }[];
  /**
   * Branches that the user abandoned, and conversations of other agents. An incremental import returns those that it
   * began, continued or left; the `tips()` of a graph return all.
   */
  branches: ImportedBranch[];
  /** Titles of commits of earlier imports, for `updateMetadata`. */
  titles?: { id: string; summary: string }[];
  /**
   * Where the next import continues; absent for a file without lines (`bureau-agent-v1`, a single object of Gemini
   * CLI).
   */
  resume?: TranscriptResume;
  diagnostics: Diagnostic[];
}

/** The record of an imported commit. */
export interface ImportedRecord extends CommitRecord {
  /** `ctx-` and 16 hex digits. */
  id: string;
  version: number;
  parent?: string;
  commit_type: "delta" | "compaction" | "snapshot";
  artifact_ref: string;
  format: TranscriptFormat;
  template?: string;
  principal?: string;
  machine?: string;
  session_id?: string;
  checkpoint?: "turn_boundary" | "tool_call" | "compaction" | "session_end" | "explicit";
  ticket_id?: string;
  thread_id?: string;
  /** The summary of a compaction; on the newest commit, the title that Claude Code gave the conversation. */
  summary?: string;
  tags?: string[];
  message_count?: number;
  token_count?: number;
  created_at: string;
  /** On a side chain: the commit that started it, or null if unknown. */
  side_chain_of?: string | null;
}

/** A separate line of conversation. */
export interface ImportedBranch {
  /** Its newest commit. */
  tip: string;
  /** The commit where it branches off; for a side chain, the commit that started it. */
  from?: string;
  /** Whether it is another agent's conversation, which does not include the messages before it. */
  sideChain: boolean;
}

// ---------------------------------------------------------------------------------------------------------------------
// Translation
// ---------------------------------------------------------------------------------------------------------------------

/** One delta of a chain. */
export interface TranslatePart {
  /** One of {@link TranscriptFormat}, or any other, which is passed through unchanged. */
  format: string;
  /** A string is encoded as UTF-8. */
  bytes: Uint8Array | string;
  /** Name in errors, diagnostics and descriptions. */
  commit?: string | undefined;
  artifactRef?: string | undefined;
  /** Part of a narrative or a description; the newest is the title of a transcoded Claude Code session. */
  summary?: string | undefined;
  /** RFC 3339, a `Date`, or milliseconds: the time of turns without one. */
  createdAt?: string | number | Date | undefined;
}

/** A chain, oldest first, and the target format. */
export interface TranslateRequest {
  parts: readonly TranslatePart[];
  /**
   * One of {@link WrittenTranscriptFormat}; another {@link TranscriptFormat} only if all parts have it. Any other name
   * gives Markdown.
   */
  format: string;
  /** How to write turns of another vendor's agent: as a narrative (`render`, the default) or as turns. */
  crossFamily?: "render" | "transcode" | undefined;
  /** Reads through compactions within the deltas. Default false: a conversation begins with its newest summary. */
  throughCompactions?: boolean | undefined;
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
  limits?: Limits | undefined;
}

/** Fidelity of a translated delta, best first; see docs/sessions.md. */
export type TranslationTier = "native" | "fields" | "transcode" | "rendering" | "raw";

/** A conversation in the target format. */
export interface TranslatedTranscript {
  bytes: Uint8Array;
  artifactRef: string;
  format: string;
  /** The lowest fidelity of all deltas. */
  tier: TranslationTier;
  /** The number of parts. */
  commitCount: number;
  messageCount: number;
  tokenCount: number;
  diagnostics: Diagnostic[];
}

// ---------------------------------------------------------------------------------------------------------------------
// Forks of Codex
// ---------------------------------------------------------------------------------------------------------------------

/** The history that a fork of Codex continues. */
export interface ForkBase {
  /** The thread whose rollout begins the history. */
  threadId: string;
  /** The ordinal of the first line of that rollout that is not part of the fork. */
  endOrdinalExclusive: number;
}

/** A fork with the history before it. */
export interface JoinedFork {
  /** A `codex-v1` rollout. */
  bytes: Uint8Array;
  /** Damaged lines. */
  diagnostics: Diagnostic[];
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages and trees
// ---------------------------------------------------------------------------------------------------------------------

/** How to read a conversation. */
export interface TranscriptOptions {
  /** Reads through compactions. Default false: the conversation begins with its newest summary. */
  throughCompactions?: boolean | undefined;
  limits?: Limits | undefined;
}

/** A conversation as messages, in the format of an assembled dialogue. */
export interface TranscriptMessages {
  /** The leading system messages. */
  system?: string;
  messages: TranscriptMessage[];
  diagnostics: Diagnostic[];
}

/** Options of `contextAt`. */
export interface ContextAtOptions {
  /** The number of the answer, from 0. Default: the next answer, after all those in the file. */
  turn?: number | undefined;
  limits?: Limits | undefined;
}

/** What the model saw before an answer. */
export interface SessionContext extends TranscriptMessages {
  /** The number of the answer. */
  turn: number;
  /** The number of answers in the conversation. */
  answers: number;
  /** Whether the file holds the request itself; otherwise the messages were reconstructed from its records. */
  recorded: boolean;
}

/** One message. */
export interface TranscriptMessage {
  role: "user" | "assistant";
  /** A string if it is text only. */
  content: string | TranscriptPart[];
  /** The turns in this message, by the ids of their nodes in the Loom tree. */
  nodeIds: string[];
}

/** One part of a message. */
export type TranscriptPart =
  | { type: "text"; text: string }
  | { type: "image"; ref: string; mimeType: string; data?: string; url?: string }
  | { type: "toolCall"; id: string; name: string; arguments: JsonValue }
  | { type: "toolResult"; toolCallId: string; content: string | TranscriptPart[]; isError?: boolean }
  /** The signature is JSON text that names its vendor, as in the blocks of a tree. */
  | { type: "reasoning"; text: string; signature?: string }
  | VendorBlock;

/** A conversation as a Loom tree, one node per turn. */
export interface TranscriptTree {
  tree: LoomTreeData;
  /** The newest node; absent if the conversation is empty. */
  tip?: string;
  /** Media for the `ref`s of its images: the `media` of a request. */
  media: { [ref: string]: { data?: string; url?: string } };
  diagnostics: Diagnostic[];
}
