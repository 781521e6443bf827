import { useComputed, useSignal } from "@preact/signals";
import type { AssemblyReport, NodeReport } from "ctxweave/loom";
import { useId } from "preact/hooks";
import { useFirstOf } from "../../ui/first-of.js";
import { count, plural } from "../../ui/format.js";
import { FATES, PARTS, REASONS, STRATEGY_NAMES } from "../../ui/words.js";
import { NodeChip } from "./prompt.js";
import { PROTECTION_NAMES, protectionOf } from "./settings.js";
import { nodeWith, outcome, settings } from "./state.js";
import { snippet } from "./tree-index.js";

/** The report: totals, the cut, the effective settings, and a row for each node. */
export function Report({ report }: { report: AssemblyReport }) {
  const { tokens, cut, preferences } = report;
  const partial = cut?.partialNodeIds.length ?? 0;
  const shortened = partial > 0 ? ` and ${count(partial)} shortened` : "";
  return (
    <div class="report">
      <dl class="facts">
        <Fact name="Strategy" value={STRATEGY_NAMES[report.strategy]} />
        <Fact name="Limit" value={count(report.limit)} />
        <Fact name="Total" value={count(tokens.total)} />
        <Fact name="System" value={count(tokens.system)} />
        <Fact name="Messages" value={count(tokens.messages)} />
        <Fact name="Overhead" value={count(tokens.overhead)} />
        {tokens.loomAware ? (
          <Fact
            name="Loom-aware"
            value={`addendum ${count(tokens.loomAware.addendum)} · memory ${count(tokens.loomAware.memory)} · headers ${count(tokens.loomAware.headers)} · loom block ${count(tokens.loomAware.loomBlock)}`}
          />
        ) : null}
        <Fact name="Counted by" value={tokens.tokenizer} />
        <Fact name="Path" value={plural(report.path.length, "node")} />
        <Fact name="Not on the path" value={plural(report.notOnPath, "node")} />
        <Fact name="Recent nodes met" value={report.minimumRecentNodesMet ? "yes" : "no"} />
        <Fact
          name="Cut"
          value={
            cut
              ? `${plural(cut.nodeIds.length, "node")}${shortened}, ${plural(cut.tokens, "token")}, after ${plural(cut.position, "node")}`
              : "nothing"
          }
        />
        <Fact name="Marker" value={cut?.marker?.trim() ?? "none"} />
        <Fact name="Effective settings" value={settingsInForce(preferences)} />
      </dl>
      <Rows rows={report.nodes} />
    </div>
  );
}

function settingsInForce(preferences: AssemblyReport["preferences"]): string {
  const { minimumRecentNodes, tokenBuffer, cutStep, startOn, protect, fill } = preferences;
  const all = `recent ${minimumRecentNodes} · buffer ${count(tokenBuffer)} · step ${count(cutStep)} · start on ${startOn}`;
  if (settings.value.mode === "buffer") return all;
  return `${all} · protect ${PROTECTION_NAMES[protectionOf(protect)].toLowerCase()} · fill ${fill}`;
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const MAX_SHOWN_ROWS = 300;

function Rows({ rows }: { rows: NodeReport[] }) {
  const only = useSignal<NodeReport["fate"] | "">("");
  const filterId = useId();
  const chosen = only.value === "" ? rows : rows.filter((row) => row.fate === only.value);
  const { shown, more } = useFirstOf(chosen, MAX_SHOWN_ROWS);
  return (
    <>
      <div class="rows-head">
        <label for={filterId}>Show</label>
        <select
          id={filterId}
          value={only.value}
          onChange={(event) => (only.value = event.currentTarget.value as NodeReport["fate"] | "")}
        >
          <option value="">every fate</option>
          {Object.entries(FATES).map(([fate, name]) => (
            <option key={fate} value={fate}>
              {name.toLowerCase()} ({rows.filter((row) => row.fate === fate).length})
            </option>
          ))}
        </select>
      </div>
      <div class="table-scroll" role="region" aria-label="Report by node" tabIndex={0}>
        <table class="rows">
          <caption class="visually-hidden">Fate of each node</caption>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Text</th>
              <th scope="col">As</th>
              <th scope="col">Fate</th>
              <th scope="col" class="number">
                Tokens
              </th>
              <th scope="col" class="number">
                Message
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.nodeId} data-row={row.nodeId} data-fate={row.fate}>
                <th scope="row">
                  <NodeChip id={row.nodeId} />
                </th>
                <td class="clip">{snippet(nodeWith(row.nodeId), 60)}</td>
                <td>{PARTS[row.as]}</td>
                <td>
                  <span class={`fate-word fate-${row.fate}`}>{FATES[row.fate]}</span>
                  {row.reason ? <span class="quiet-text"> {REASONS[row.reason]}</span> : null}
                </td>
                <td class="number">
                  {count(row.tokens)}
                  {row.tokensAfter === undefined ? null : <span class="quiet-text"> → {count(row.tokensAfter)}</span>}
                </td>
                <td class="number">{row.message ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {more ? <p class="more">{more}</p> : null}
      </div>
    </>
  );
}

/** Number of diagnostics, shown on the tab. */
export function useDiagnosticCount(): number {
  return useComputed(() => {
    const made = outcome.value;
    return made && made.kind !== "error" ? made.result.report.diagnostics.length : 0;
  }).value;
}
