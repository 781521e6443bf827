import type { Diagnostic } from "ctxweave/loom";
import { count, plural } from "../../ui/format.js";
import { MessageText } from "../../ui/message.js";
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
    <section class="problem-panel" role="alert" aria-labelledby="problem-title">
      <p class="problem-code">
        <code data-error-code>{error.code}</code>
      </p>
      <h2 id="problem-title">
        <MessageText text={error.message} sentence />
      </h2>
      {error.code === "ambiguous_path" ? <Ways nodeId={String(error.details["nodeId"])} /> : null}
      {rest.length > 0 ? (
        <dl class="details">
          {rest.map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd data-detail={key}>
                {typeof value === "number" ? (
                  count(value)
                ) : typeof value === "string" ? (
                  value
                ) : (
                  <code>{JSON.stringify(value)}</code>
                )}
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
      {costs.length > 0 ? <Costs costs={costs} /> : null}
    </section>
  );
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

/** The cost of each node, most expensive first, with a button to exclude it. */
function Costs({ costs }: { costs: Cost[] }) {
  const most = Math.max(1, ...costs.map((cost) => cost.tokens));
  return (
    <table class="costs">
      <caption>Cost of {plural(costs.length, "node")}. Exclude some, or enlarge the window.</caption>
      <thead>
        <tr>
          <th scope="col">Node</th>
          <th scope="col">Text</th>
          <th scope="col" class="number">
            Tokens
          </th>
          <th scope="col">
            <span class="visually-hidden">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {[...costs]
          .sort((a, b) => b.tokens - a.tokens)
          .map(({ nodeId, tokens }) => (
            <tr key={nodeId} data-cost={nodeId}>
              <th scope="row">
                <NodeChip id={nodeId} />
              </th>
              <td class="clip">{snippet(nodeWith(nodeId), 80)}</td>
              <td class="number">
                <span class="cost-bar" style={{ inlineSize: `${(tokens / most) * 100}%` }} aria-hidden="true" />
                <span class="cost-number">{count(tokens)}</span>
              </td>
              <td>
                {index.value?.node.has(nodeId) ? (
                  <button
                    type="button"
                    class="small"
                    aria-label={`Exclude ${nodeId}`}
                    onClick={() => toggleExcluded(nodeId)}
                  >
                    Exclude
                  </button>
                ) : null}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
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
  if (list.length === 0) return null;
  return (
    <ul class="diagnostics" aria-label="Diagnostics">
      {list.map((diagnostic, i) => (
        <li key={i} class={`diagnostic ${diagnostic.severity}`}>
          <span class="severity">{diagnostic.severity}</span>
          <code>{diagnostic.code}</code>
          <span class="diagnostic-text">
            <MessageText text={diagnostic.message} />
          </span>
          {diagnostic.nodeId && index.value?.node.has(diagnostic.nodeId) ? <NodeChip id={diagnostic.nodeId} /> : null}
          {diagnostic.path ? <code class="quiet-text">{diagnostic.path}</code> : null}
        </li>
      ))}
    </ul>
  );
}
