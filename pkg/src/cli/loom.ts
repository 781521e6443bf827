/** Shared by the commands for Loom trees: the request, and the report of its assembly. */

import type {
  AssemblyReport,
  AssemblyRequest,
  LoomEdge,
  Media,
  NodeReport,
  Preferences,
  TruncationStrategy,
} from "../types/loom.js";
import { openArea, tokenizerOf, tokenizerOption } from "./areas.js";
import { choice, count, text, type Values } from "./arguments.js";
import { misused, unusable } from "./failure.js";
import { shorteningSettings, type shorteningOptions } from "./fit-options.js";
import { given, isObject, jsonFile, textOption } from "./input.js";
import type { Line } from "./output.js";
import { counted, diagnosticLines, grouped, shortened, tokensLine } from "./report.js";

export const loomOptions = {
  tip: text("ID", "last node of the path; optional if the tree has one leaf"),
  model: text("NAME", "use the limit and tokenizer of this model"),
  "context-window": count("N", "context window; the limit is this less `--token-buffer`"),
  "token-buffer": count("N", "tokens reserved for the answer; default: the model's output limit, else 1024"),
  tokenizer: tokenizerOption,
  strategy: choice(
    ["truncateMiddle", "rollingWindow", "stopAtLimit"],
    "truncation strategy (default `truncateMiddle`)",
  ),
  "keep-last": count("N", "messages or nodes protected at the end; default 4"),
  marker: text("TEXT", "text at the gap, with `{count}` for the number removed; empty: no text"),
  media: text("FILE", "media of the tree, as JSON: `{ ref: { data | url } }`"),
};

type LoomValues = Values<typeof loomOptions> & Partial<Values<typeof shorteningOptions>>;

/** Builds the request of a file and the options, and opens the area. */
export async function loomRequest(json: unknown, name: string, values: LoomValues) {
  if (!isObject(json)) throw unusable(`${name} is not a Loom tree; expected an object with \`nodes\` and \`edges\``);
  const request = ("tree" in json ? json : { tree: json }) as unknown as AssemblyRequest;
  const { area: loom, tokenizer } = await openArea("loom", values.tokenizer ?? (await modelTokenizer(values.model)));
  const info = values.model === undefined ? undefined : loom.modelInfo(values.model);
  if (values.model !== undefined && !info) {
    throw misused(`unknown model \`${values.model}\`; give its window with \`--context-window N\``);
  }
  const contextWindow = values["context-window"] ?? info?.contextWindow ?? request.contextWindow;
  if (contextWindow === undefined) throw misused("missing limit; give `--model NAME` or `--context-window N`");
  const preferences: Preferences = {
    ...request.preferences,
    ...given({
      tokenBuffer: values["token-buffer"] ?? (values["context-window"] === undefined ? info?.outputLimit : undefined),
      truncationStrategy: values.strategy as TruncationStrategy | undefined,
      minimumRecentNodes: values["keep-last"],
      truncationMarker: values.marker,
    }),
    ...shorteningSettings(values),
  };
  const end =
    values.tip ?? request.tip ?? (request.path ? undefined : onlyLeaf(request.tree.edges, request.tree.nodes));
  const media = jsonFile(values.media) as Record<string, Media> | undefined;
  return {
    loom,
    request: {
      ...request,
      contextWindow,
      preferences,
      ...given({ tip: end, media, tokenizer }),
    } satisfies AssemblyRequest,
  };
}

const modelTokenizer = async (model: string | undefined) => (model === undefined ? undefined : tokenizerOf(model));

/** The only leaf of a tree. */
function onlyLeaf(edges: readonly LoomEdge[] | undefined, nodes: readonly { id: string }[] | undefined): string {
  if (!Array.isArray(nodes) || !Array.isArray(edges))
    throw unusable("the input is not a Loom tree; expected `nodes` and `edges`");
  const parents = new Set<string>();
  const annotations = new Set<string>();
  for (const { sources, targetNodeId, edgeType } of edges as LoomEdge[]) {
    if (edgeType === "annotation") annotations.add(targetNodeId);
    else for (const { nodeId } of sources) parents.add(nodeId);
  }
  const leaves = nodes.filter(({ id }) => !parents.has(id) && !annotations.has(id));
  const [leaf] = leaves;
  if (leaf && leaves.length === 1) return leaf.id;
  const some = leaves.slice(0, 8).map(({ id }) => `\`${id}\``);
  throw misused(`the tree has ${counted(leaves.length, "leaf")}; select one with \`--tip ID\`: ${some.join(", ")}`);
}

/** The lines of an assembly's report. */
export function assemblyLines({ strategy, limit, tokens, cut, nodes, notOnPath, diagnostics }: AssemblyReport): Line[] {
  const of = (fate: string) => nodes.filter((node) => node.fate === fate).length;
  const fates = ["kept", "changed", "cut", "excluded", "skipped"].filter((fate) => of(fate) > 0);
  return [
    [
      ["strong", counted(nodes.length, "node")],
      `: ${fates.map((fate) => `${grouped(of(fate))} ${fate}`).join(", ")}; ${grouped(notOnPath)} not on the path`,
    ],
    tokensLine(tokens, limit),
    ...(cut
      ? shortened([[["warning", "cut"], ` (${strategy}): ${grouped(cut.tokens)} tokens: ${cut.nodeIds.join(" ")}`]])
      : []),
    ...shortened(nodes.filter(({ fate }) => fate === "changed").map(changedLine)),
    ...diagnosticLines(diagnostics),
  ];
}

function changedLine({ nodeId, fate, reason, tokens, tokensAfter }: NodeReport): Line {
  const after = tokensAfter === undefined ? "" : `, ${grouped(tokensAfter)} after`;
  return [`  node ${nodeId} `, ["faint", fate], ` (${reason ?? ""}), ${grouped(tokens)} tokens before${after}`];
}

/** The agent of a request, with the system prompt of the option. */
export function agentOf(request: AssemblyRequest, system: string | undefined): Pick<AssemblyRequest, "agent"> {
  const systemPrompt = textOption(system);
  return systemPrompt === undefined ? {} : { agent: { ...request.agent, configuration: { systemPrompt } } };
}
