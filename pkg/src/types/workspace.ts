/** An agent's first turn: what goes in and what comes out. */

import type { Diagnostic, DriverOptions, OwnTokenizer, Tokenizer } from "./common.js";

/**
 * A file's content: text, or bytes that should be UTF-8, or the reason why the host could not read it. Missing
 * (`undefined`, `null`) and empty ones are not an error; bytes that are not UTF-8 and what could not be read are empty and a
 * diagnostic.
 */
export type FileContent = string | Uint8Array | ArrayBuffer | { unreadable: string };

/** Where a workspace's files are, for the plan and for diagnostics. */
export interface WorkspacePlace {
  /** The folder of the taste files, which all workspaces share. Default `tastes`. */
  tastesDir?: string;
  /** The folder of the workspace. Default: none. */
  workspaceDir?: string;
}

/** What the plan depends on: the brief alone, since it names the genre files. */
export interface PlanInput extends WorkspacePlace {
  brief?: FileContent | null;
}

/** A file that the first turn needs. */
export interface PlannedFile {
  role: "default" | "genre" | "brief" | "notes" | "log" | "gaps";
  /** The name of the genre, as `readContext` takes it under `tastes.genres`. */
  genre?: string;
  path: string;
}

/** The files that are wanted, in loading order: tastes, brief, notes, log, gaps. */
export interface LoadingPlan {
  files: PlannedFile[];
  diagnostics: Diagnostic[];
}

/** The files of a workspace, as far as they are there. */
export interface WorkspaceInput extends WorkspacePlace {
  tastes?: {
    /** `_default.md`, which always loads. */
    default?: FileContent | null;
    /**
     * The genre files by name. Those that the brief names are taken, in its order; without a brief, all of them in the
     * order given.
     */
    genres?: Record<string, FileContent | null | undefined>;
  };
  brief?: FileContent | null;
  notes?: FileContent | null;
  /** JSONL. */
  log?: FileContent | null;
  /** JSONL. */
  gaps?: FileContent | null;
  limits?: WorkspaceLimits;
  /** How to count. Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer;
}

/** How much of the notes, the log and the gaps is shown. */
export interface WorkspaceLimits {
  /** Lines of long notes that stay at the start. Default 10. */
  notesHeadLines?: number;
  /** Lines of long notes that stay at the end. Default 30. Notes of no more lines than both together come back whole. */
  notesTailLines?: number;
  /** Entries of the log. Default 10. */
  logEntries?: number;
  /** Gap records. Default 10. */
  gapRecords?: number;
  /** Bytes of all files together. Default 268435456. */
  inputBytes?: number;
}

/** A brief. */
export interface Brief {
  /** The text as it came. */
  raw: string;
  /** Everything but the Tastes lines, without white space around it. */
  intent: string;
  /** The names that the Tastes lines declare, each once, first mention first. */
  tastes: string[];
}

/** A brief and what was wrong with it. */
export interface ParsedBrief extends Brief {
  diagnostics: Diagnostic[];
}

/** A line that stands in several genre files; the agent has to ask which is meant. */
export interface TasteConflict {
  /** The line, trimmed. */
  point: string;
  /** The genres that have it, in declared order. */
  files: string[];
}

/** One entry of the log. */
export interface LogEntry {
  /** Empty where the entry does not say. */
  timestamp: string;
  /** Empty where the entry does not say. */
  op: string;
  /** Every other key, in order. */
  details: Record<string, unknown>;
}

/** One vocabulary-gap record, with its defaults filled in. */
export interface GapRecord {
  timestamp: string;
  image_id: string;
  description: string;
  workaround: string;
  /** A string in every file that chemigram writes; whatever was there comes through. */
  session_id: unknown;
  snapshot_hash: unknown;
  intent: unknown;
  /** `uncategorized` where the record has none. */
  intent_category: string;
  missing_capability: unknown;
  operations_involved: unknown[];
  vocabulary_used: unknown[];
  satisfaction: unknown;
  notes: string;
}

/** The response to `read_context`, in snake_case as agents know it, its keys in this order. */
export interface WorkspaceContext {
  tastes: { default: string; genres: Record<string, string>; conflicts: TasteConflict[] };
  brief: Brief;
  notes: { summary: string; truncated: boolean };
  /** Newest first. */
  recent_log: LogEntry[];
  /** Newest first. */
  recent_gaps: GapRecord[];
}

/** What the response costs: tokens of `JSON.stringify` of each section, and their sum. */
export interface ContextTokens {
  tastes: number;
  brief: number;
  notes: number;
  recentLog: number;
  recentGaps: number;
  total: number;
  tokenizer: string;
  /** By how many percent the counts may be off: with the estimate for a family without a public tokenizer. */
  tokenizerError?: number;
}

/** The response, and what travels next to it. */
export interface ReadContext {
  context: WorkspaceContext;
  tokens: ContextTokens;
  diagnostics: Diagnostic[];
}

/** Reads a file by its path: its content, or nothing if missing. */
export type ReadFile = (path: string, options?: DriverOptions) => Promise<string | Uint8Array | null | undefined>;

/** What `loadContext` needs to know next to the files. */
export interface LoadContextOptions extends WorkspacePlace, DriverOptions {
  limits?: WorkspaceLimits;
  tokenizer?: Tokenizer | OwnTokenizer;
}
