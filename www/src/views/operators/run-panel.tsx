import { bound } from "../../ui/bound.js";
import { InputField } from "../../ui/fields.js";
import { Seen, SeenContext } from "./seen.js";
import { parsed } from "./state.js";
import { inputs, isCurrent, lastRun, run, type RunStep } from "./run.js";
import { Button } from "../../ui/button.js";

/** The whole task, run with a stub of a model: the context of each step. */
export function RunPanel() {
  const now = parsed.value;
  if (now.kind !== "task") return <p class="empty">No task to run.</p>;
  const done = lastRun.value;
  return (
    <div class="assembly">
      <h2>Run of the whole task</h2>
      <p class="hint">
        A stub answers instead of a model, with the outputs of "One step" or the name of the step. The memory system
        answers each question as in "One step".
      </p>
      {now.task.type === "reduce" ? (
        <InputField label="Inputs, one per line" rows={3} data-input="inputs" {...bound(inputs)} />
      ) : null}
      <Button onClick={() => void run()}>Run the task</Button>
      {done ? (
        <>
          <p role="status" data-run={done.status}>
            {done.status === "done" ? "Done" : "Failed"}, {done.steps.length} calls of the model
            {isCurrent.value ? "." : ". The template or the fields have changed since; run it again."}
          </p>
          <ol class="stack run-steps" aria-label="Steps of the run">
            {done.steps.map((step, at) => (
              <Step key={at} step={step} />
            ))}
          </ol>
          <Seen
            name={done.status === "done" ? "Output of the task" : "Failure"}
            label="Output of the task"
            text={done.text}
          />
        </>
      ) : null}
    </div>
  );
}

function Step({ step: { path, id, task, context, about, output } }: { step: RunStep }) {
  return (
    <li class="stage" data-step={path}>
      <h3>
        {id ?? path} <span class="quiet-text">{task}</span>
      </h3>
      {about === undefined ? null : <Seen name="About" label={`Subject of ${id ?? path}`} text={about} />}
      {context.context === "" ? <p class="hint">The context is empty.</p> : null}
      <SeenContext context={context} step={id ?? path} />
      <p class="quiet-text">Answer: {output}</p>
    </li>
  );
}
