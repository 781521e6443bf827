/**
 * Runs two task templates from beginning to end: `node examples/operators.mjs` after `cargo xtask build`. The memory
 * system is a few notes in memory, and the model's stand-in reports its input. Everything else is as in a real host.
 */

import { pathToFileURL } from "node:url";
import { assembleContextForTask, CtxweaveError, init, nextRequest, parseTask, recordResult, startRun } from "ctxweave";

const NOTES = {
  "notes/lighthouse.md": "The lighthouse was built in 1871, of granite. Its keeper kept a log.",
  "notes/storm.md": "The storm of 1893 broke the lamp; the log has no entry for nine days.",
  "notes/keeper.md": "The keeper was Ada Brandt. She wrote letters to her sister.",
};

const SEQUENCE = `
<task type="sequential">
  <description>Write the history of the lighthouse</description>
  <context_management>
    <inherit_context>full</inherit_context>
    <accumulate_data>true</accumulate_data>
    <accumulation_format>notes_only</accumulation_format>
    <fresh_context>disabled</fresh_context>
  </context_management>
  <steps>
    <task type="atomic" id="facts">
      <description>Collect what is known of the lighthouse and its keeper</description>
    </task>
    <task type="atomic" id="gap">
      <description>Explain the gap in the log after the storm</description>
      <context_management>
        <inherit_context>subset</inherit_context>
        <fresh_context>disabled</fresh_context>
      </context_management>
    </task>
    <task type="atomic" id="title">
      <description>Find a title</description>
      <context_management>
        <inherit_context>none</inherit_context>
        <fresh_context>disabled</fresh_context>
      </context_management>
    </task>
  </steps>
</task>`;

const REDUCE = `
<task type="reduce">
  <description>Sum up the letters of the keeper</description>
  <inner_task>
    <description>Sum up one letter</description>
  </inner_task>
  <reduction_task>
    <description>Make one text of all sums</description>
    <context_management>
      <inherit_context>none</inherit_context>
      <fresh_context>enabled</fresh_context>
    </context_management>
  </reduction_task>
</task>`;

/** A memory system: the notes that share a longer word with the task, sorted by path. */
export function memoryOf(notes) {
  const words = (text) => new Set(text.toLowerCase().match(/[a-z]{4,}/g));
  const shares = (a, b) => [...words(a)].some((word) => words(b).has(word));
  return async ({ taskText, inheritedContext }, { purpose }) => {
    const found = purpose === "filter" ? [] : Object.entries(notes).filter(([, text]) => shares(taskText, text));
    const sentences = (inheritedContext ?? "").split(/(?<=\.)\s+/).filter((sentence) => shares(taskText, sentence));
    const kept = sentences.join(" ");
    return {
      context: purpose === "filter" ? kept : found.map(([, text]) => text).join("\n"),
      ...(purpose === "filterAndMatch" ? { inherited: kept } : {}),
      matches: found.map(([path]) => [path, null]),
    };
  };
}

/**
 * Runs a sequential or reduce task. `model(call)` returns `{ output, notes? }` for each call. If it throws, or the
 * memory system fails, the run ends with a failure that keeps earlier outputs.
 */
export async function runTask(input, memory, model) {
  let run = startRun(input);
  for (;;) {
    const next = nextRequest(run);
    if (next.status === "done" || next.status === "failed") return next;
    let result;
    try {
      const assembled = await assembleContextForTask(next.request, memory);
      result = next.status === "context" ? { context: assembled.context } : await model({ ...next, assembled });
    } catch (error) {
      // Other errors of the library are bugs in this program.
      if (error instanceof CtxweaveError && error.code !== "context_retrieval_failure") throw error;
      result = { error: { message: error.message, reason: error instanceof CtxweaveError ? error.code : undefined } };
    }
    run = recordResult(run, result);
  }
}

/** Reports its input; a model would process it. */
async function model({ status, id, input, results, request, assembled }) {
  const name = id ?? status;
  console.log(`\n── ${status} ${id ?? ""}: ${request.task.description}`);
  if (input) console.log(`input: ${input}`);
  for (const part of ["inherited", "accumulated", "fresh"]) {
    if (assembled[part]) console.log(`${part}:\n${assembled[part].replace(/^/gm, "  ")}`);
  }
  for (const [path] of assembled.matches) console.log(`match: ${path}`);
  if (results) console.log(`results: ${results.map((result) => result.output).join(" ")}`);
  return { output: `(${name}, ${assembled.context.length} characters seen)`, notes: `${name} is done.` };
}

async function main() {
  await init();
  const memory = memoryOf(NOTES);
  try {
    const parentContext = "The reader is a child. The storm came in the night. The book is short.";
    const sequence = await runTask({ task: parseTask(SEQUENCE).task, parentContext }, memory, model);
    console.log(`\nThe sequence gave ${sequence.output}`);
    const inputs = [
      { id: "letter-1", text: "Dear sister, the sea is calm." },
      { id: "letter-2", text: "Dear sister, the lamp is broken." },
    ];
    const reduction = await runTask({ task: parseTask(REDUCE).task, inputs }, memory, model);
    console.log(`\nThe reduction gave ${reduction.output}`);
  } catch (error) {
    if (!(error instanceof CtxweaveError)) throw error;
    console.error(`${error.code}: ${error.message}`);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
