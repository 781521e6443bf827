/** An agent's first turn: input and output types. docs/workspace.md has the rules. */

import type { Diagnostic, DriverOptions, OwnTokenizer, Tokenizer } from "./common.js";

/**
 * Content of a file: text, bytes in UTF-8, or the reason why the host could not read it. Missing (`undefined`, `null`)
 * and empty files are valid; invalid UTF-8 and unreadable files count as empty and are reported.
 */
export type FileContent = string | Uint8Array | ArrayBuffer | { unreadable: string };

/** Location of a workspace's files, for the plan and for diagnostics. */
export interface WorkspacePlace {
  /** The folder of the taste files, shared by all workspaces. Default `tastes`. */
  tastesDir?: string | undefined;
  /** The folder of the workspace. Default: none. */
  workspaceDir?: string | undefined;
}

/** Input of the plan: the brief, because it names the genre files. */
export interface PlanInput extends WorkspacePlace {
  brief?: FileContent | null | undefined;
  /** Names of genres in addition to those in the brief. */
  genres?: string[] | undefined;
}

/** A file needed for the first turn. */
export interface PlannedFile {
  role: "default" | "genre" | "brief" | "notes" | "log" | "gaps";
  /** The name of the genre, as in `tastes.genres` of `readContext`. */
  genre?: string;
  path: string;
}

/** The files to read, in loading order: tastes, brief, notes, log, gaps. */
export interface LoadingPlan {
  files: PlannedFile[];
  diagnostics: Diagnostic[];
}

/** The files of a workspace; each is optional. */
export interface WorkspaceInput extends WorkspacePlace {
  tastes?:
    | {
        /** `_default.md`, which is always loaded. */
        default?: FileContent | null | undefined;
        /**
         * The genre files by name. Those in the brief are used, in its order; without a brief all of them, in the given
         * order. As a list they keep any order; an object puts names such as `2024` first.
         */
        genres?:
          | Record<string, FileContent | null | undefined>
          | { name: string; content?: FileContent | null | undefined }[]
          | undefined;
      }
    | undefined;
  /** Names of genres in addition to those in the brief. */
  genres?: string[] | undefined;
  brief?: FileContent | null | undefined;
  notes?: FileContent | null | undefined;
  /** JSONL. */
  log?: FileContent | null | undefined;
  /** JSONL. */
  gaps?: FileContent | null | undefined;
  limits?: WorkspaceLimits | undefined;
  /** How to count tokens. Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
}

/** Limits for the notes, the log and the gaps. */
export interface WorkspaceLimits {
  /** Lines kept at the start of long notes. Default 10. */
  notesHeadLines?: number | undefined;
  /**
   * Lines kept at the end of long notes. Default 30. Notes with no more lines than both together are returned whole.
   */
  notesTailLines?: number | undefined;
  /** Entries of the log. Default 10. */
  logEntries?: number | undefined;
  /** Gap records. Default 10. */
  gapRecords?: number | undefined;
  /** Bytes of all files together. Default 268435456. */
  inputBytes?: number | undefined;
}

/** A brief. */
export interface Brief {
  /** The text, unchanged. */
  raw: string;
  /** The text without its Tastes lines, trimmed. */
  intent: string;
  /** The names in the Tastes lines, each once, in order of first mention. */
  tastes: string[];
}

/** A brief with diagnostics. */
export interface ParsedBrief extends Brief {
  diagnostics: Diagnostic[];
}

/** A line in several genre files; the agent has to ask which applies. */
export interface TasteConflict {
  /** The line, trimmed. */
  point: string;
  /** The genres that contain it, in declared order. */
  files: string[];
}

/** One entry of the log. */
export interface LogEntry {
  /** Empty if the entry has none. */
  timestamp: string;
  /** Empty if the entry has none. */
  op: string;
  /** Every other key, in order. */
  details: Record<string, unknown>;
}

/** One vocabulary-gap record, with defaults for missing fields. */
export interface GapRecord {
  timestamp: string;
  image_id: string;
  description: string;
  workaround: string;
  /** Usually a string; any value is kept. */
  session_id: unknown;
  snapshot_hash: unknown;
  intent: unknown;
  /** `uncategorized` if the record has none. */
  intent_category: string;
  missing_capability: unknown;
  operations_involved: unknown[];
  vocabulary_used: unknown[];
  satisfaction: unknown;
  notes: string;
}

/** The response to `read_context`, in snake_case for agents, its keys in this order. */
export interface WorkspaceContext {
  tastes: { default: string; genres: Record<string, string>; conflicts: TasteConflict[] };
  brief: Brief;
  notes: { summary: string; truncated: boolean };
  /** Newest first. */
  recent_log: LogEntry[];
  /** Newest first. */
  recent_gaps: GapRecord[];
}

/** Token cost of the response: of `JSON.stringify` of each section, and their sum. */
export interface ContextTokens {
  tastes: number;
  brief: number;
  notes: number;
  recentLog: number;
  recentGaps: number;
  total: number;
  tokenizer: string;
  /** Error bound of the counts in percent: for estimates of a family without a public tokenizer. */
  tokenizerError?: number;
}

/** The response, with token costs and diagnostics. */
export interface ReadContext {
  context: WorkspaceContext;
  tokens: ContextTokens;
  diagnostics: Diagnostic[];
}

/** Reads a file by its path; resolves to its content, or to null or undefined if missing. */
export type ReadFile = (path: string, options?: DriverOptions) => Promise<string | Uint8Array | null | undefined>;

/** Options of `loadContext`. */
export interface LoadContextOptions extends WorkspacePlace, DriverOptions {
  /** Names of genres in addition to those in the brief. */
  genres?: string[] | undefined;
  limits?: WorkspaceLimits | undefined;
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
}
