import { useSignal } from "@preact/signals";
import { currentView, linkParams } from "../../shell/route.js";
import { bound } from "../../ui/bound.js";
import { narrow } from "../../ui/media.js";
import { Panes } from "../../ui/panes.js";
import { ResultPane } from "../../ui/result-pane.js";
import { Tabs } from "../../ui/tabs.js";
import { useAddress } from "../../ui/use-address.js";
import { BudgetBar } from "./budget-bar.js";
import { Controls } from "./controls.js";
import { Inspector } from "./inspector.js";
import { Legend } from "./legend.js";
import { NodeList } from "./node-list.js";
import { Diagnostics, Problem } from "./problem.js";
import { BufferPrompt, DialoguePrompt } from "./prompt.js";
import { RawJson } from "./raw-json.js";
import { RequestBody } from "./request-body.js";
import { Report, useDiagnosticCount } from "./report.js";
import { fetchSampleEarly } from "./samples.js";
import { SourceBar } from "./source-bar.js";
import { followLink, index, keepLink, open, outcome, type Outcome } from "./state.js";
import { TreeGraph } from "./tree-graph.js";

// In parallel with the module of the area.
if (currentView() === "loom") fetchSampleEarly(linkParams("loom").get("tree"));

/** A Loom tree and its prompt: the tree on one side, the prompt next to it, and the settings. */
export function LoomView() {
  useAddress("loom", followLink, keepLink);
  return (
    <div class="loom">
      <h1 class="sr-only">A Loom tree becomes a prompt</h1>
      <SourceBar />
      {open.value && index.value ? (
        <>
          {narrow.value ? (
            <div class="narrow-budget pane mx-3 mb-2">
              <BudgetBar />
            </div>
          ) : null}
          <Panes panes={{ tree: "Tree", settings: "Settings", result: "Prompt" }}>
            <TreePane />
            <aside class="pane settings-pane" aria-label="Settings">
              <details open class="fold">
                <summary>
                  <h2>Settings</h2>
                </summary>
                <Controls />
              </details>
            </aside>
            <AssembledPrompt />
          </Panes>
        </>
      ) : null}
    </div>
  );
}

function TreePane() {
  const shown = useSignal<"drawing" | "list">("drawing");
  return (
    <section class="pane tree-pane" aria-label="Tree">
      <Tabs label="Tree" tabs={{ drawing: "Drawing", list: "List" }} {...bound(shown)}>
        {shown.value === "drawing" ? <TreeGraph /> : <NodeList />}
      </Tabs>
      <Inspector />
      <Legend />
    </section>
  );
}

type Shown = "prompt" | "report" | "body" | "json";

const PROMPTS = { error: "Error", dialogue: "Messages", buffer: "Document" };

function AssembledPrompt() {
  const shown = useSignal<Shown>("prompt");
  const diagnostics = useDiagnosticCount();
  const made = outcome.value;
  return (
    <ResultPane label="Assembled prompt">
      {made ? (
        <>
          {narrow.value ? null : <BudgetBar />}
          <Tabs<Shown>
            scrolls
            label="Result"
            tabs={{ prompt: PROMPTS[made.kind], report: "Report", body: "Request", json: "JSON" }}
            counts={{ report: diagnostics }}
            {...bound(shown)}
          >
            <Panel shown={shown.value} made={made} />
          </Tabs>
        </>
      ) : (
        <p class="empty">The tree has no nodes.</p>
      )}
    </ResultPane>
  );
}

function Panel({ shown, made }: { shown: Shown; made: Outcome }) {
  if (shown === "body") return <RequestBody />;
  if (shown === "json") return <RawJson />;
  if (made.kind === "error") return <Problem error={made} />;
  return (
    <>
      <Diagnostics list={made.result.report.diagnostics} />
      {shown === "report" ? (
        <Report report={made.result.report} />
      ) : made.kind === "dialogue" ? (
        <DialoguePrompt assembly={made.result} />
      ) : (
        <BufferPrompt assembly={made.result} />
      )}
    </>
  );
}
