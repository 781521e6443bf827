/** Session files of agents: import, translation, messages, Loom trees. */

import { callJson } from "../call.js";
import { asBytes } from "../source.js";
import type {
  ImportedTranscript,
  ImportOptions,
  TranscriptBytes,
  TranscriptFormat,
  TranscriptMessages,
  TranscriptOptions,
  TranscriptTree,
  TranslatedTranscript,
  TranslateRequest,
} from "../types/transcripts.js";
import type { ReadonlyData } from "../types/common.js";

/**
 * Makes commits of a session file: deltas, compaction commits where it was compacted, and branches. Every line is in one of
 * the blobs, byte for byte. With `growing` and `resume` a file is imported as it grows.
 *
 * @throws {CtxweaveError} `unknown_value` for a format that is not known, `invalid_input` where nothing says when it was,
 * `resume_mismatch` for a file that was rewritten or truncated, `resume_incomplete` where the whole file is needed
 */
export function importTranscript(
  format: TranscriptFormat,
  bytes: TranscriptBytes,
  options?: ImportOptions,
): ImportedTranscript {
  const given = asBytes(bytes, "bytes");
  const imported = callJson("importTranscript", { format, bytes: given ?? bytes, options }) as Omit<
    ImportedTranscript,
    "blobs"
  > & {
    // For each record: its blob, from where to where that is in the bytes, or null where it was there before.
    blobs: (Uint8Array | number | null)[];
  };
  // A tokenizer of the caller may have transferred the buffer.
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
 * Returns the format of a session file: that of its first record with a message; undefined if it has none.
 * The beginning of a file is enough if it has such a record.
 */
export function detectFormat(bytes: TranscriptBytes): TranscriptFormat | undefined {
  return callJson("detectFormat", { bytes }) as TranscriptFormat | undefined;
}

/**
 * Translates the deltas of a chain, whatever their formats, into one conversation in the format asked for.
 *
 * @throws {CtxweaveError} `invalid_blob` for a blob that cannot be read at all
 */
export function translateTranscript(request: ReadonlyData<TranslateRequest>): TranslatedTranscript {
  return callJson("translateTranscript", request) as TranslatedTranscript;
}

/**
 * Reads a conversation as messages.
 *
 * @throws {CtxweaveError} `unknown_value` for a format that is not known, `invalid_blob`
 */
export function transcriptToMessages(
  format: TranscriptFormat,
  bytes: TranscriptBytes,
  options?: TranscriptOptions,
): TranscriptMessages {
  return callJson("transcriptToMessages", { format, bytes, options }) as TranscriptMessages;
}

/**
 * Reads a conversation as a Loom tree, to be assembled under a budget or sent as a request body.
 *
 * @throws {CtxweaveError} `unknown_value` for a format that is not known, `invalid_blob`
 */
export function transcriptToLoomTree(
  format: TranscriptFormat,
  bytes: TranscriptBytes,
  options?: TranscriptOptions,
): TranscriptTree {
  return callJson("transcriptToLoomTree", { format, bytes, options }) as TranscriptTree;
}
