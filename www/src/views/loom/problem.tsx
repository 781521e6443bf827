import type { Diagnostic, ErrorDetails } from "ctxweave/loom";
import type { ComponentChildren } from "preact";
import { Button, SmallButton } from "../../ui/button.js";
import { Facts } from "../../ui/facts.js";
import { ProblemPanel } from "../../ui/failed.js";
import { Findings } from "../../ui/findings.js";
import { count, plural } from "../../ui/format.js";
import { Table } from "../../ui/table.js";
import { NodeChip } from "./prompt.js";
import { choose, index, nodeWith, toggleExcluded } from "./state.js";
import { nodeName, snippet } from "./tree-index.js";

/** An error with its cause and ways to resolve it. */
export function Problem(props: { error: { code?: string; message: string; details?: object } }) {
  const { code = "error", message, details = {} } = props.error;
  const { nodes = [], candidates = [], ...rest } = details as Partial<Details>;
  const facts = Object.entries(rest);
  return (
    <ProblemPanel code={code} message={message}>
      {rest.nodeId !== undefined && candidates.length > 0 ? (
        <Ways nodeId={rest.nodeId} candidates={candidates} />
      ) : null}
      {facts.length > 0 ? <Facts class="facts" facts={facts.map(([key, value]) => [key, detail(value), key])} /> : null}
      {nodes.length > 0 ? <Costs nodes={nodes} /> : null}
    </ProblemPanel>
  );
}

type Details = ErrorDetails["context_too_long"] & ErrorDetails["ambiguous_path"];

function detail(value: unknown): ComponentChildren {
  if (typeof value === "number") return count(value);
  return typeof value === "string" ? value : <code>{JSON.stringify(value)}</code>;
}

/** The edges that lead to a node, as buttons that choose one. */
function Ways({ nodeId, candidates }: Pick<Details, "nodeId" | "candidates">) {
  return (
    <div class="grid gap-1.5">
      <h3>Come from</h3>
      {candidates.map(({ edgeId, nodeIds }) => {
        const from = nodeIds.at(-1) ?? "";
        return (
          <Button
            key={edgeId}
            class="quiet w-full whitespace-normal text-start"
            data-choice={edgeId}
            onClick={() => choose(nodeId, edgeId)}
          >
            <code>{nodeName(nodeWith(from), from)}</code>
            <span>{snippet(nodeWith(from), 90)}</span>
          </Button>
        );
      })}
    </div>
  );
}

/** The cost of each node, most expensive first, with a button to exclude it. */
function Costs({ nodes }: { nodes: NonNullable<Details["nodes"]> }) {
  const sorted = nodes.toSorted((a, b) => b.tokens - a.tokens);
  const most = sorted[0]?.tokens || 1;
  return (
    <Table
      caption={<caption>Cost of {plural(nodes.length, "node")}. Exclude some, or enlarge the window.</caption>}
      columns={[
        "Node",
        "Text",
        { number: "Tokens" },
        <th scope="col">
          <span class="sr-only">Action</span>
        </th>,
      ]}
    >
      {sorted.map(({ nodeId, tokens }) => (
        <tr key={nodeId} data-cost={nodeId}>
          <th scope="row">
            <NodeChip id={nodeId} />
          </th>
          <td class="w-3/5 max-w-0 truncate text-ink-2">{snippet(nodeWith(nodeId), 80)}</td>
          <td class="number min-w-24">
            <span
              class="absolute inset-y-1 start-0 max-w-[calc(100%-10px)] rounded-s bg-cut-soft"
              style={{ inlineSize: `${(tokens / most) * 100}%` }}
              aria-hidden="true"
            />
            <span class="cost-number relative">{count(tokens)}</span>
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

/** The library's diagnostics for the input. */
export function Diagnostics({ list }: { list: Diagnostic[] }) {
  return <Findings list={list} chip={(id) => (id && index.value?.node.has(id) ? <NodeChip id={id} /> : null)} />;
}
