/** Session files of agents: import, translation, messages, Loom trees. */

import { callJson } from "../call.js";
import { CtxweaveError } from "../error.js";
import { asBytes } from "../source.js";
import { customFormats, withFormats } from "./commits/formats.js";
import type {
  ContextAtOptions,
  ForkBase,
  ImportedTranscript,
  ImportOptions,
  JoinedFork,
  SessionContext,
  TranscriptBytes,
  TranscriptFormat,
  TranscriptMessages,
  TranscriptOptions,
  TranscriptTree,
  TranslatedTranscript,
  TranslateRequest,
} from "../types/transcripts.js";
import type { CommitFormat } from "../types/commits.js";
import type { Diagnostic, DriverOptions, ReadonlyData } from "../types/common.js";
import { checkedSignal, raceAbort } from "./abort.js";
import { checkedOptions } from "./checked.js";

/**
 * Imports a session file as commits: deltas, compaction commits, and branches. Every line is in one of the blobs, byte
 * for byte. With `growing` and `resume` a file is imported incrementally. See docs/sessions.md.
 *
 * @throws {CtxweaveError} `unknown_value` for an unknown format, `invalid_input` if no time is known, `resume_mismatch`
 *   for a file that was rewritten or truncated, `resume_incomplete` if the whole file is needed
 */
export function importTranscript(
  format: CommitFormat,
  bytes: TranscriptBytes,
  options?: ImportOptions,
): ImportedTranscript {
  const given = asBytes(bytes, "bytes");
  const imported = callJson("importTranscript", { format, bytes: given ?? bytes, options, ...customFormats() }) as Omit<
    ImportedTranscript,
    "blobs"
  > & {
    // For each record: its blob, as bytes or as its position in the input, or null if it existed before.
    blobs: (Uint8Array | number | null)[];
  };
  // A custom tokenizer may have transferred the buffer.
  const source = asBytes(bytes, "bytes");
  const places = imported.blobs;
  const blobs: ImportedTranscript["blobs"] = [];
  let at = 0;
  for (const { artifact_ref: artifactRef } of imported.records) {
    const place = places[at++];
    if (typeof place === "number")
      blobs.push({ artifactRef, bytes: (source as Uint8Array).subarray(place, places[at++] as number) });
    else if (place) blobs.push({ artifactRef, bytes: place });
  }
  return { ...imported, blobs };
}

/**
 * Detects the format of a session file from its first record with a message; undefined if it has none. A prefix of the
 * file is enough if it contains such a record.
 */
export function detectFormat(bytes: TranscriptBytes): TranscriptFormat | undefined {
  return callJson("detectFormat", { bytes }) as TranscriptFormat | undefined;
}

/** The history that a rollout of Codex continues; undefined unless it is a fork. */
export function forkBase(bytes: TranscriptBytes): ForkBase | undefined {
  return callJson("forkBase", { bytes }) as ForkBase | undefined;
}

/**
 * Joins a fork of Codex with the beginning of the rollout that it continues. If that is a fork too, so is the result.
 *
 * @throws {CtxweaveError} `invalid_input` if `bytes` is no fork, or `base` is another thread or incomplete
 */
export function joinForkBase(bytes: TranscriptBytes, base: TranscriptBytes): JoinedFork {
  return callJson("joinForkBase", { bytes, base }) as JoinedFork;
}

/** The most bases that `joinFork` asks for. */
const MAX_BASES = 100;

/**
 * Joins a fork of Codex with all rollouts that it continues. `load` returns the rollout of a thread; if it returns
 * undefined, the result lacks that history, and reading it reports `missing_base`. Other files are returned unchanged.
 *
 * @throws {CtxweaveError} as `joinForkBase`; `invalid_input` if the bases form a cycle; the signal's reason when it is aborted
 */
export async function joinFork(
  bytes: TranscriptBytes,
  load: (base: ForkBase) => TranscriptBytes | undefined | Promise<TranscriptBytes | undefined>,
  options: DriverOptions = {},
): Promise<{ bytes: TranscriptBytes; diagnostics: Diagnostic[] }> {
  const signal = checkedSignal(checkedOptions(options, ["signal"]).signal);
  const joined = { bytes, diagnostics: [] as Diagnostic[] };
  for (let count = 0; ; count++) {
    const base = forkBase(joined.bytes);
    const rollout = base && (await raceAbort(load(base), signal));
    if (!base || rollout === undefined) return joined;
    if (count >= MAX_BASES)
      throw new CtxweaveError(
        "invalid_input",
        `the fork continues over ${MAX_BASES} rollouts; check that \`load\` returns the thread it is asked for`,
        { path: "bytes" },
      );
    const next = joinForkBase(joined.bytes, rollout);
    joined.bytes = next.bytes;
    joined.diagnostics.push(...next.diagnostics);
  }
}

/**
 * Translates the deltas of a chain, in any formats, into one conversation in the target format.
 *
 * @throws {CtxweaveError} `invalid_blob` for an unreadable blob
 */
export function translateTranscript(request: ReadonlyData<TranslateRequest>): TranslatedTranscript {
  return callJson("translateTranscript", withFormats(request, "request")) as TranslatedTranscript;
}

/**
 * Reads a conversation as messages.
 *
 * @throws {CtxweaveError} `unknown_value` for an unknown format, `invalid_blob`
 */
export function transcriptToMessages(
  format: CommitFormat,
  bytes: TranscriptBytes,
  options?: TranscriptOptions,
): TranscriptMessages {
  return callJson("transcriptToMessages", { format, bytes, options, ...customFormats() }) as TranscriptMessages;
}

/**
 * What the model saw before an answer of a session: the instructions, and the messages after the newest compaction by
 * then. For `claude-code-v1`, `codex-v1` and `codex-v0`.
 *
 * @throws {CtxweaveError} `unknown_value` for another format, `invalid_input` for a `turn` past the answers
 */
export function contextAt(
  format: "claude-code-v1" | "codex-v0" | "codex-v1",
  bytes: TranscriptBytes,
  options?: ContextAtOptions,
): SessionContext {
  return callJson("contextAt", { format, bytes, options }) as SessionContext;
}

/**
 * Reads a conversation as a Loom tree, for assembly under a budget or a request body.
 *
 * @throws {CtxweaveError} `unknown_value` for an unknown format, `invalid_blob`
 */
export function transcriptToLoomTree(
  format: CommitFormat,
  bytes: TranscriptBytes,
  options?: TranscriptOptions,
): TranscriptTree {
  return callJson("transcriptToLoomTree", { format, bytes, options, ...customFormats() }) as TranscriptTree;
}
