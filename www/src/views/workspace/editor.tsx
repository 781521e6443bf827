import { signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { bound } from "../../ui/bound.js";
import { NumberField, optionsOf, SelectField } from "../../ui/fields.js";
import { MarkedField } from "../../ui/marked-field.js";
import { Find, matchesIn } from "../../ui/search.js";
import { Tabs } from "../../ui/tabs.js";
import { change, changeTaste, DEFAULT_TASTE, limits, open, plan, shown } from "./state.js";

const TABS = { brief: "Brief", tastes: "Tastes", notes: "Notes", log: "Log", gaps: "Gaps", limits: "Limits" };
type Tab = keyof typeof TABS;

/** The files of the workspace, each in a text field. */
export function Editor() {
  const tab = useSignal<Tab>("brief");
  const query = useSignal("");
  const at = useSignal(-1);
  const pane = useRef<HTMLElement>(null);
  const matches = matchesOf(query.value);
  const match = matches[at.value];
  const go = (next: number): void => {
    const one = matches[next];
    if (!one) return;
    tab.value = one.tab;
    if (one.taste !== undefined) chosenTaste.value = one.taste;
    // The mark is rendered in the next frame. The focus stays in the search.
    requestAnimationFrame(() => pane.current?.querySelector("mark")?.scrollIntoView({ block: "center" }));
  };
  const markIn = (file: Tab, taste?: string): Mark | undefined =>
    match?.tab === file && match.taste === taste ? { start: match.place, length: query.value.length } : undefined;
  return (
    <section class="pane edit-pane" aria-label="Files" ref={pane}>
      <Find label="Search the files" query={query} found={matches.length} at={at} onGo={go} />
      <Tabs<Tab> label="Files" tabs={TABS} {...bound(tab)}>
        {tab.value === "tastes" ? (
          <Tastes markIn={(taste) => markIn("tastes", taste)} />
        ) : tab.value === "limits" ? (
          <Limits />
        ) : (
          <File field={tab.value} mark={markIn(tab.value)} />
        )}
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

/** The shown match in a file. */
interface Mark {
  start: number;
  length: number;
}

function FileText(props: { name: string; text: string; mark: Mark | undefined; onText: (text: string) => void }) {
  const { name, text, mark } = props;
  return (
    <MarkedField
      label={name}
      placeholder={`${name} is missing; type to create it.`}
      wraps={name.endsWith(".md")}
      value={text}
      onText={props.onText}
    >
      {mark ? (
        <>
          {text.slice(0, mark.start)}
          <mark class="found">{text.slice(mark.start, mark.start + mark.length)}</mark>
          {text.slice(mark.start + mark.length)}
        </>
      ) : (
        text
      )}
    </MarkedField>
  );
}

function File({ field, mark }: { field: keyof typeof FILES; mark: Mark | undefined }) {
  return (
    <FileText
      name={FILES[field]}
      text={shown(open.value?.[field])}
      mark={mark}
      onText={(text) => change(field, text)}
    />
  );
}

/** The shown taste file. */
const chosenTaste = signal(DEFAULT_TASTE);

function Tastes({ markIn }: { markIn: (taste: string) => Mark | undefined }) {
  const tastes = open.value?.tastes ?? {};
  const declared = plan.value.flatMap(({ genre }) => genre ?? []);
  const names = [...new Set([DEFAULT_TASTE, ...declared, ...Object.keys(tastes)])];
  const name = names.includes(chosenTaste.value) ? chosenTaste.value : DEFAULT_TASTE;
  const said = (id: string): string =>
    id === DEFAULT_TASTE ? "always loaded" : declared.includes(id) ? "named by the brief" : "not named";
  return (
    <div class="tastes">
      <SelectField
        label="Taste file"
        options={names.map((value) => ({ value, name: `${value}.md (${said(value)})` }))}
        value={name}
        onValue={(value) => (chosenTaste.value = value)}
      />
      <FileText
        name={`${name}.md`}
        text={shown(tastes[name])}
        mark={markIn(name)}
        onText={(text) => changeTaste(name, text)}
      />
    </div>
  );
}

const LIMITS = optionsOf({
  notesHeadLines: "Notes, first lines",
  notesTailLines: "Notes, last lines",
  logEntries: "Log entries",
  gapRecords: "Gap records",
});

function Limits() {
  return (
    <div class="stack limit-fields">
      {LIMITS.map(({ value: key, name }) => (
        <NumberField
          key={key}
          beside
          label={name}
          value={limits.value[key]}
          onValue={(value) => (limits.value = { ...limits.value, [key]: value })}
        />
      ))}
    </div>
  );
}
