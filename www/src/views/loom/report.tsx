import { useComputed, useSignal } from "@preact/signals";
import type { AssemblyReport, NodeReport } from "ctxweave/loom";
import { useId } from "preact/hooks";
import { bound } from "../../ui/bound.js";
import { Facts } from "../../ui/facts.js";
import { optionsOf, Select } from "../../ui/fields.js";
import { useFirstOf } from "../../ui/first-of.js";
import { count, plural } from "../../ui/format.js";
import { Table } from "../../ui/table.js";
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
      <Facts
        class="facts"
        facts={[
          ["Strategy", STRATEGY_NAMES[report.strategy]],
          ["Limit", count(report.limit)],
          ["Total", count(tokens.total)],
          ["System", count(tokens.system)],
          ["Messages", count(tokens.messages)],
          ["Overhead", count(tokens.overhead)],
          ["Loom-aware", tokens.loomAware && additions(tokens.loomAware)],
          ["Counted by", tokens.tokenizer],
          ["Path", plural(report.path.length, "node")],
          ["Not on the path", plural(report.notOnPath, "node")],
          ["Recent nodes met", report.minimumRecentNodesMet ? "yes" : "no"],
          [
            "Cut",
            cut
              ? `${plural(cut.nodeIds.length, "node")}${shortened}, ${plural(cut.tokens, "token")}, after ${plural(cut.position, "node")}`
              : "nothing",
          ],
          ["Marker", cut?.marker?.trim() ?? "none"],
          ["Effective settings", settingsInForce(preferences)],
        ]}
      />
      <Rows rows={report.nodes} />
    </div>
  );
}

const additions = (of: NonNullable<AssemblyReport["tokens"]["loomAware"]>): string =>
  `addendum ${count(of.addendum)} · memory ${count(of.memory)} · headers ${count(of.headers)} · loom block ${count(of.loomBlock)}`;

function settingsInForce(preferences: AssemblyReport["preferences"]): string {
  const { minimumRecentNodes, tokenBuffer, cutStep, startOn, protect, fill } = preferences;
  const all = `recent ${minimumRecentNodes} · buffer ${count(tokenBuffer)} · step ${count(cutStep)} · start on ${startOn}`;
  if (settings.value.mode === "buffer") return all;
  return `${all} · protect ${PROTECTION_NAMES[protectionOf(protect)].toLowerCase()} · fill ${fill}`;
}

const MAX_SHOWN_ROWS = 300;

function Rows({ rows }: { rows: NodeReport[] }) {
  const only = useSignal<NodeReport["fate"] | "">("");
  const filterId = useId();
  const chosen = only.value === "" ? rows : rows.filter((row) => row.fate === only.value);
  const { shown, more } = useFirstOf(chosen, MAX_SHOWN_ROWS);
  const options = [
    { value: "" as const, name: "every fate" },
    ...optionsOf(FATES).map(({ value, name }) => ({
      value,
      name: `${name.toLowerCase()} (${rows.filter((row) => row.fate === value).length})`,
    })),
  ];
  return (
    <>
      <div class="rows-head">
        <label for={filterId}>Show</label>
        <Select id={filterId} options={options} {...bound(only)} />
      </div>
      <Table
        class="rows"
        label="Report by node"
        caption={<caption class="sr-only">Fate of each node</caption>}
        columns={["Node", "Text", "As", "Fate", { number: "Tokens" }, { number: "Message" }]}
      >
        {shown.map((row) => (
          <tr key={row.nodeId} data-row={row.nodeId} data-fate={row.fate}>
            <th scope="row">
              <NodeChip id={row.nodeId} />
            </th>
            <td class="truncate clip">{snippet(nodeWith(row.nodeId), 60)}</td>
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
      </Table>
      {more ? <p class="more">{more}</p> : null}
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
