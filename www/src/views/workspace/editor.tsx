import { useSignal } from "@preact/signals";
import { Field, NumberInput, Select } from "../../ui/fields.js";
import { Tabs } from "../../ui/tabs.js";
import { change, changeTaste, DEFAULT_TASTE, limits, open, plan, shown } from "./state.js";

type Tab = "brief" | "tastes" | "notes" | "log" | "gaps" | "limits";

const TABS: readonly { id: Tab; name: string }[] = [
  { id: "brief", name: "Brief" },
  { id: "tastes", name: "Tastes" },
  { id: "notes", name: "Notes" },
  { id: "log", name: "Log" },
  { id: "gaps", name: "Gaps" },
  { id: "limits", name: "Limits" },
];

/** The files of the workspace, each in a text field. */
export function Editor() {
  const tab = useSignal<Tab>("brief");
  return (
    <section class="pane edit-pane" aria-label="Files">
      <Tabs<Tab> label="Files" tabs={TABS} chosen={tab.value} onChoose={(id) => (tab.value = id)}>
        {tab.value === "tastes" ? <Tastes /> : tab.value === "limits" ? <Limits /> : <File field={tab.value} />}
      </Tabs>
    </section>
  );
}

const FILES = { brief: "brief.md", notes: "notes.md", log: "log.jsonl", gaps: "vocabulary_gaps.jsonl" } as const;

function File({ field }: { field: keyof typeof FILES }) {
  return (
    <textarea
      class={field === "log" || field === "gaps" ? "source-text code" : "source-text"}
      aria-label={FILES[field]}
      spellcheck={false}
      placeholder={`${FILES[field]} is missing; type to create it.`}
      value={shown(open.value?.[field])}
      onInput={(event) => change(field, event.currentTarget.value)}
    />
  );
}

function Tastes() {
  const tastes = open.value?.tastes ?? {};
  const declared = plan.value.flatMap(({ genre }) => genre ?? []);
  const names = [...new Set([DEFAULT_TASTE, ...declared, ...Object.keys(tastes)])];
  const chosen = useSignal(DEFAULT_TASTE);
  const name = names.includes(chosen.value) ? chosen.value : DEFAULT_TASTE;
  const said = (id: string): string =>
    id === DEFAULT_TASTE ? "always loaded" : declared.includes(id) ? "named by the brief" : "not named";
  return (
    <div class="tastes">
      <Field label="Taste file">
        {({ id }) => (
          <Select
            id={id}
            options={names.map((value) => ({ value, name: `${value}.md (${said(value)})` }))}
            value={name}
            onValue={(value) => (chosen.value = value)}
          />
        )}
      </Field>
      <textarea
        class="source-text"
        aria-label={`${name}.md`}
        spellcheck={false}
        placeholder={`${name}.md is missing; type to create it.`}
        value={shown(tastes[name])}
        onInput={(event) => changeTaste(name, event.currentTarget.value)}
      />
    </div>
  );
}

const LIMITS = [
  { id: "notesHeadLines", name: "Notes, first lines" },
  { id: "notesTailLines", name: "Notes, last lines" },
  { id: "logEntries", name: "Log entries" },
  { id: "gapRecords", name: "Gap records" },
] as const;

function Limits() {
  return (
    <div class="limit-fields">
      {LIMITS.map(({ id: key, name }) => (
        <Field key={key} label={name} beside>
          {({ id }) => (
            <NumberInput
              id={id}
              min={0}
              value={limits.value[key]}
              onValue={(value) => (limits.value = { ...limits.value, [key]: value })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}
