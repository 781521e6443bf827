/** Folders with AGENTS.md files: input and output types. docs/folders.md has the rules. */

import type { Diagnostic, Limits, OwnTokenizer, Tokenizer, WithUnknownFields } from "./common.js";
import type { FileContent } from "./workspace.js";

/** A file of the vault. */
export interface ContextFile {
  /** Relative to the vault's root. */
  path: string;
  content: FileContent;
}

/** An item of a bullet list. */
export interface ContextBullet {
  /** Its text without the bullet marker, including continuation lines, joined by LF. */
  text: string;
  /** Its first line in the file, from 1. */
  line: number;
}

/** A heading and the text below it, up to the next heading. */
export interface ContextSection {
  title: string;
  /** 1 to 6. */
  level: number;
  /** The heading's line in the file, from 1. */
  line: number;
  /** Without surrounding blank lines. */
  text: string;
  bullets: ContextBullet[];
}

/** A parsed context file. */
export interface ParsedContextFile {
  /** Normalized. */
  path: string;
  /** Empty for the root. */
  folder: string;
  /** The first heading, if it is of level 1. */
  title?: string;
  /** The block quote below the title. */
  description?: string;
  /** In file order, nested ones included. */
  sections: ContextSection[];
  /** Its watch patterns, as written. */
  watch: string[];
  /** The front matter, if present and readable. */
  frontMatter?: Record<string, unknown>;
  /** The file without its front matter: the part that goes into a prompt. */
  body: string;
  /** The body's first line in the file, from 1. */
  bodyLine: number;
  diagnostics: Diagnostic[];
}

/** A folder that can be selected. */
export interface ContextFolder {
  /** Empty for the root. */
  path: string;
  /** Its context file: `AGENTS.md`, otherwise `CLAUDE.md`. */
  file: string;
  hasAgentsMd: boolean;
  hasClaudeMd: boolean;
}

/** The folders that can be selected, sorted by path. */
export interface Discovery {
  folders: ContextFolder[];
  diagnostics: Diagnostic[];
}

/** Position of a file: the root of the vault, an ancestor of another loaded folder, any other folder, or the working directory. */
export type ContextLevel = "root" | "parent" | "direct" | "workingDirectory";

/** Why a file was loaded: it was selected, a loaded file watches it, `parentChain` added it, or it is the working directory's. */
export type ContextReason = "selected" | "watched" | "ancestor" | "workingDirectory";

/** Options of `discoverContextFolders`. */
export interface DiscoverOptions {
  /** Names of folders to skip. Default `.git` and `node_modules`. */
  skip?: readonly string[] | undefined;
}

/** The folders to load, and the budget. */
export interface ChainRequest {
  files: readonly WithUnknownFields<ContextFile>[];
  /** Folders, or their context files; the root is the empty string. */
  selected: readonly string[];
  /** Which watched files to load: ancestors of loaded folders (the default), everything that matches, or none. */
  includeWatched?: "ancestors" | "all" | "none" | undefined;
  /** The older mode: always adds all ancestors and the root, also those of watched files. Default false. */
  parentChain?: boolean | undefined;
  /**
   * `bullets` (the default): a bullet repeated under the same headings in a deeper file overrides this one. `none`
   * disables overrides.
   */
  overrides?: "bullets" | "none" | undefined;
  /** Token budget for the contents of all files; files that were selected share it first. */
  maxTokens?: number | undefined;
  /**
   * The end of a file that was cut; `{count}` is the number of missing lines, `{path}` the file. Default
   * `[… {count} more lines omitted …]`.
   */
  truncationMarker?: string | undefined;
  /** Legacy files of `files`, `Chat/contexts/*.md`, to load under the same budget. */
  contexts?: readonly string[] | undefined;
  /** Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer | undefined;
  limits?: Limits | undefined;
  /**
   * Whether to include the prompt section, as from `renderContextPrompt`; an options object implies true. Default
   * false.
   */
  render?: boolean | RenderContextOptions | undefined;
}

/** A bullet overridden by the same bullet, under the same headings, in a deeper file. */
export interface OverriddenBullet {
  text: string;
  /** Its line in the file, from 1. */
  line: number;
  /** The file whose bullet is kept. */
  by: string;
}

/** One loaded file. */
export interface ChainFile {
  path: string;
  /** Empty for the root. */
  folder: string;
  level: ContextLevel;
  reason: ContextReason;
  /** The loaded files that watch it, if that is the reason. */
  watchedBy?: string[];
  /** Tokens of `content`. */
  tokens: number;
  /** Whether only its beginning fits the budget. */
  truncated: boolean;
  /** The text for the prompt. */
  content: string;
  overridden?: OverriddenBullet[];
}

/** The chain of a response: the chain itself, or its files without their texts. */
export interface ChainOverview {
  files: readonly (Pick<ChainFile, "path" | "level" | "reason" | "tokens" | "truncated"> & Partial<ChainFile>)[];
  omitted?: readonly OmittedFile[] | undefined;
  totalTokens?: number | undefined;
}

/** A file left out because no part of it fits. */
export interface OmittedFile {
  path: string;
  level: ContextLevel;
  reason: ContextReason;
  /** Its token cost. */
  tokens: number;
}

