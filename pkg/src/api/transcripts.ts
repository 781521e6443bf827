/** Session files of agents: import, translation, messages, Loom trees. */

import { call } from "../runtime.js";
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
import { checkedText, invalid } from "./checked.js";

/**
 * Makes commits of a whole session file: deltas, compaction commits where it was compacted, and branches. Every line is in
 * one of the blobs, byte for byte.
 *
 * @throws {CtxweaveError} `unknown_value` for a format that is not known, `invalid_input` where nothing says when it was
 */
export function importTranscript(
  format: TranscriptFormat,
  bytes: TranscriptBytes,
  options?: ImportOptions,
): ImportedTranscript {
  return call((raw) =>
    raw.importTranscript(checkedText(format, "format"), checkedBytes(bytes), options),
  ) as ImportedTranscript;
}

/**
 * Translates the deltas of a chain, whatever their formats, into one conversation in the format asked for.
 *
 * @throws {CtxweaveError} `invalid_blob` for a blob that cannot be read at all
 */
export function translateTranscript(request: TranslateRequest): TranslatedTranscript {
  return call((raw) => raw.translateTranscript(request)) as TranslatedTranscript;
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
  return call((raw) =>
    raw.transcriptToMessages(checkedText(format, "format"), checkedBytes(bytes), options),
  ) as TranscriptMessages;
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
  return call((raw) =>
    raw.transcriptToLoomTree(checkedText(format, "format"), checkedBytes(bytes), options),
  ) as TranscriptTree;
}

function checkedBytes(value: unknown): Uint8Array {
  const bytes = asBytes(value as TranscriptBytes);
  if (!bytes) throw invalid("bytes", "bytes, an ArrayBuffer or a view of one");
  return bytes;
}
