/** Folders with AGENTS.md files: what goes in and what comes out. */

import type { Diagnostic, Limits, OwnTokenizer, Tokenizer } from "./common.js";
import type { FileContent } from "./workspace.js";

/** A file of the vault. */
export interface ContextFile {
  /** Relative to the vault's root. */
  path: string;
  content: FileContent;
}

/** An item of a bullet list. */
export interface ContextBullet {
  /** Without the marker; with the lines that belong to it, joined by LF. */
  text: string;
  /** Its first line in the file, from 1. */
  line: number;
}

/** A heading and what stands below it, up to the next heading. */
export interface ContextSection {
  title: string;
  /** 1 to 6. */
  level: number;
  /** The heading's line in the file, from 1. */
  line: number;
  /** Without blank lines around it. */
  text: string;
  bullets: ContextBullet[];
}

/** A context file, read. */
export interface ParsedContextFile {
  /** Normalised. */
  path: string;
  /** Empty for the root. */
  folder: string;
  /** The first heading, where it is of level 1. */
  title?: string;
  /** The quote below the title. */
  description?: string;
  /** In order, those within others too. */
  sections: ContextSection[];
  /** The patterns that it watches, as written. */
  watch: string[];
  /** The front matter, where there is some that can be read. */
  frontMatter?: Record<string, unknown>;
  /** Everything but the front matter: what goes into a prompt. */
  body: string;
  /** The body's first line in the file, from 1. */
  bodyLine: number;
  diagnostics: Diagnostic[];
}

/** A folder that can be selected. */
export interface ContextFolder {
  /** Empty for the root. */
  path: string;
  /** Its context file: `AGENTS.md`, else `CLAUDE.md`. */
  file: string;
  hasAgentsMd: boolean;
  hasClaudeMd: boolean;
}

/** The folders that can be selected, in the order of their paths. */
export interface Discovery {
  folders: ContextFolder[];
  diagnostics: Diagnostic[];
}

/** Where a file stands: the vault's own, that of an ancestor of another loaded folder, any other. */
export type ContextLevel = "root" | "parent" | "direct";

/** Why a file is there: its folder was selected, a loaded file watches it, or `parentChain` added it. */
export type ContextReason = "selected" | "watched" | "ancestor";

/** What to load, and how much of it. */
export interface ChainRequest {
  files: readonly ContextFile[];
  /** Folders, or their context files; the root is the empty string. */
  selected: readonly string[];
  /** What the watches of loaded files load: ancestors of loaded folders, everything they match, or nothing. */
  includeWatched?: "ancestors" | "all" | "none";
  /** The older mode, which always adds all ancestors and the root, those of watched files too. Default false. */
  parentChain?: boolean;
  /**
   * `bullets`: what a file further down repeats under the same headings gives way to that. `none`: nothing does. Default
   * `bullets`.
   */
  overrides?: "bullets" | "none";
  /** The most tokens that the contents of all files together may have; files that were selected share it first. */
  maxTokens?: number;
  /**
   * What a file that is cut ends with; `{count}` is how many lines are missing, `{path}` which file it is. Default
   * `[… {count} more lines omitted …]`.
   */
  truncationMarker?: string;
  /** Default `heuristic`. */
  tokenizer?: Tokenizer | OwnTokenizer;
  limits?: Limits;
  /** Whether the result has the prompt section, too, as `renderContextPrompt` writes it; options of that imply true. Default false. */
  render?: boolean | RenderContextOptions;
}

/** A bullet that gave way to the same one, under the same headings, in a file further down. */
export interface OverriddenBullet {
  text: string;
  /** Its line in the file, from 1. */
  line: number;
  /** The file that keeps it. */
  by: string;
}

/** One loaded file. */
export interface ChainFile {
  path: string;
  /** Empty for the root. */
  folder: string;
  level: ContextLevel;
  reason: ContextReason;
  /** The loaded files that watch it, where that is the reason. */
  watchedBy?: string[];
  /** Tokens of `content`. */
  tokens: number;
  /** Whether only its beginning fits. */
  truncated: boolean;
  /** What goes into the prompt. */
  content: string;
  overridden?: OverriddenBullet[];
}

/** A file of which nothing fits. */
export interface OmittedFile {
  path: string;
  level: ContextLevel;
  reason: ContextReason;
  /** What it would cost. */
  tokens: number;
}

/** What was loaded. */
export interface ContextChain {
  /** In the order of the prompt: the root, then by depth, then by path. */
  files: ChainFile[];
  totalTokens: number;
  tokenizer: string;
  /** By how many percent the counts may be off: with the estimate for a family without a public tokenizer. */
  tokenizerError?: number;
  omitted: OmittedFile[];
  /** The prompt section, with `render`; empty if there is nothing to show. */
  prompt?: string;
  diagnostics: Diagnostic[];
}

