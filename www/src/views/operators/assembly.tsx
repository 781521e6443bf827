import { useEffect, useRef } from "preact/hooks";
import { CtxweaveError, type ContextAssembly, type ContextMatchRequest } from "ctxweave/operators";
import { MessageText } from "../../ui/message.js";
import {
  answer,
  answered,
  before,
  begun,
  giveAnswer,
  matches,
  operator,
  parentContext,
  questionKey,
  said,
  saidOf,
} from "./state.js";

const PURPOSES: Record<ContextMatchRequest["purpose"], string> = {
  match: "It is asked for new context.",
  filter: "It is asked for the relevant part of the parent's context only.",
  filterAndMatch: "It is asked for the relevant part of the parent's context, and for new context.",
};

/** One assembly, step by step: the inputs, the question to the memory system, the result. */
export function Assembly() {
  const at = operator.value;
  const now = begun.value;
  if (!at || !now) return <p class="empty">No task to assemble.</p>;
  const reply = answered.value;
  const asks = "status" in now && now.status === "match" ? now : undefined;
  const result =
    "status" in now && now.status === "ready"
      ? now.result
      : asks && reply?.question === questionKey(asks)
        ? reply.result
        : undefined;
  return (
    <div class="assembly">
      <h2>
        Context of <code data-assembled>{at.path}</code>
      </h2>
      <Inputs />
      {now instanceof CtxweaveError ? <Failure error={now} /> : null}
      {asks ? <Question asks={asks} /> : null}
      {"status" in now && now.status === "ready" ? (
        <p class="hint" data-asked="no">
          The memory system is not asked.
        </p>
      ) : null}
      {result instanceof CtxweaveError ? (
        <Failure error={result} />
      ) : result ? (
        <Result result={result} answered={asks !== undefined} />
      ) : null}
    </div>
  );
}

function Inputs() {
  const { steps, accumulation } = before.value;
  const change = (step: string, field: "notes" | "output", value: string): void => {
    said.value = { ...said.value, [step]: { ...saidOf(step), [field]: value } };
  };
  return (
    <section class="stage" aria-label="Inputs">
      <label class="field">
        <span class="field-name">Context of the parent</span>
        <textarea
          rows={2}
          value={parentContext.value}
          data-input="parent"
          onInput={(event) => (parentContext.value = event.currentTarget.value)}
        />
      </label>
      {steps.length > 0 ? (
        <details open={accumulation !== "off"}>
          <summary>
            Outputs of earlier steps{" "}
            <span class="quiet-text">{accumulation === "off" ? "(not accumulated)" : `(${accumulation})`}</span>
          </summary>
          {steps.map((step) => (
            <fieldset key={step} class="step-output">
              <legend>{step}</legend>
              {(["notes", "output"] as const).map((field) => (
                <label key={field} class="field">
                  <span class="field-name">{field === "notes" ? "Notes" : "Output"}</span>
                  <input
                    type="text"
                    value={saidOf(step)[field]}
                    data-input={`${step}-${field}`}
                    onInput={(event) => change(step, field, event.currentTarget.value)}
                  />
                </label>
              ))}
            </fieldset>
          ))}
        </details>
      ) : null}
    </section>
  );
}

function Question({ asks }: { asks: ContextMatchRequest }) {
  return (
    <section class="stage question" aria-label="The memory system" data-asked={asks.purpose}>
      <h3>You are the memory system</h3>
      <p class="hint">{PURPOSES[asks.purpose]}</p>
      <pre tabIndex={0} aria-label="Question" data-question>
        {asks.text}
      </pre>
      <label class="field">
        <span class="field-name">Your answer</span>
        <textarea
          rows={2}
          value={answer.value}
          data-input="answer"
          onInput={(event) => (answer.value = event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span class="field-name">Your matches, one path per line</span>
        <textarea
          rows={2}
          value={matches.value}
          data-input="matches"
          onInput={(event) => (matches.value = event.currentTarget.value)}
        />
      </label>
      <button type="button" class="quiet" onClick={giveAnswer}>
        Answer
      </button>
    </section>
  );
}

function Result({ result, answered }: { result: ContextAssembly; answered: boolean }) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // The result is below the question and may be out of view.
    if (answered) section.current?.scrollIntoView({ block: "nearest" });
  }, [answered, result]);
  const parts = [
    ["inherited", "Inherited"],
    ["accumulated", "Accumulated"],
    ["fresh", "Fresh"],
  ] as const;
  return (
    <section class="stage" aria-label="The assembled context" data-result ref={section}>
      <h3>Context of the task</h3>
      {result.context === "" ? <p class="hint">Empty.</p> : null}
      {parts.map(([field, name]) =>
        result[field] === undefined ? null : (
          <figure key={field} class={`seen ${field}`}>
            <figcaption>{name}</figcaption>
            <pre tabIndex={0} aria-label={name} data-part={field}>
              {result[field]}
            </pre>
          </figure>
        ),
      )}
      {result.matches.length > 0 ? (
        <ul class="matches" aria-label="Matches">
          {result.matches.map(([path], i) => (
            <li key={i}>
              <code>{path}</code>
            </li>
          ))}
        </ul>
      ) : null}
      {(result.diagnostics ?? []).map(({ message }, i) => (
        <p key={i} class="hint">
          <MessageText text={message} />
        </p>
      ))}
    </section>
  );
}

function Failure({ error }: { error: CtxweaveError }) {
  return (
    <section class="problem-panel" role="alert">
      <p class="problem-code">
        <code data-error-code>{error.code}</code>
      </p>
      <p>
        <MessageText text={error.message} sentence />
      </p>
    </section>
  );
}
