/** Runs the whole task with a stub of a model, and records what each step sees. */

import { computed, signal } from "@preact/signals";
import { runTask } from "ctxweave/operators";
import type { ContextAssembly, CtxweaveError, ModelCall, TaskOutput } from "ctxweave/operators";
import { answer, given, matches, parentContext, parsed, said, saidOf, xml } from "./state.js";

/** A call of the model: its context and answer. */
export interface RunStep {
  path: string;
  id: string | undefined;
  task: string;
  context: ContextAssembly;
  output: string;
  notes?: string | undefined;
  /** What the step is about, if it is part of a reduction. */
  about?: string;
}

export interface TaskRunResult {
  steps: readonly RunStep[];
  status: "done" | "failed";
  /** The output of the task, or why it failed. */
  text: string;
  /** What it was run with. */
  of: string;
}

/** The last run. */
export const lastRun = signal<TaskRunResult | undefined>(undefined);
/** The inputs of a reduction at the root, one per line. */
export const inputs = signal("The first input.\nThe second input.");

/** Everything that a run depends on, as text. */
const basis = computed(() =>
  JSON.stringify([xml.value, parentContext.value, answer.value, matches.value, said.value, inputs.value]),
);

/** Whether the last run is one of the open template and the current fields. */
export const isCurrent = computed(() => lastRun.value?.of === basis.value);

/** The stub answers with the outputs of the fields, otherwise with the name of the step. */
function answerOf({ id, path }: ModelCall): TaskOutput {
  const name = id ?? path;
  return name in said.peek() ? saidOf(name) : { output: `Output of ${name}.`, notes: `Notes of ${name}.` };
}

/** Runs the task. The answers of the memory system are those of the fields. */
export async function run(): Promise<void> {
  const now = parsed.peek();
  if (now.kind !== "task") return;
  const of = basis.peek();
  const steps: RunStep[] = [];
  const model = async (call: ModelCall): Promise<TaskOutput> => {
    const { path, id, task, context, input, results } = call;
    const answer = answerOf(call);
    const about = input ?? results?.map((one) => `${one.input}: ${one.output}`).join("\n");
    steps.push({
      path,
      id,
      task: task.description ?? "",
      context,
      ...answer,
      ...(about === undefined ? {} : { about }),
    });
    return answer;
  };
  const isReduce = now.task.type === "reduce";
  const list = inputs.peek().split("\n").filter(Boolean);
  try {
    const outcome = await runTask(
      { task: now.task, parentContext: parentContext.peek(), ...(isReduce ? { inputs: list } : {}) },
      { memory: async () => given(), model },
    );
    const text = outcome.status === "done" ? outcome.output : JSON.stringify(outcome.failure, null, 2);
    lastRun.value = { steps, status: outcome.status, text, of };
  } catch (error) {
    lastRun.value = { steps, status: "failed", text: (error as CtxweaveError).message, of };
  }
}