/** What was loaded, with the prompt section. */
export interface RenderedContextChain extends ContextChain {
  prompt: string;
}

/** What can be asked of the prompt. */
export interface RenderContextOptions {
  /** The working directory's own file; it is not repeated where it is one of the chain's. */
  workingDirectory?: ContextFile;
}

/** A file that watches another. */
export interface Watcher {
  path: string;
  /** Its patterns that match, as written, in the order in which it declares them. */
  patterns: string[];
}

/** A file that is notified of changes. */
export interface Notified {
  path: string;
  /** 1 for a watcher of something that changed, 2 for a watcher of such a watcher, and so on. */
  depth: number;
  /** The changed files, with its patterns that match each. */
  because: Watcher[];
}

/** The options of `watchersOf`. */
export interface WatchOptions {
  limits?: Limits;
}

/** The options of `bubble`. */
export interface BubbleOptions extends WatchOptions {
  /** How far to follow. Default: to the end. */
  maxDepth?: number;
}

/** One run of text that was replaced by another. */
export interface ContextChange {
  /** Where, in UTF-16 code units. */
  at: number;
  removed: string;
  inserted: string;
}

interface SectionEdit {
  /** The file's name in errors. */
  path?: string;
  /** The section's heading, in any case. */
  section: string;
  /** Lines of Markdown. */
  content: string;
  /** Whether to add the section at the end of the file if missing; else that is an error. */
  createSection?: boolean;
}

/** What to do with a file. */
export type ContextEdit =
  /** Adds lines at the end of a section's own text. */
  | ({ type: "append" } & SectionEdit)
  /** Puts other lines in place of all that a section holds; a comment right below the heading stays. */
  | ({ type: "replaceSection" } & SectionEdit)
  /** Adds an entry with its date at the end of the history. */
  | ({
      type: "addHistory";
      /** When: RFC 3339, a `Date`, or milliseconds as `Date.now()` gives them. It is written in UTC. */
      time: string | number | Date;
      /** Who. Default `curator`. */
      author?: string;
      /** Default `History`. */
      section?: string;
    } & Omit<SectionEdit, "section">)
  /** Takes a change back. */
  | { type: "undo"; path?: string; change: ContextChange };

/** An edited file. */
export interface EditedFile {
  text: string;
  /** What is different; `{ type: "undo", change }` takes it back. */
  change: ContextChange;
}

/** What there is to migrate. */
export interface LegacyMigrationInput {
  /** The legacy files `Chat/contexts/*.md`, and the context files that there are already. */
  files?: readonly ContextFile[];
  /** Folders without a context file, which may be meant too. */
  folders?: readonly string[];
  /** Which folder a legacy file belongs to, by its path, where its name does not say. */
  map?: Record<string, string>;
  /** The legacy files that a session had selected. */
  contexts?: readonly string[];
}

/** One legacy file and its folder. */
export interface LegacyMove {
  from: string;
  to: string;
  /** Empty for the root. */
  folder: string;
  /** It becomes the context file, is added to it, or is there already. */
  action: "create" | "merge" | "unchanged";
  /** The text of `to` after all moves up to this one. */
  content: string;
}

/** What to write, and what sessions select from now on. */
export interface LegacyMigration {
  moves: LegacyMove[];
  /** Legacy files to ask about; name their folders in `map`. */
  unresolved: { from: string; candidates: string[] }[];
  /** The folders that stand for `contexts`, in order, each once. */
  contextFolders: string[];
  diagnostics: Diagnostic[];
}

/** A row of `session_contexts`: unique by session and folder. */
export interface SessionContextRecord {
  sessionId: string;
  folderPath: string;
  addedAt?: string;
}

/** A row of `context_watches`: unique by watcher and pattern. */
export interface ContextWatchRecord {
  watcherPath: string;
  watchPattern: string;
  /** The context files that it matches: the table's cache. */
  resolvedPaths?: string[];
}

/** The rows for the watches of all files. */
export interface ContextWatchRecords {
  records: ContextWatchRecord[];
  diagnostics: Diagnostic[];
}

/** What has to change in a table. */
export interface RecordDiff<Row> {
  insert: Row[];
  /** Rows whose key is there before and after and whose other columns differ, as they are after. */
  update: Row[];
  delete: Row[];
}

/** The response to `GET /api/contexts/folders`, in snake_case as its clients know it. */
export type FoldersResponse = { path: string; has_agents_md: boolean; has_claude_md: boolean }[];

/** The response to `GET /api/contexts/chain`, in snake_case as its clients know it. */
export interface ChainResponse {
  files: { path: string; level: ContextLevel; tokens: number }[];
  total_tokens: number;
}
