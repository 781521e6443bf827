import type { NodeReason, NodeReport, TruncationStrategy } from "ctxweave/loom";

/** Each fate and reason of a report, in words. */
export const FATES: Record<NodeReport["fate"], string> = {
  kept: "Kept",
  changed: "Changed",
  cut: "Cut",
  excluded: "Excluded",
  skipped: "Skipped",
};

export const REASONS: Record<NodeReason, string> = {
  excluded: "marked as excluded",
  pruned: "pruned",
  annotation: "an annotation, not included",
  blank: "blank",
  toolPairBroken: "half of a tool call",
  otherVersion: "another version is used",
  instructionScope: "an earlier instruction",
  nonText: "not text",
  systemContextOff: "no system context in a document",
  overLimit: "over the limit",
  shortened: "shortened to fit",
  compacted: "a compaction replaces it",
};

export const PARTS: Record<NodeReport["as"], string> = {
  path: "on the path",
  context: "context source",
  instruction: "instruction",
  annotation: "annotation",
  version: "version",
  pinned: "pinned",
};

export const STRATEGY_NAMES: Record<TruncationStrategy, string> = {
  truncateMiddle: "Truncate middle",
  rollingWindow: "Rolling window",
  stopAtLimit: "Stop at limit",
};

export const STRATEGY_HINTS: Record<TruncationStrategy, string> = {
  truncateMiddle: "Keeps the beginning and the end; removes one run in the middle.",
  rollingWindow: "Keeps the most recent run that fits.",
  stopAtLimit: "Cuts nothing: over the limit it reports an error with the cost of each node.",
};
