import type { CommitRecord } from "./commits.js";
import type { Diagnostic, JsonValue, Limits, OwnTokenizer, Tokenizer } from "./common.js";
import type { LoomTreeData, VendorBlock } from "./loom.js";

/** A format that conversations of agents are kept in; docs/session-formats.md has the rules of each. */
export type TranscriptFormat =
  "bureau-agent-v1" | "claude-code-v1" | "codex-v0" | "codex-v1" | "gemini-v1" | "generic-v1";

/** A session file as the host has it. What is not UTF-8 is kept only where bytes are given. */
export type TranscriptBytes = ArrayBuffer | ArrayBufferView | string;

// ---------------------------------------------------------------------------------------------------------------------
// Import
// ---------------------------------------------------------------------------------------------------------------------

/** What a session file does not say about its commits. */
export interface ImportOptions {
  /** The kind of agent; part of each commit's id. */
  template?: string;
  principal?: string;
  machine?: string;
  /** Default: the session that the file names. */
  sessionId?: string;
  ticketId?: string;
  threadId?: string;
  /** The commit that the conversation continues. Default: it begins. */
  parent?: string;
  /**
   * RFC 3339, a `Date`, or milliseconds as `Date.now()` gives them: for lines that do not say when they were written. Needed
   * where none does.
   */
  createdAt?: string | number | Date;
  /** A delta ends after this many answers of the assistant. Default 1. */
  everyTurns?: number;
  /**
   * What an import of the same file gave as `resume`: this one continues there. The bytes are then those of the file from
   * `resume.offset` on, and the options those of the first import.
   */
  resume?: TranscriptResume;
  /** The file still grows: lines that are no whole commit yet are left for the next import. Default false. */
  growing?: boolean;
  /** The bytes are the whole file, although there is a `resume`: after `resume_incomplete`. Default false. */
  wholeFile?: boolean;
  /** What `token_count` is counted with. Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer;
  limits?: Limits;
}

/**
 * Where an import of a file that grows stopped: JSON of a few kB at most, however long the session, and the header line of a
 * file whose compactions repeat it. To be kept with the commits, and not to be changed.
 */
export interface TranscriptResume {
  version: 1;
  format: TranscriptFormat;
  /** The place in the file where the bytes for the next import begin, a little before what is new. */
  offset: number;
  /** How many bytes of the file are in commits, or were passed over. */
  consumed: number;
  /** Not for hosts. */
  state: JsonValue;
}

/** A session file as commits. */
export interface ImportedTranscript {
  /**
   * The newest commit of the conversation; absent where the file holds none. Where nothing of it was read as conversation, the
   * diagnostic `no_messages` says so, whether its lines are in a blob or not.
   */
  tip?: string;
  /** Parents before children. */
  records: ImportedRecord[];
  /**
   * The blobs that the records name, each once. Where bytes were given most are views of these: `slice()` one that is kept while
   * they change, or that is cloned as a whole (`postMessage`, IndexedDB).
   */
  blobs: { artifactRef: string; bytes: Uint8Array }[];
  /**
   * What the user left, and the conversations of other agents. Of a file that grows those that this import began, went on with
   * or left; the `tips()` of a graph are all.
   */
  branches: ImportedBranch[];
  /** Titles that the file gives commits of earlier imports, for `updateMetadata`. */
  titles?: { id: string; summary: string }[];
  /** Where the next import continues; absent for a file that is not lines (`bureau-agent-v1`, one object of Gemini CLI). */
  resume?: TranscriptResume;
  diagnostics: Diagnostic[];
}

/** The record of a commit that an import made. */
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
  /** The summary of a compaction, and the title that Claude Code gave a conversation, on its newest commit. */
  summary?: string;
  tags?: string[];
  message_count?: number;
  token_count?: number;
  created_at: string;
  /** Of a side chain: the commit that it was started from, or null where that is not known. */
  side_chain_of?: string | null;
}

/** A line of conversation of its own. */
export interface ImportedBranch {
  /** Its newest commit. */
  tip: string;
  /** The commit that it leaves the conversation at; of a side chain, the one that it was started from. */
  from?: string;
  /** Whether it is the conversation of another agent, which has not seen what came before. */
  sideChain: boolean;
}

// ---------------------------------------------------------------------------------------------------------------------
// Translation
// ---------------------------------------------------------------------------------------------------------------------

/** One delta of a chain. */
export interface TranslatePart {
  /** One of {@link TranscriptFormat}, or any other, which is handed over as it is. */
  format: string;
  /** A string stands for its UTF-8. */
  bytes: Uint8Array | string;
  /** For errors, diagnostics and descriptions. */
  commit?: string;
  artifactRef?: string;
  summary?: string;
}

/** A chain, oldest first, and the format it is wanted in. */
export interface TranslateRequest {
  parts: readonly TranslatePart[];
  /** One of {@link TranscriptFormat}; any other gives Markdown. */
  format: string;
  /** What becomes of the turns of another vendor's agent: a narrative (`render`, the default) or turns. */
  crossFamily?: "render" | "transcode";
  /** Reads on through compactions within the deltas. Default false: a conversation begins with its newest summary. */
  throughCompactions?: boolean;
  tokenizer?: Tokenizer | OwnTokenizer;
  limits?: Limits;
}

/** How a delta was translated, best first; see docs/sessions.md. */
export type TranslationTier = "native" | "fields" | "transcode" | "rendering" | "raw";

/** A conversation in the format asked for. */
export interface TranslatedTranscript {
  bytes: Uint8Array;
  artifactRef: string;
  format: string;
  /** The lowest that was used. */
  tier: TranslationTier;
  messageCount: number;
  tokenCount: number;
  diagnostics: Diagnostic[];
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages and trees
// ---------------------------------------------------------------------------------------------------------------------

/** How to read a conversation. */
export interface TranscriptOptions {
  /** Reads on through compactions. Default false: the conversation begins with its newest summary. */
  throughCompactions?: boolean;
  limits?: Limits;
}

/** A conversation as messages, in the shape of an assembled dialogue. */
export interface TranscriptMessages {
  /** The system messages that it begins with. */
  system?: string;
  messages: TranscriptMessage[];
  diagnostics: Diagnostic[];
}

/** One message. */
export interface TranscriptMessage {
  role: "user" | "assistant";
  /** Text whenever it is text only. */
  content: string | TranscriptPart[];
  /** The turns it holds, by the ids that their nodes have in the Loom tree. */
  nodeIds: string[];
}

/** One part of a message. */
export type TranscriptPart =
  | { type: "text"; text: string }
  | { type: "image"; ref: string; mimeType: string; data?: string; url?: string }
  | { type: "toolCall"; id: string; name: string; arguments: JsonValue }
  | { type: "toolResult"; toolCallId: string; content: string | TranscriptPart[]; isError?: boolean }
  /** The signature names its vendor: it is JSON text, as in the blocks of a tree. */
  | { type: "reasoning"; text: string; signature?: string }
  | VendorBlock;

/** A conversation as a Loom tree: a node a turn. */
export interface TranscriptTree {
  tree: LoomTreeData;
  /** The newest node; absent where the conversation is empty. */
  tip?: string;
  /** What the `ref`s of its images stand for: the `media` of a request. */
  media: { [ref: string]: { data?: string; url?: string } };
  diagnostics: Diagnostic[];
}
