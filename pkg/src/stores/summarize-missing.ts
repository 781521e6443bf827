/** Summaries for commits that lack one. */

import { checkedSignal, raceAbort } from "../api/abort.js";
import { checkedOptions, invalid } from "../api/checked.js";
import { checkWhole } from "../api/commits/bytes.js";
import { guarded, isInstance } from "../source.js";
import type { Summarize, SummarizedCommits, SummarizeMissingOptions } from "../types/stores.js";
import { CommitStore } from "./commit-store.js";

/**
 * Gives each commit without a summary the one that `summarize` returns, oldest first. If `summarize` throws, so does the
 * call; summaries set before stay. `summarize` receives the signal.
 *
 * @throws {CtxweaveError} `invalid_input`, and those of `CommitStore.blob` and `updateMetadata`; the signal's reason when it is aborted
 */
export async function summarizeMissing(
  store: Pick<CommitStore, "lackingSummary" | "blob" | "updateMetadata">,
  summarize: Summarize,
  options: SummarizeMissingOptions = {},
): Promise<SummarizedCommits> {
  const {
    limit = Infinity,
    signal: given,
    verifyArtifact,
  } = checkedOptions(options, ["limit", "signal", "verifyArtifact"]);
  const signal = checkedSignal(given);
  if (limit !== Infinity) checkWhole(limit, "options.limit", 1);
  if (typeof summarize !== "function") throw invalid("summarize", "a function");
  if (!isInstance(store, CommitStore)) throw invalid("store", "a `CommitStore`");
  const done: SummarizedCommits = { summarized: [], skipped: [] };
  // A proxy of a store has none of its private fields.
  const records = guarded("store", () => store.lackingSummary({ signal }));
  for await (const record of records) {
    if (done.summarized.length >= limit) break;
    const blob = await store.blob(record.id, { signal, verifyArtifact });
    const summary = await raceAbort(signal ? summarize(record, blob, { signal }) : summarize(record, blob), signal);
    if (summary !== undefined && typeof summary !== "string")
      throw invalid("summarize", "a function that returns a text or undefined");
    if (summary === undefined || summary.trim() === "") done.skipped.push(record.id);
    else {
      await store.updateMetadata(record.id, { summary }, { signal });
      done.summarized.push(record.id);
    }
  }
  return done;
}
