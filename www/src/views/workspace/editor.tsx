import { signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Field, NumberInput, Select } from "../../ui/fields.js";
import { Find, matchesIn } from "../../ui/search.js";
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
  const query = useSignal("");
  const at = useSignal(-1);
  const pane = useRef<HTMLElement>(null);
  const matches = matchesOf(query.value);
  const go = (match: number): void => {
    const one = matches[match];
    if (!one) return;
    tab.value = one.tab;
    if (one.taste !== undefined) chosenTaste.value = one.taste;
    // The field of another file is rendered in the next frame.
    requestAnimationFrame(() => {
      const field = pane.current?.querySelector("textarea");
      field?.focus();
      field?.setSelectionRange(one.place, one.place + query.value.length);
    });
  };
  return (
    <section class="pane edit-pane" aria-label="Files" ref={pane}>
      <Find label="Search the files" query={query} found={matches.length} at={at} onGo={go} />
      <Tabs<Tab> label="Files" tabs={TABS} chosen={tab.value} onChoose={(id) => (tab.value = id)}>
        {tab.value === "tastes" ? <Tastes /> : tab.value === "limits" ? <Limits /> : <File field={tab.value} />}
      </Tabs>
    </section>
  );
}

/** A place in a file that contains the searched words. */
interface Match {
  tab: Tab;
  taste?: string;
  place: number;
}

function matchesOf(query: string): Match[] {
  const now = open.value;
  if (!now) return [];
  const files = Object.keys(FILES) as (keyof typeof FILES)[];
  return [
    ...files.flatMap((tab) => matchesIn(shown(now[tab]), query).map((place) => ({ tab, place }))),
    ...Object.entries(now.tastes).flatMap(([taste, text]) =>
      matchesIn(shown(text), query).map((place) => ({ tab: "tastes" as const, taste, place })),
    ),
  ];
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

/** The shown taste file. */
const chosenTaste = signal(DEFAULT_TASTE);

function Tastes() {
  const tastes = open.value?.tastes ?? {};
  const declared = plan.value.flatMap(({ genre }) => genre ?? []);
  const names = [...new Set([DEFAULT_TASTE, ...declared, ...Object.keys(tastes)])];
  const name = names.includes(chosenTaste.value) ? chosenTaste.value : DEFAULT_TASTE;
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
            onValue={(value) => (chosenTaste.value = value)}
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
