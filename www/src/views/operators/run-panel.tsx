import { bound } from "../../ui/bound.js";
import { Button } from "../../ui/button.js";
import { InputField } from "../../ui/fields.js";
import { inputs, isCurrent, lastRun, run, type RunStep } from "./run.js";
import { Seen, SeenContext } from "./seen.js";
import { template } from "./state.js";

/** The whole task, run with a stub of a model: the context of each step. */
export function RunPanel() {
  const { task } = template.value;
  const done = lastRun.value;
  if (!task) return <p class="empty">No task to run.</p>;
  return (
    <div class="stack">
      <h2>Run of the whole task</h2>
      <p class="hint">
        A stub answers instead of a model, with the outputs of "One step" or the name of the step. The memory system
        answers each question as in "One step".
      </p>
      {task.type === "reduce" ? (
        <InputField label="Inputs, one per line" rows={3} data-input="inputs" {...bound(inputs)} />
      ) : null}
      <Button onClick={() => void run()}>Run the task</Button>
      {done ? (
        <>
          <p class="text-s" role="status" data-run={done.status}>
            {done.status === "done" ? "Done" : "Failed"}, {done.steps.length} calls of the model
            {isCurrent.value ? "." : ". The template or the fields have changed since; run it again."}
          </p>
          <ol class="stack gap-4 text-s" aria-label="Steps of the run">
            {done.steps.map((step, at) => (
              <Step key={at} {...step} />
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

function Step({ path, id = path, task, context, input, results, output }: RunStep) {
  const about = input ?? results?.map((one) => `${one.input}: ${one.output}`).join("\n");
  return (
    <li class="stack border-l-3 border-line pl-3" data-step={path}>
      <h3>
        {id} <span class="quiet-text">{task.description}</span>
      </h3>
      {about === undefined ? null : <Seen name="About" label={`Subject of ${id}`} text={about} />}
      {context.context === "" ? <p class="hint">The context is empty.</p> : null}
      <SeenContext context={context} step={id} />
      <p class="quiet-text">Answer: {output}</p>
    </li>
  );
}
