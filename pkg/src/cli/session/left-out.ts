/** What of a session file is no part of the conversation that a model would see. */

import type { TranscriptFormat } from "../../types/transcripts.js";
import { counted } from "../report.js";

type Commits = typeof import("../../entries/commits.js");

/** What is not in a conversation, a sentence fragment each. */
export interface LeftOut {
  compacted?: string;
  branches?: string;
  sideChains?: string;
}

/** What was said before a compaction, on branches that the user left, and by other agents. */
export function leftOut(
  { importTranscript, transcriptToMessages }: Commits,
  format: TranscriptFormat,
  bytes: Uint8Array,
  throughCompactions: boolean,
): LeftOut {
  const file = bytes as Uint8Array<ArrayBuffer>;
  // What lines without a time are given is not looked at.
  const { branches } = importTranscript(format, file, { createdAt: 0 });
  const messages = (throughCompactions: boolean) =>
    transcriptToMessages(format, file, { throughCompactions }).messages.length;
  const sideChains = branches.filter(({ sideChain }) => sideChain).length;
  const left = branches.length - sideChains;
  const compacted = throughCompactions ? 0 : messages(true) - messages(false);
  return {
    ...(compacted > 0 && {
      compacted: `what was said before the newest summary is not in it: \`--through-compactions\` has ${counted(compacted, "message")} more`,
    }),
    ...(left > 0 && { branches: `${counted(left, "branch")} that the user left: not in it` }),
    ...(sideChains > 0 && { sideChains: `the work of ${counted(sideChains, "other agent")}: not in it` }),
  };
}
