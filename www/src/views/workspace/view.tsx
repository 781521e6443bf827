import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Findings } from "../../ui/findings.js";
import { tokens } from "../../ui/format.js";
import { JsonView } from "../../ui/json-view.js";
import { MessageText } from "../../ui/message.js";
import { OpenFolder } from "../../ui/open-folder.js";
import { Tabs } from "../../ui/tabs.js";
import { TokenBar, toneAt } from "../../ui/token-bar.js";
import { Editor } from "./editor.js";
import { Response } from "./response.js";
import { open, openSample, outcome, problem, use, wants } from "./state.js";

/** The files of a workspace on one side, what an agent's first turn gets of them on the other. */
export function WorkspaceView() {
  useEffect(() => {
    if (!open.value) void openSample();
  }, []);
  const at = open.value;
  return (
    <div class="loom">
      <h1 class="visually-hidden">A workspace becomes an agent's first turn</h1>
      <div class="source">
        <button type="button" class="quiet" onClick={() => void openSample()}>
          Sample
        </button>
        <OpenFolder
          label="Open a folder…"
          wants={wants}
          onOpen={use}
          onProblem={(message) => (problem.value = message)}
        />
        <p class="about">
          {at ? (
            <>
              <strong>{at.name}</strong> Edit any file; the response follows. Nothing leaves this page.
            </>
          ) : (
            "Loading…"
          )}
        </p>
        {problem.value ? (
          <div class="notice problem" role="alert">
            <p>
              <MessageText text={problem.value} sentence />
            </p>
          </div>
        ) : null}
      </div>
      {at ? (
        <div class="panes of-files">
          <Editor />
          <Result />
        </div>
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
  if (made.kind === "error") {
    return (
      <section class="pane result-pane" id="result" tabIndex={-1} aria-label="Response">
        <div class="problem-panel tab-panel" role="alert">
          <p class="problem-code">
            <code data-error-code>{made.code}</code>
          </p>
          <h2>
            <MessageText text={made.message} sentence />
          </h2>
        </div>
      </section>
    );
  }
  const { context, tokens: cost, diagnostics } = made.result;
  return (
    <section class="pane result-pane" id="result" tabIndex={-1} aria-label="Response">
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
        tabs={[
          { id: "response", name: "Response", ...(diagnostics.length > 0 ? { count: diagnostics.length } : {}) },
          { id: "json", name: "JSON" },
        ]}
        chosen={tab.value}
        onChoose={(id) => (tab.value = id)}
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
    </section>
  );
}
