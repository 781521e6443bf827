import { useSignal } from "@preact/signals";
import type { ExplainedOperator, Look } from "ctxweave/operators";
import { Facts } from "../../ui/facts.js";
import { MessageText } from "../../ui/message.js";
import { contains, SearchField } from "../../ui/search.js";
import { jump } from "./editor.js";
import { chosen, operator, parsed } from "./state.js";

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
  const now = parsed.value;
  if (now.kind === "error") {
    return (
      <p class="empty" data-no-tree>
        The template is invalid. The editor shows the position of the error.
      </p>
    );
  }
  const found = now.operators.filter((it) => contains(query.value, it.type, it.id, it.description, ROLES[it.role]));
  return (
    <>
      {now.operators.length > 1 || query.value !== "" ? (
        <SearchField class="operators-search" label="Search the operators" query={query} />
      ) : null}
      <ul class="operators-list" aria-label="Operators">
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
      class={open ? "operator open" : "operator"}
      style={{ marginInlineStart: `${Math.min(it.level, 8) * 14}px` }}
      data-operator={it.path}
    >
      <button
        type="button"
        class="operator-name"
        aria-expanded={open}
        onClick={() => {
          chosen.value = it.path;
          if (it.line > 0) jump.value = { line: it.line, column: it.column };
        }}
      >
        <strong>{it.type}</strong>
        <span class="quiet-text">{it.id ? `${ROLES[it.role]} ${it.id}` : ROLES[it.role]}</span>
        {it.description ? <span class="operator-about">{it.description}</span> : null}
      </button>
      <ul class="settings-in-force" aria-label="Effective settings">
        {FIELDS.map(([field, name]) => {
          const value = it.contextManagement[field];
          const origin = it.origins[field];
          if (value === undefined) return null;
          return (
            <li key={field} class={`setting ${origin}`} data-setting={field} title={`${field}: ${origin}`}>
              <span class="quiet-text">{name}</span> {String(value)}
              {origin === "explicit" ? null : <span class="origin-word">{origin}</span>}
            </li>
          );
        })}
      </ul>
      {open ? (
        <Facts
          class="pairs looks"
          facts={[
            ["Inherited", shown(it.inherited), "inherited"],
            ["Accumulated", shown(it.accumulated), "accumulated"],
            ["Fresh", shown(it.fresh), "fresh"],
          ]}
        />
      ) : null}
    </li>
  );
}

const shown = ({ sees, why }: Look<string>) => (
  <>
    <strong>{sees}</strong>{" "}
    <span class="quiet-text">
      <MessageText text={why} />
    </span>
  </>
);
