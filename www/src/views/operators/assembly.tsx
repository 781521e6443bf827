import { useEffect, useRef } from "preact/hooks";
import { CtxweaveError, type ContextAssembly, type ContextMatchRequest } from "ctxweave/operators";
import { bound } from "../../ui/bound.js";
import { Button } from "../../ui/button.js";
import { ProblemPanel } from "../../ui/failed.js";
import { InputField } from "../../ui/fields.js";
import { MessageText } from "../../ui/message.js";
import { SeenContext } from "./seen.js";
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
      {now instanceof CtxweaveError ? <ProblemPanel code={now.code} message={now.message} /> : null}
      {asks ? <Question asks={asks} /> : null}
      {"status" in now && now.status === "ready" ? (
        <p class="hint" data-asked="no">
          The memory system is not asked.
        </p>
      ) : null}
      {result instanceof CtxweaveError ? (
        <ProblemPanel code={result.code} message={result.message} />
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
      <InputField label="Context of the parent" rows={2} data-input="parent" {...bound(parentContext)} />
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
                <InputField
                  key={field}
                  label={field === "notes" ? "Notes" : "Output"}
                  data-input={`${step}-${field}`}
                  value={saidOf(step)[field]}
                  onValue={(text) => change(step, field, text)}
                />
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
      <InputField label="Your answer" rows={2} data-input="answer" {...bound(answer)} />
      <InputField label="Your matches, one path per line" rows={2} data-input="matches" {...bound(matches)} />
      <Button onClick={giveAnswer}>Answer</Button>
    </section>
  );
}

function Result({ result, answered }: { result: ContextAssembly; answered: boolean }) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // The result is below the question and may be out of view.
    if (answered) section.current?.scrollIntoView({ block: "nearest" });
  }, [answered, result]);
  return (
    <section class="stage" aria-label="The assembled context" data-result ref={section}>
      <h3>Context of the task</h3>
      {result.context === "" ? <p class="hint">Empty.</p> : null}
      <SeenContext context={result} />
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
