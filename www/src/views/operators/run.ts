/** Runs the whole task with a stub of a model, and records what each step sees. */

import { computed, signal } from "@preact/signals";
import { runTask, type ModelCall, type TaskOutput } from "ctxweave/operators";
import { answer, memoryAnswer, matches, parentContext, outputs, outputOf, template, xml } from "./state.js";

/** A call of the model, and its answer. */
export type RunStep = ModelCall & TaskOutput;

interface TaskRunResult {
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
  JSON.stringify([xml.value, parentContext.value, answer.value, matches.value, outputs.value, inputs.value]),
);

/** Whether the last run is one of the open template and the current fields. */
export const isCurrent = computed(() => lastRun.value?.of === basis.value);

/** Runs the task. The answers of the memory system are those of the fields. */
export async function run(): Promise<void> {
  const { task } = template.peek();
  if (!task) return;
  const of = basis.peek();
  const steps: RunStep[] = [];
  const model = (call: ModelCall): TaskOutput => {
    const output = outputOf(call.id ?? call.path);
    steps.push({ ...call, ...output });
    return output;
  };
  try {
    const outcome = await runTask(
      {
        task,
        parentContext: parentContext.peek(),
        inputs: task.type === "reduce" ? inputs.peek().split("\n").filter(Boolean) : undefined,
      },
      { memory: memoryAnswer, model },
    );
    const text = outcome.status === "done" ? outcome.output : JSON.stringify(outcome.failure, null, 2);
    lastRun.value = { steps, status: outcome.status, text, of };
  } catch (error) {
    lastRun.value = { steps, status: "failed", text: (error as Error).message, of };
  }
}
