/** Summaries for commits that lack one. */

import { checkedOptions, invalid } from "../api/checked.js";
import { checkWhole } from "../api/commits/bytes.js";
import type { Summarize, SummarizedCommits, SummarizeMissingOptions } from "../types/stores.js";
import type { CommitStore } from "./commit-store.js";

/**
 * Gives each commit without a summary the one that `summarize` returns, oldest first. If `summarize` throws, so does the
 * call; summaries set before stay.
 *
 * @throws {CtxweaveError} those of `CommitStore.blob` and `updateMetadata`
 */
export async function summarizeMissing(
  store: Pick<CommitStore, "lackingSummary" | "blob" | "updateMetadata">,
  summarize: Summarize,
  options: SummarizeMissingOptions = {},
): Promise<SummarizedCommits> {
  const { limit = Infinity } = checkedOptions(options, ["limit"]);
  if (limit !== Infinity) checkWhole(limit, "options.limit", 1);
  if (typeof summarize !== "function") throw invalid("summarize", "a function");
  const done: SummarizedCommits = { summarized: [], skipped: [] };
  for await (const record of store.lackingSummary()) {
    if (done.summarized.length >= limit) break;
    const summary = await summarize(record, await store.blob(record.id));
    if (summary === undefined || summary.trim() === "") done.skipped.push(record.id);
    else {
      await store.updateMetadata(record.id, { summary });
      done.summarized.push(record.id);
    }
  }
  return done;
}
