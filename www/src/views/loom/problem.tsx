import type { ComponentChildren } from "preact";
import type { Diagnostic } from "ctxweave/loom";
import { SmallButton } from "../../ui/button.js";
import { Facts } from "../../ui/facts.js";
import { ProblemPanel } from "../../ui/failed.js";
import { Findings } from "../../ui/findings.js";
import { count, plural } from "../../ui/format.js";
import { Table } from "../../ui/table.js";
import { NodeChip } from "./prompt.js";
import { choose, index, nodeWith, toggleExcluded, type Outcome } from "./state.js";
import { choicePoints, nodeName, snippet } from "./tree-index.js";

interface Cost {
  nodeId: string;
  tokens: number;
}

/** An error with its cause and ways to resolve it. */
export function Problem({ error }: { error: Extract<Outcome, { kind: "error" }> }) {
  const costs = costsOf(error.details["nodes"]);
  // Details that are shown below in another form.
  const shown = costs.length > 0 ? ["nodes"] : error.code === "ambiguous_path" ? ["candidates"] : [];
  const rest = Object.entries(error.details).filter(([key]) => !shown.includes(key));
  return (
    <ProblemPanel code={error.code} message={error.message}>
      {error.code === "ambiguous_path" ? <Ways nodeId={String(error.details["nodeId"])} /> : null}
      {rest.length > 0 ? <Facts class="details" facts={rest.map(([key, value]) => [key, detail(value), key])} /> : null}
      {costs.length > 0 ? <Costs costs={costs} /> : null}
    </ProblemPanel>
  );
}

function detail(value: unknown): ComponentChildren {
  if (typeof value === "number") return count(value);
  return typeof value === "string" ? value : <code>{JSON.stringify(value)}</code>;
}

/** The edges that lead to a node, as buttons that choose one. */
function Ways({ nodeId }: { nodeId: string }) {
  const tree = index.value;
  const point = tree && choicePoints(tree, [nodeId])[0];
  if (!tree || !point) return null;
  return (
    <div class="ways">
      <h3>Come from</h3>
      {point.candidates.map(({ edgeId, from }) => (
        <button key={edgeId} type="button" data-choice={edgeId} onClick={() => choose(nodeId, edgeId)}>
          <code>{nodeName(tree.node.get(from), from)}</code>
          <span>{snippet(tree.node.get(from), 90)}</span>
        </button>
      ))}
    </div>
  );
}

const ACTION = (
  <th scope="col">
    <span class="sr-only">Action</span>
  </th>
);

/** The cost of each node, most expensive first, with a button to exclude it. */
function Costs({ costs }: { costs: Cost[] }) {
  const most = Math.max(1, ...costs.map((cost) => cost.tokens));
  return (
    <Table
      class="costs"
      caption={<caption>Cost of {plural(costs.length, "node")}. Exclude some, or enlarge the window.</caption>}
      columns={["Node", "Text", { number: "Tokens" }, ACTION]}
    >
      {[...costs]
        .sort((a, b) => b.tokens - a.tokens)
        .map(({ nodeId, tokens }) => (
          <tr key={nodeId} data-cost={nodeId}>
            <th scope="row">
              <NodeChip id={nodeId} />
            </th>
            <td class="truncate clip">{snippet(nodeWith(nodeId), 80)}</td>
            <td class="number">
              <span class="cost-bar" style={{ inlineSize: `${(tokens / most) * 100}%` }} aria-hidden="true" />
              <span class="cost-number">{count(tokens)}</span>
            </td>
            <td>
              {index.value?.node.has(nodeId) ? (
                <SmallButton label="Exclude" aria-label={`Exclude ${nodeId}`} onClick={() => toggleExcluded(nodeId)} />
              ) : null}
            </td>
          </tr>
        ))}
    </Table>
  );
}

function costsOf(value: unknown): Cost[] {
  if (!Array.isArray(value)) return [];
  return value.filter((entry): entry is Cost => {
    const { nodeId, tokens } = (entry ?? {}) as Partial<Cost>;
    return typeof nodeId === "string" && typeof tokens === "number";
  });
}

/** The library's diagnostics for the input. */
export function Diagnostics({ list }: { list: Diagnostic[] }) {
  return <Findings list={list} chip={(id) => (id && index.value?.node.has(id) ? <NodeChip id={id} /> : null)} />;
}
