import { useSignal } from "@preact/signals";
import type { AssemblyReport, Cut, LoomAwareTokens, NodeReport } from "ctxweave/loom";
import { bound } from "../../ui/bound.js";
import { Facts } from "../../ui/facts.js";
import { optionsOf, SelectField } from "../../ui/fields.js";
import { useFirstOf } from "../../ui/first-of.js";
import { count, plural } from "../../ui/format.js";
import { Table } from "../../ui/table.js";
import { FATES, PARTS, REASONS, STRATEGY_NAMES } from "../../ui/words.js";
import { NodeChip } from "./prompt.js";
import { PROTECTION_NAMES, protectionOf, type EffectivePreferences } from "./settings.js";
import { nodeWith, outcome, settings } from "./state.js";
import { snippet } from "./tree-index.js";

/** The report: totals, the cut, the effective settings, and a row for each node. */
export function Report({ report }: { report: AssemblyReport }) {
  const { tokens, cut } = report;
  return (
    <>
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
          ["Cut", cut ? cutInWords(cut) : "nothing"],
          ["Marker", cut?.marker?.trim() ?? "none"],
          ["Effective settings", settingsInForce(report.preferences)],
        ]}
      />
      <Rows rows={report.nodes} />
    </>
  );
}

const additions = (of: LoomAwareTokens): string =>
  `addendum ${count(of.addendum)} · memory ${count(of.memory)} · headers ${count(of.headers)} · loom block ${count(of.loomBlock)}`;

function cutInWords({ nodeIds, partialNodeIds, tokens, position }: Cut): string {
  const shortened = partialNodeIds.length > 0 ? ` and ${count(partialNodeIds.length)} shortened` : "";
  return `${plural(nodeIds.length, "node")}${shortened}, ${plural(tokens, "token")}, after ${plural(position, "node")}`;
}

function settingsInForce(preferences: EffectivePreferences): string {
  const { minimumRecentNodes, tokenBuffer, cutStep, startOn, protect, fill } = preferences;
  const all = `recent ${minimumRecentNodes} · buffer ${count(tokenBuffer)} · step ${count(cutStep)} · start on ${startOn}`;
  if (settings.value.mode === "buffer") return all;
  return `${all} · protect ${PROTECTION_NAMES[protectionOf(protect)].toLowerCase()} · fill ${fill}`;
}

const MAX_SHOWN_ROWS = 300;

function Rows({ rows }: { rows: NodeReport[] }) {
  const only = useSignal<NodeReport["fate"] | "">("");
  const chosen = only.value === "" ? rows : rows.filter((row) => row.fate === only.value);
  const { shown, more } = useFirstOf(chosen, MAX_SHOWN_ROWS);
  const fates = optionsOf(FATES).map(({ value, name }) => ({
    value,
    name: `${name.toLowerCase()} (${rows.filter((row) => row.fate === value).length})`,
  }));
  return (
    <>
      <div class="w-40 pb-2">
        <SelectField label="Show" options={[{ value: "", name: "every fate" }, ...fates]} {...bound(only)} />
      </div>
      <Table
        class="min-w-[560px]"
        label="Report by node"
        caption={<caption class="sr-only">Fate of each node</caption>}
        columns={["Node", "Text", "As", "Fate", { number: "Tokens" }, { number: "Message" }]}
      >
        {shown.map((row) => (
          <tr key={row.nodeId} data-row={row.nodeId} data-fate={row.fate}>
            <th scope="row">
              <NodeChip id={row.nodeId} />
            </th>
            <td class="w-3/5 max-w-0 truncate text-ink-2">{snippet(nodeWith(row.nodeId), 60)}</td>
            <td class="whitespace-nowrap">{PARTS[row.as]}</td>
            <td class="whitespace-nowrap">
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
      {more ? <p class="py-2 text-center">{more}</p> : null}
    </>
  );
}

/** Number of diagnostics, shown on the tab. */
export function useDiagnosticCount(): number {
  const made = outcome.value;
  return made && made.kind !== "error" ? made.result.report.diagnostics.length : 0;
}
