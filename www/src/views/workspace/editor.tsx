import { signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { bound } from "../../ui/bound.js";
import { NumberField, optionsOf, SelectField } from "../../ui/fields.js";
import { MarkedField } from "../../ui/marked-field.js";
import { Find, matchesIn } from "../../ui/search.js";
import { Tabs } from "../../ui/tabs.js";
import { declared, DEFAULT_TASTE, edit, files, limits, type EditedFile } from "./state.js";

const TABS = { brief: "Brief", tastes: "Tastes", notes: "Notes", log: "Log", gaps: "Gaps", limits: "Limits" };
type Tab = keyof typeof TABS;

/** The shown taste. */
const chosenTaste = signal<string>(DEFAULT_TASTE);

/** The files of the workspace, each in a text field. */
export function Editor() {
  const tab = useSignal<Tab>("brief");
  const query = useSignal("");
  const at = useSignal(-1);
  const pane = useRef<HTMLElement>(null);
  const matches = files.value.flatMap((file) => matchesIn(file.text, query.value).map((start) => ({ file, start })));
  const inTab = files.value.filter(({ field }) => field === tab.value);
  const shown = inTab.find(({ taste }) => taste === chosenTaste.value) ?? inTab[0];
  const match = matches[at.value];
  const mark =
    match && match.file === shown ? { start: match.start, end: match.start + query.value.length } : undefined;
  const go = (next: number): void => {
    const file = matches[next]?.file;
    if (!file) return;
    tab.value = file.field;
    if (file.taste !== undefined) chosenTaste.value = file.taste;
    // The mark is rendered in the next frame. The focus stays in the search.
    requestAnimationFrame(() => pane.current?.querySelector("mark")?.scrollIntoView({ block: "center" }));
  };
  return (
    <section class="pane edit-pane" aria-label="Files" ref={pane}>
      <Find label="Search the files" query={query} found={matches.length} at={at} onGo={go} />
      <Tabs<Tab> label="Files" tabs={TABS} {...bound(tab)}>
        {shown?.taste === undefined ? null : <TastePicker tastes={inTab} value={shown.taste} />}
        {shown ? <FileText file={shown} mark={mark} /> : <Limits />}
      </Tabs>
    </section>
  );
}

function FileText({ file, mark }: { file: EditedFile; mark: { start: number; end: number } | undefined }) {
  const { name, text } = file;
  return (
    <MarkedField
      label={name}
      placeholder={`${name} is missing; type to create it.`}
      wraps={name.endsWith(".md")}
      value={text}
      onText={(changed) => edit(file, changed)}
    >
      {mark ? (
        <>
          {text.slice(0, mark.start)}
          <mark class="found">{text.slice(mark.start, mark.end)}</mark>
          {text.slice(mark.end)}
        </>
      ) : (
        text
      )}
    </MarkedField>
  );
}

function TastePicker({ tastes, value }: { tastes: readonly EditedFile[]; value: string }) {
  const roleOf = (taste: string): string => {
    if (taste === DEFAULT_TASTE) return "always loaded";
    return declared.value.includes(taste) ? "named by the brief" : "not named";
  };
  return (
    <div class="border-b border-line px-4 py-3">
      <SelectField
        label="Taste file"
        options={tastes.map(({ taste = "", name }) => ({ value: taste, name: `${name} (${roleOf(taste)})` }))}
        value={value}
        onValue={(taste) => (chosenTaste.value = taste)}
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
    <div class="stack max-w-[22rem] p-4">
      {LIMITS.map(({ value: key, name }) => (
        <NumberField
          key={key}
          inline
          label={name}
          value={limits.value[key]}
          onValue={(value) => (limits.value = { ...limits.value, [key]: value })}
        />
      ))}
    </div>
  );
}
