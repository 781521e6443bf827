import { useEffect } from "preact/hooks";
import { useComputed, useSignal } from "@preact/signals";
import type { CommitRecord } from "ctxweave/commits";
import { bound } from "../../ui/bound.js";
import { Button } from "../../ui/button.js";
import { CopyAsCode } from "../../ui/copy-as-code.js";
import { useOpener } from "../../ui/drop.js";
import { Facts } from "../../ui/facts.js";
import { InputField } from "../../ui/fields.js";
import { count, plural } from "../../ui/format.js";
import { MessageText } from "../../ui/message.js";
import { ProblemNotice } from "../../ui/notice.js";
import { OpenFile } from "../../ui/open-file.js";
import { OwnTools } from "../../ui/own-tools.js";
import { Panes } from "../../ui/panes.js";
import { useAddress } from "../../ui/use-address.js";
import { contains, Find } from "../../ui/search.js";
import { WhatIsOpen } from "../../ui/what-is-open.js";
import { codeOfCommits } from "./code.js";
import { detailsOf, timeOf } from "./details.js";
import { ResultPane } from "./result.js";
import {
  begin,
  busy,
  choose,
  follow,
  fork,
  openFile,
  openSample,
  own,
  problem,
  record,
  session,
  timeline,
} from "./state.js";
import { TimelineList } from "./timeline-list.js";

/** A session from its first commit to its last, next to the conversation materialized from a commit. */
export function CommitsView() {
  useAddress("commits", begin);
  // Runs once the address is read, without waiting for everything to load: settings made meanwhile are in the address,
  // which may be read again.
  useEffect(follow, []);
  const open = session.value;
  return (
    <div class="loom commits">
      <h1 class="sr-only">A session becomes commits</h1>
      <SessionBar />
      {open ? (
        <Panes class="of-files" panes={{ session: "Session", result: "Result" }}>
          <section class="pane session-pane overflow-hidden [grid-area:edit]" aria-label="Session">
            <Search />
            <TimelineList open={open} />
            {record.value ? <Chosen record={record.value} /> : <p class="empty">Choose a commit.</p>}
          </section>
          <ResultPane open={open} />
        </Panes>
      ) : null}
    </div>
  );
}

const MAX_SHOWN_NOTES = 100;

function SessionBar() {
  const open = own.value.value;
  const notes = session.value?.imported.diagnostics ?? [];
  const ready = open !== undefined || problem.value !== undefined;
  useOpener({ hint: "Drop the session to open it", ready, onFile: (file) => void openFile(file) });
  return (
    <div class="row source" aria-busy={busy.value}>
      <OpenFile label="Open a session…" id="session-file" about="A session file of an agent" view="commits" />
      <Button onClick={() => void openSample()}>Sample</Button>
      <WhatIsOpen failed={problem.value !== undefined}>
        {open ? (
          <>
            <strong>{open.name}</strong>
            <span>{plural(timeline.value.length, "commit")}. Nothing leaves this page.</span>
          </>
        ) : undefined}
      </WhatIsOpen>
      {open ? <CopyAsCode code={codeOfCommits} /> : null}
      {open ? <OwnTools view="commits" own={own} /> : null}
      {problem.value ? <ProblemNotice problem={problem.value} onDismiss={() => (problem.value = undefined)} /> : null}
      {notes.length > 0 ? (
        <details class="notice notes border-line-strong bg-sunken">
          <summary>{notes.length === 1 ? "One note" : `${count(notes.length)} notes`} on the import</summary>
          <ul>
            {notes.slice(0, MAX_SHOWN_NOTES).map(({ code, message, line }) => (
              <li key={`${code}${line ?? ""}${message}`}>
                <MessageText text={message} />
                {line === undefined ? null : ` (line ${line})`}
              </li>
            ))}
            {notes.length > MAX_SHOWN_NOTES ? <li>{count(notes.length - MAX_SHOWN_NOTES)} more</li> : null}
          </ul>
        </details>
      ) : null}
    </div>
  );
}

/** Goes to the commits that contain a text. */
function Search() {
  const query = useSignal("");
  const at = useSignal(-1);
  const found = useComputed(() => {
    const open = session.value;
    if (!open || query.value.trim() === "") return [];
    return timeline.value.filter(({ record }) => contains(query.value, detailsOf(open, record).text));
  });
  return (
    <Find
      label="Search the session"
      query={query}
      found={found.value.length}
      at={at}
      onGo={(match) => choose(found.value[match]?.record.id ?? "")}
    />
  );
}

const KINDS: Record<string, string> = {
  delta: "new messages",
  compaction: "a summary of earlier messages",
  snapshot: "all messages so far",
};

/** The chosen commit, and a way to continue from it. */
function Chosen({ record }: { record: CommitRecord }) {
  const text = useSignal("");
  const { id, commit_type: kind, checkpoint, format, artifact_ref, summary } = record;
  const made = timeOf(record) || "at an unknown time";
  return (
    <div class="stack chosen gap-2 p-4">
      <form
        class="flex items-end gap-2 [&>.field]:flex-1"
        onSubmit={(event) => {
          event.preventDefault();
          fork(text.value);
          text.value = "";
        }}
      >
        <InputField label="Continue from here with" placeholder="your message" {...bound(text)} />
        <Button label="Fork" icon="plus" type="submit" disabled={text.value.trim() === ""} />
      </form>
      <details class="open:max-h-56 open:overflow-auto">
        <summary>About this commit</summary>
        <Facts
          class="pairs"
          facts={[
            ["Commit", id],
            ["Kind", `${kind}, ${KINDS[kind] ?? ""}`],
            ["Made", checkpoint ? `${made} (${checkpoint.replaceAll("_", " ")})` : made],
            ["Format", format],
            ["Artifact", artifact_ref],
            ["Summary", summary],
          ]}
        />
      </details>
    </div>
  );
}