/** The loaded files. */
export interface ContextChain {
  /** In prompt order: the root, then by depth, then by path. */
  files: ChainFile[];
  totalTokens: number;
  tokenizer: string;
  /** Error bound of the counts in percent: for estimates of a family without a public tokenizer. */
  tokenizerError?: number;
  omitted: OmittedFile[];
  /** The prompt section, with `render`; empty if no file was loaded. */
  prompt?: string;
  diagnostics: Diagnostic[];
}

/** The loaded files with the prompt section. */
export interface RenderedContextChain extends ContextChain {
  prompt: string;
}

/** Options of the prompt section. */
export interface RenderContextOptions {
  /**
   * The context file of the working directory; skipped if the chain already contains it. `buildContextChain` loads it under
   * the budget and reports it as the last file.
   */
  workingDirectory?: ContextFile | undefined;
}

/** A file that watches another. */
export interface Watcher {
  path: string;
  /** Its patterns that match, as written, in declaration order. */
  patterns: string[];
}

/** A file that is notified of changes. */
export interface Notified {
  path: string;
  /** 1 for a watcher of a changed file, 2 for a watcher of such a watcher, and so on. */
  depth: number;
  /** The changed files, each with the patterns that match it. */
  because: Watcher[];
}

/** Options of `watchersOf`. */
export interface WatchOptions {
  limits?: Limits | undefined;
}

/** Options of `bubble`. */
export interface BubbleOptions extends WatchOptions {
  /** How far to follow watchers of watchers. Default: without limit. */
  maxDepth?: number | undefined;
}

/** A replaced range of text. */
export interface ContextChange {
  /** Offset in UTF-16 code units. */
  at: number;
  removed: string;
  inserted: string;
}

interface SectionEdit {
  /** The file's name in errors. */
  path?: string | undefined;
  /** The section's heading, case-insensitive. */
  section: string;
  /** Lines of Markdown. */
  content: string;
  /** Whether to create a missing section at the end of the file; otherwise it throws. */
  createSection?: boolean | undefined;
}

/** An edit of a context file. */
export type ContextEdit =
  /** Appends lines to a section, before its subsections. */
  | ({ type: "append" } & SectionEdit)
  /** Replaces everything in a section, except a comment directly below the heading. */
  | ({ type: "replaceSection" } & SectionEdit)
  /** Appends a dated entry to the history. */
  | ({
      type: "addHistory";
      /** RFC 3339, a `Date`, or milliseconds as `Date.now()` returns them. Written in UTC. */
      time: string | number | Date;
      /** The author. Default `curator`. */
      author?: string | undefined;
      /** Default `History`. */
      section?: string | undefined;
    } & Omit<SectionEdit, "section">)
  /** Reverts a change. */
  | { type: "undo"; path?: string | undefined; change: ContextChange };

/** An edited file. */
export interface EditedFile {
  text: string;
  /** The change; `{ type: "undo", change }` reverts it. */
  change: ContextChange;
}

/** Input of the migration of legacy contexts. */
export interface LegacyMigrationInput {
  /** The legacy files `Chat/contexts/*.md`, and the existing context files. */
  files?: readonly WithUnknownFields<ContextFile>[] | undefined;
  /** Folders without a context file, which may be targets as well. */
  folders?: readonly string[] | undefined;
  /** Legacy path to folder, for files whose name does not identify the folder. */
  map?: Record<string, string> | undefined;
  /** The legacy files that a session had selected. */
  contexts?: readonly string[] | undefined;
}

/** A legacy file and its folder. */
export interface LegacyMove {
  from: string;
  to: string;
  /** Empty for the root. */
  folder: string;
  /** Whether it becomes the context file, is added to it, or is already part of it. */
  action: "create" | "merge" | "unchanged";
  /** The text of `to` after all moves up to this one. */
  content: string;
}

/** The files to write, and the new selection of sessions. */
export interface LegacyMigration {
  moves: LegacyMove[];
  /** Legacy files with no clear folder; assign them in `map`. */
  unresolved: { from: string; candidates: string[] }[];
  /** The folders that replace `contexts`, in order, each once. */
  contextFolders: string[];
  diagnostics: Diagnostic[];
}

/** A row of `session_contexts`, unique by session and folder. */
export interface SessionContextRecord {
  sessionId: string;
  folderPath: string;
  addedAt?: string | undefined;
}

/** A row of `context_watches`, unique by watcher and pattern. */
export interface ContextWatchRecord {
  watcherPath: string;
  watchPattern: string;
  /** The matching context files, cached in the table. */
  resolvedPaths?: string[] | undefined;
}

/** The rows for the watches of all files. */
export interface ContextWatchRecords {
  records: ContextWatchRecord[];
  diagnostics: Diagnostic[];
}

/** The changes to a table. */
export interface RecordDiff<Row> {
  insert: Row[];
  /** Rows whose key exists before and after with other columns changed; the new row. */
  update: Row[];
  delete: Row[];
}

/** The response to `GET /api/contexts/folders`, in snake_case for its clients. */
export type FoldersResponse = {
  path: string;
  has_agents_md: boolean;
  has_claude_md: boolean;
  /** With a chain: why the folder's file is in it. */
  reason?: ContextReason;
  truncated?: boolean;
  omitted?: boolean;
}[];

/** The response to `GET /api/contexts/chain`, in snake_case for its clients. */
export interface ChainResponse {
  files: { path: string; level: ContextLevel; reason: ContextReason; tokens: number; truncated: boolean }[];
  omitted: { path: string; level: ContextLevel; reason: ContextReason; tokens: number }[];
  total_tokens: number;
}
