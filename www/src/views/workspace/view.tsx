import { useSignal } from "@preact/signals";
import { bound } from "../../ui/bound.js";
import { Failed } from "../../ui/failed.js";
import { Findings } from "../../ui/findings.js";
import { FolderSource } from "../../ui/folder-source.js";
import { tokens } from "../../ui/format.js";
import { JsonView } from "../../ui/json-view.js";
import { Panes } from "../../ui/panes.js";
import { ResultPane } from "../../ui/result-pane.js";
import { Tabs } from "../../ui/tabs.js";
import { TokenBar, toneAt } from "../../ui/token-bar.js";
import { useAddress } from "../../ui/use-address.js";
import { codeOfWorkspace } from "./code.js";
import { Editor } from "./editor.js";
import { Response } from "./response.js";
import { begin, open, openSample, outcome, own, problem, use, wants } from "./state.js";

/** The files of a workspace on one side, the agent's first turn on the other. */
export function WorkspaceView() {
  useAddress("workspace", begin);
  const at = open.value;
  return (
    <div class="loom">
      <h1 class="sr-only">A workspace becomes an agent's first turn</h1>
      <FolderSource
        sample="Sample"
        onSample={openSample}
        wants={wants}
        onOpen={use}
        problem={problem}
        view="workspace"
        own={own}
        code={codeOfWorkspace}
      >
        {at ? (
          <>
            <strong>{at.name}</strong> Edit any file; the response follows. Nothing leaves this page.
          </>
        ) : undefined}
      </FolderSource>
      {at ? (
        <Panes class="of-files" panes={{ edit: "Files", result: "Response" }}>
          <Editor />
          <Result />
        </Panes>
      ) : null}
    </div>
  );
}

type Shown = "response" | "json";

const SECTIONS = [
  { id: "tastes", name: "Tastes" },
  { id: "brief", name: "Brief" },
  { id: "notes", name: "Notes" },
  { id: "recentLog", name: "Recent log" },
  { id: "recentGaps", name: "Recent gaps" },
] as const;

function Result() {
  const tab = useSignal<Shown>("response");
  const made = outcome.value;
  if (!made) return null;
  if (!made.ok) return <Failed label="Response" code={made.code} message={made.message} />;
  const { context, tokens: cost, diagnostics } = made.value;
  return (
    <ResultPane label="Response">
      <TokenBar shares={SECTIONS.map(({ id, name }, at) => ({ id, name, tokens: cost[id], tone: toneAt(at) }))}>
        <p class="summary">
          <span data-total>{tokens(cost.total)}</span>
          <span>counted as {cost.tokenizer}</span>
          {context.notes.truncated ? <span class="warn">notes truncated</span> : null}
        </p>
      </TokenBar>
      <Tabs<Shown>
        scrolls
        label="Result"
        tabs={{ response: "Response", json: "JSON" }}
        counts={{ response: diagnostics.length }}
        {...bound(tab)}
      >
        {tab.value === "json" ? (
          <JsonView name="read_context" label="Copy response" value={context} />
        ) : (
          <>
            <Findings list={diagnostics} />
            <Response context={context} />
          </>
        )}
      </Tabs>
    </ResultPane>
  );
}
