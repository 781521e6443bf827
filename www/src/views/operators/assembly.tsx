import { useEffect, useRef } from "preact/hooks";
import type { ContextAssembly, ContextMatchRequest } from "ctxweave/operators";
import { bound } from "../../ui/bound.js";
import { Button } from "../../ui/button.js";
import { ProblemPanel } from "../../ui/failed.js";
import { InputField } from "../../ui/fields.js";
import { MessageText } from "../../ui/message.js";
import { SeenContext, TEXT } from "./seen.js";
import {
  answer,
  before,
  giveAnswer,
  matches,
  operator,
  parentContext,
  question,
  result,
  changeOutput,
  outputOf,
} from "./state.js";

const PURPOSES: Record<ContextMatchRequest["purpose"], string> = {
  match: "It is asked for new context.",
  filter: "It is asked for the relevant part of the parent's context only.",
  filterAndMatch: "It is asked for the relevant part of the parent's context, and for new context.",
};

/** One assembly, step by step: the inputs, the question to the memory system, the result. */
export function Assembly() {
  const asked = question.value;
  const made = result.value;
  if (!operator.value) return <p class="empty">No task to assemble.</p>;
  return (
    <div class="stack">
      <h2>
        Context of <code data-assembled>{operator.value.path}</code>
      </h2>
      <Inputs />
      {asked ? <Question asked={asked} /> : null}
      {made?.ok && !asked ? (
        <p class="hint" data-asked="no">
          The memory system is not asked.
        </p>
      ) : null}
      {made?.ok ? <Result result={made.value} isAnswer={asked !== undefined} /> : null}
      {made?.ok === false ? <ProblemPanel code={made.code} message={made.message} /> : null}
    </div>
  );
}

function Inputs() {
  const { steps, accumulation } = before.value;
  return (
    <section class="stack" aria-label="Inputs">
      <InputField label="Context of the parent" rows={2} data-input="parent" {...bound(parentContext)} />
      {steps.length > 0 ? (
        <details open={accumulation !== "off"}>
          <summary class="text-s">
            Outputs of earlier steps{" "}
            <span class="quiet-text">({accumulation === "off" ? "not accumulated" : accumulation})</span>
          </summary>
          {steps.map((step) => (
            <fieldset key={step} class="grid gap-1 pt-2 pl-3">
              <legend class="font-mono text-s font-semibold">{step}</legend>
              <StepField label="Notes" step={step} field="notes" />
              <StepField label="Output" step={step} field="output" />
            </fieldset>
          ))}
        </details>
      ) : null}
    </section>
  );
}

function StepField({ label, step, field }: { label: string; step: string; field: "notes" | "output" }) {
  const onValue = (text: string): void => changeOutput(step, { [field]: text });
  return <InputField label={label} data-input={`${step}-${field}`} value={outputOf(step)[field]} onValue={onValue} />;
}

function Question({ asked }: { asked: ContextMatchRequest }) {
  return (
    <section
      class="stack rounded-s border border-l-3 border-line border-l-accent p-3"
      aria-label="The memory system"
      data-asked={asked.purpose}
    >
      <h3>You are the memory system</h3>
      <p class="hint">{PURPOSES[asked.purpose]}</p>
      <pre class={TEXT} tabIndex={0} aria-label="Question" data-question>
        {asked.text}
      </pre>
      <InputField label="Your answer" rows={2} data-input="answer" {...bound(answer)} />
      <InputField label="Your matches, one path per line" rows={2} data-input="matches" {...bound(matches)} />
      <Button onClick={() => giveAnswer(asked)}>Answer</Button>
    </section>
  );
}

function Result({ result, isAnswer }: { result: ContextAssembly; isAnswer: boolean }) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // The result is below the question and may be out of view.
    if (isAnswer) section.current?.scrollIntoView({ block: "nearest" });
  }, [isAnswer, result]);
  return (
    <section class="stack" aria-label="The assembled context" data-result ref={section}>
      <h3>Context of the task</h3>
      {result.context === "" ? <p class="hint">Empty.</p> : null}
      <SeenContext context={result} />
      {result.matches.length > 0 ? (
        <ul class="matches row gap-x-3 text-s" aria-label="Matches">
          {result.matches.map(([path], i) => (
            <li key={i}>
              <code>{path}</code>
            </li>
          ))}
        </ul>
      ) : null}
      {result.diagnostics?.map(({ message }, i) => (
        <p key={i} class="hint">
          <MessageText text={message} />
        </p>
      ))}
    </section>
  );
}
