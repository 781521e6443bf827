/** Folders with AGENTS.md files. */

import { callJson } from "../call.js";
import type {
  BubbleOptions,
  ChainRequest,
  ChainResponse,
  ChainOverview,
  ContextChain,
  ContextEdit,
  ContextFile,
  ContextWatchRecord,
  ContextWatchRecords,
  DiscoverOptions,
  Discovery,
  EditedFile,
  FoldersResponse,
  LegacyMigration,
  LegacyMigrationInput,
  ParsedContextFile,
  RecordDiff,
  RenderContextOptions,
  RenderedContextChain,
  SessionContextRecord,
  Notified,
  Watcher,
  WatchOptions,
} from "../types/folders.js";
import type { FileContent } from "../types/workspace.js";
import type { ReadonlyData, WithUnknownFields } from "../types/common.js";

/**
 * Parses a context file: front matter, title, description, sections, bullets.
 *
 * @throws {CtxweaveError} `path_outside_vault` for a path that leaves the vault
 */
export function parseContextFile(path: string, text: FileContent): ParsedContextFile {
  return callJson("parseContextFile", { path, text }) as ParsedContextFile;
}

/** Finds the folders with a context file among the paths of a vault. Skips `.git` and `node_modules`, or the folders of `skip`. */
export function discoverContextFolders(paths: readonly string[], options?: DiscoverOptions): Discovery {
  return callJson("discoverContextFolders", { paths, options }) as Discovery;
}

/**
 * Loads the files of the selected folders and those that they watch, under a budget that protects the most specific
 * files. With `render` the result includes the prompt section. The request is never mutated. See docs/folders.md.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function buildContextChain(
  request: ReadonlyData<ChainRequest> & { readonly render: true | ReadonlyData<RenderContextOptions> },
): RenderedContextChain;
export function buildContextChain(request: ReadonlyData<ChainRequest>): ContextChain;
export function buildContextChain(request: ReadonlyData<ChainRequest>): ContextChain {
  return callJson("buildContextChain", request) as ContextChain;
}

/**
 * Writes the prompt section of a chain; empty if no file was loaded. `render` of {@link buildContextChain} saves this
 * call.
 */
export function renderContextPrompt(
  chain: Pick<ContextChain, "files">,
  options?: ReadonlyData<RenderContextOptions>,
): string {
  return callJson("renderContextPrompt", { chain, options }) as string;
}

/**
 * Returns the watchers of a path, sorted by path. The path is that of a context file or a folder. Watches are passed as
 * files, or as rows of `context_watches`.
 */
export function watchersOf(
  changedPath: string,
  files: readonly WithUnknownFields<ContextFile>[] | readonly ContextWatchRecord[],
  options?: WatchOptions,
): Watcher[] {
  return callJson("watchersOf", { changedPath, files, options }) as Watcher[];
}

/**
 * Returns the files to notify of changes, and their watchers in turn: each file once, so that cycles end. Sorted by
 * depth, then path.
 */
export function bubble(
  changedPaths: readonly string[],
  files: readonly WithUnknownFields<ContextFile>[] | readonly ContextWatchRecord[],
  options?: BubbleOptions,
): Notified[] {
  return callJson("bubble", { changedPaths, files, options }) as Notified[];
}

/**
 * Edits a file as a curator; the rest stays the same, byte for byte.
 *
 * @throws {CtxweaveError} `section_not_found`, `invalid_edit`
 */
export function editContextFile(text: string | Uint8Array, edit: ReadonlyData<ContextEdit>): EditedFile {
  return callJson("editContextFile", { text, edit }) as EditedFile;
}

/** Plans the migration of `Chat/contexts/*.md` into folders. The host writes the files of the plan. */
export function migrateLegacyContexts(input: ReadonlyData<LegacyMigrationInput>): LegacyMigration {
  return callJson("migrateLegacyContexts", input) as LegacyMigration;
}

/** The rows of `context_watches` for the watches of all files. */
export function contextWatchRecords(files: readonly WithUnknownFields<ContextFile>[]): ContextWatchRecords {
  return callJson("contextWatchRecords", { files }) as ContextWatchRecords;
}

/** The rows of `session_contexts` for the folders that a session has selected. */
export function sessionContextRecords(session: {
  sessionId: string;
  folders: readonly string[];
  addedAt?: string | number | Date | undefined;
}): SessionContextRecord[] {
  return callJson("sessionContextRecords", session) as SessionContextRecord[];
}

/**
 * Compares two versions of one of these tables: the rows to insert, to update and to delete.
 *
 * @throws {CtxweaveError} `invalid_input` for two rows with one key, and for a mix of rows of both tables
 */
export function diffRecords<Row extends SessionContextRecord | ContextWatchRecord>(
  before: readonly Row[],
  after: readonly Row[],
): RecordDiff<Row> {
  return callJson("diffRecords", { before, after }) as RecordDiff<Row>;
}

/** Converts to the response to `GET /api/contexts/folders`; with a chain it states what became of the file of each folder. */
export function foldersResponse(discovery: Pick<Discovery, "folders">, chain?: ChainOverview): FoldersResponse {
  return callJson("foldersResponse", { discovery, chain }) as FoldersResponse;
}

/** Converts to the response to `GET /api/contexts/chain`. */
export function chainResponse(chain: ChainOverview): ChainResponse {
  return callJson("chainResponse", chain) as ChainResponse;
}
