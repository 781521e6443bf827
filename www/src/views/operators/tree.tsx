import { useSignal } from "@preact/signals";
import type { ExplainedOperator, Look } from "ctxweave/operators";
import { Facts } from "../../ui/facts.js";
import { MessageText } from "../../ui/message.js";
import { contains, SearchField } from "../../ui/search.js";
import { jump } from "./editor.js";
import { CONTEXT_PARTS } from "./seen.js";
import { chosen, operator, template } from "./state.js";

const ROLES: Record<ExplainedOperator["role"], string> = {
  task: "task",
  step: "step",
  innerTask: "inner task",
  reductionTask: "reduction task",
};

const FIELDS = [
  ["inheritContext", "inherit"],
  ["accumulateData", "accumulate"],
  ["accumulationFormat", "format"],
  ["freshContext", "fresh"],
] as const;

/** Every operator of the template with its effective settings; the chosen one with an explanation. */
export function OperatorTree() {
  const query = useSignal("");
  const { task, operators } = template.value;
  if (!task) {
    return (
      <p class="empty" data-no-tree>
        The template is invalid. The editor shows the position of the error.
      </p>
    );
  }
  const found = operators.filter((it) => contains(query.value, it.type, it.id, it.description, ROLES[it.role]));
  return (
    <>
      {operators.length > 1 || query.value !== "" ? (
        <SearchField class="mb-2" label="Search the operators" query={query} />
      ) : null}
      <ul aria-label="Operators">
        {found.map((it) => (
          <Entry key={it.path} it={it} open={it === operator.value} />
        ))}
        {found.length === 0 ? <li class="empty">No operator matches.</li> : null}
      </ul>
    </>
  );
}

function Entry({ it, open }: { it: ExplainedOperator; open: boolean }) {
  return (
    <li
      class={`border border-l-2 px-2 py-1.5 ${
        open ? "rounded-r-s border-line border-l-accent bg-sunken" : "border-transparent border-l-line"
      }`}
      style={{ marginInlineStart: `${Math.min(it.level, 8) * 14}px` }}
      data-operator={it.path}
    >
      <button
        type="button"
        class="group row w-full gap-x-2 text-start"
        aria-expanded={open}
        onClick={() => {
          chosen.value = it.path;
          if (it.line > 0) jump.value = { line: it.line, column: it.column };
        }}
      >
        <strong class="group-hover:text-accent">{it.type}</strong>
        <span class="quiet-text">
          {ROLES[it.role]} {it.id}
        </span>
        {it.description ? <span class="operator-about text-s text-ink-2">{it.description}</span> : null}
      </button>
      <ul class="row gap-1 py-1" aria-label="Effective settings">
        {FIELDS.map(([field, name]) => {
          const value = it.contextManagement[field];
          const origin = it.origins[field];
          if (value === undefined) return null;
          const look = origin === "default" ? "border-line text-ink-2" : "border-line-strong";
          return (
            <li
              key={field}
              class={`setting ${origin} rounded-s border px-1.5 text-xs ${look}`}
              data-setting={field}
              title={`${field}: ${origin}`}
            >
              <span class="quiet-text">{name}</span> {String(value)}
              {origin === "explicit" ? null : <em class="quiet-text ml-1">{origin}</em>}
            </li>
          );
        })}
      </ul>
      {open ? (
        <Facts
          class="pairs pt-1 [--names:6.4rem]"
          facts={CONTEXT_PARTS.map(({ part, name }) => [name, explained(it[part]), part])}
        />
      ) : null}
    </li>
  );
}

const explained = ({ sees, why }: Look<string>) => (
  <>
    <strong>{sees}</strong>{" "}
    <span class="quiet-text">
      <MessageText text={why} />
    </span>
  </>
);
