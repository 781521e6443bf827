import { parsed } from "./state.js";
import { inputs, isCurrent, lastRun, run, type RunStep } from "./run.js";

const PARTS = [
  ["inherited", "Inherited"],
  ["accumulated", "Accumulated"],
  ["fresh", "Fresh"],
] as const;

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
        <label class="field">
          <span class="field-name">Inputs, one per line</span>
          <textarea
            rows={3}
            value={inputs.value}
            data-input="inputs"
            onInput={(event) => (inputs.value = event.currentTarget.value)}
          />
        </label>
      ) : null}
      <button type="button" class="quiet" onClick={() => void run()}>
        Run the task
      </button>
      {done ? (
        <>
          <p role="status" data-run={done.status}>
            {done.status === "done" ? "Done" : "Failed"}, {done.steps.length} calls of the model
            {isCurrent.value ? "." : ". The template or the fields have changed since; run it again."}
          </p>
          <ol class="run-steps" aria-label="Steps of the run">
            {done.steps.map((step, at) => (
              <Step key={at} step={step} />
            ))}
          </ol>
          <figure class="seen">
            <figcaption>{done.status === "done" ? "Output of the task" : "Failure"}</figcaption>
            <pre tabIndex={0} aria-label="Output of the task" data-run-output>
              {done.text}
            </pre>
          </figure>
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
      {about === undefined ? null : (
        <figure class="seen">
          <figcaption>About</figcaption>
          <pre tabIndex={0} aria-label={`Subject of ${id ?? path}`}>
            {about}
          </pre>
        </figure>
      )}
      {context.context === "" ? <p class="hint">The context is empty.</p> : null}
      {PARTS.map(([field, name]) =>
        context[field] === undefined ? null : (
          <figure key={field} class={`seen ${field}`}>
            <figcaption>{name}</figcaption>
            <pre tabIndex={0} aria-label={`${name}, ${id ?? path}`} data-part={field}>
              {context[field]}
            </pre>
          </figure>
        ),
      )}
      <p class="quiet-text">Answer: {output}</p>
    </li>
  );
}
