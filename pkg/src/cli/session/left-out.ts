/** Parts of a session file outside the conversation that a model sees. */

import type { TranscriptFormat } from "../../types/transcripts.js";
import { counted } from "../report.js";

type Commits = typeof import("../../entries/commits.js");

/** Omitted parts, a sentence fragment each. */
export interface LeftOut {
  compacted?: string;
  branches?: string;
  sideChains?: string;
}

/** Finds the history before a compaction, abandoned branches and side chains. */
export function leftOut(
  { importTranscript, transcriptToMessages }: Commits,
  format: TranscriptFormat,
  bytes: Uint8Array,
  throughCompactions: boolean,
): LeftOut {
  const file = bytes as Uint8Array<ArrayBuffer>;
  // Only the branches are used, not the times.
  const { branches } = importTranscript(format, file, { createdAt: 0 });
  const messages = (throughCompactions: boolean) =>
    transcriptToMessages(format, file, { throughCompactions }).messages.length;
  const sideChains = branches.filter(({ sideChain }) => sideChain).length;
  const left = branches.length - sideChains;
  const compacted = throughCompactions ? 0 : messages(true) - messages(false);
  return {
    ...(compacted > 0 && {
      compacted: `history before the newest compaction: \`--through-compactions\` adds ${counted(compacted, "message")}`,
    }),
    ...(left > 0 && { branches: `abandoned: ${counted(left, "branch")}` }),
    ...(sideChains > 0 && { sideChains: `work of ${counted(sideChains, "other agent")}` }),
  };
}
