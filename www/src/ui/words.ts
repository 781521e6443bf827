import type { NodeReason, NodeReport, TruncationStrategy } from "ctxweave/loom";
import words from "./words.json";

/** Each fate and reason of a report, in words. */
export const FATES: Record<NodeReport["fate"], string> = words.fates;
export const REASONS: Record<NodeReason, string> = words.reasons;
export const PARTS: Record<NodeReport["as"], string> = words.parts;

export const STRATEGY_NAMES: Record<TruncationStrategy, string> = words.strategyNames;
export const STRATEGY_HINTS: Record<TruncationStrategy, string> = words.strategyHints;
