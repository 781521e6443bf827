/** An agent's first turn. */

import { callJson } from "../call.js";
import { checkedSignal, raceAbort } from "./abort.js";
import { guarded } from "../source.js";
import { checkedObject, invalid } from "./checked.js";
import type {
  FileContent,
  LoadContextOptions,
  LoadingPlan,
  ParsedBrief,
  PlanInput,
  ReadContext,
  ReadFile,
  WorkspaceInput,
} from "../types/workspace.js";
import type { ReadonlyData } from "../types/common.js";

/** Lines kept at the start of long notes, unless `limits.notesHeadLines` is set. */
export const NOTES_HEAD_LINES = 10;
/** Lines kept at the end of long notes, unless `limits.notesTailLines` is set. */
export const NOTES_TAIL_LINES = 30;
/** Notes with no more lines are returned whole. */
export const NOTES_TRUNCATION_THRESHOLD = NOTES_HEAD_LINES + NOTES_TAIL_LINES;

/** Parses a brief: its tastes and its intent. A missing or unreadable brief is empty. */
export function parseBrief(text?: FileContent | null): ParsedBrief {
  return callJson("parseBrief", text) as ParsedBrief;
}

/** Plans the files to read for the first turn, in loading order, from the brief. */
export function planContextLoading(input: ReadonlyData<PlanInput>): LoadingPlan {
  return callJson("planContextLoading", input) as LoadingPlan;
}

/**
 * Builds the response to `read_context` from a workspace's files, with its token cost and diagnostics next to it. The
 * input is never mutated. See docs/workspace.md.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md
 */
export function readContext(input: WorkspaceInput): ReadContext {
  return callJson("readContext", input) as ReadContext;
}

/** The full text of the notes; empty if they are missing or unreadable, which `readContext` reports. */
export function readFullNotes(input: Pick<WorkspaceInput, "notes">): string {
  return callJson("readFullNotes", input) as string;
}

/**
 * Loads a workspace with a function that reads a file: the brief, then the files that it requires. A file is missing if
 * the function returns nothing or throws `ENOENT` or `NotFoundError`; after any other error it counts as empty, with a
 * diagnostic.
 *
 * @throws {CtxweaveError} with one of the codes in docs/errors.md; the signal's reason when it is aborted
 */
export async function loadContext(readFile: ReadFile, options: LoadContextOptions = {}): Promise<ReadContext> {
  checkedObject(options, "options");
  const { signal: given, ...rest } = guarded("options", () => ({ ...options }));
  const signal = checkedSignal(given);
  if (typeof readFile !== "function") throw invalid("readFile", "a function that reads a file");
  const read = async (path: string): Promise<FileContent | undefined> => {
    try {
      return (await raceAbort(signal ? readFile(path, { signal }) : readFile(path), signal)) ?? undefined;
    } catch (thrown) {
      checkedSignal(signal);
      const { code, name, message } = (thrown ?? {}) as Partial<Record<"code" | "name" | "message", unknown>>;
      if (code === "ENOENT" || name === "NotFoundError") return undefined;
      return { unreadable: String(message ?? thrown) };
    }
  };
  const { tastesDir, workspaceDir, genres: listed } = options;
  const place = {
    ...(tastesDir === undefined ? {} : { tastesDir }),
    ...(workspaceDir === undefined ? {} : { workspaceDir }),
    ...(listed === undefined ? {} : { genres: listed }),
  };
  const briefFile = planContextLoading(place).files.find(({ role }) => role === "brief");
  const brief = briefFile && (await read(briefFile.path));
  const { files } = planContextLoading({ ...place, ...(brief === undefined ? {} : { brief }) });
  const genres: { name: string; content: FileContent }[] = [];
  const found: Partial<Record<string, FileContent>> = {};
  const contents = await Promise.all(files.map(({ role, path }) => (role === "brief" ? brief : read(path))));
  for (const [at, { role, genre }] of files.entries()) {
    const content = contents[at];
    if (content === undefined) continue;
    if (genre === undefined) found[role] = content;
    else genres.push({ name: genre, content });
  }
  const { default: taste, notes, log, gaps } = found;
  const contained = Object.entries({ brief, notes, log, gaps }).filter(([, content]) => content !== undefined);
  return readContext({
    ...rest,
    tastes: { ...(taste === undefined ? {} : { default: taste }), genres },
    ...Object.fromEntries(contained),
  });
}
