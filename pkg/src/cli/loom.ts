/** What the commands for Loom trees have in common: the request, and the report of its assembly. */

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
import { choice, number, text, type Values } from "./arguments.js";
import { misused, unusable } from "./failure.js";
import { shorteningSettings, type shorteningOptions } from "./fit-options.js";
import { given, isObject, jsonFile, textOption } from "./input.js";
import type { Line } from "./output.js";
import { counted, diagnosticLines, grouped, shortened, tokensLine } from "./report.js";

export const loomOptions = {
  tip: text("ID", "the node that the path ends at; not needed where the tree has one end"),
  model: text("NAME", "the context window is that of this model, and its tokenizer counts"),
  "context-window": number("N", "what the model takes in, its answer included"),
  "token-buffer": number("N", "tokens kept free for the answer; default 1024, of a model its output limit"),
  tokenizer: tokenizerOption,
  strategy: choice(["truncateMiddle", "rollingWindow", "stopAtLimit"], "what is cut; default the middle"),
  "keep-last": number("N", "nodes at the end that `truncateMiddle` protects; default 4"),
  marker: text("TEXT", "what stands where nodes were cut; `{count}` becomes their number"),
  media: text("FILE", "what the images of the tree stand for: JSON, `{ ref: { data | url } }`"),
};

type LoomValues = Values<typeof loomOptions> & Partial<Values<typeof shorteningOptions>>;

/** The request that a file and the options make, and the area that takes it. */
export async function loomRequest(json: unknown, name: string, values: LoomValues) {
  if (!isObject(json)) throw unusable(`${name} is no Loom tree: an object with \`nodes\` and \`edges\` is expected`);
  const request = ("tree" in json ? json : { tree: json }) as unknown as AssemblyRequest;
  const { area: loom, tokenizer } = await openArea("loom", values.tokenizer ?? (await modelTokenizer(values.model)));
  const info = values.model === undefined ? undefined : loom.modelInfo(values.model);
  if (values.model !== undefined && !info) {
    throw misused(`the model \`${values.model}\` is not known: say its window with \`--context-window N\``);
  }
  const contextWindow = values["context-window"] ?? info?.contextWindow ?? request.contextWindow;
  if (contextWindow === undefined) throw misused("say the limit: `--model NAME` or `--context-window N`");
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
  const end = values.tip ?? request.tip ?? (request.path ? undefined : onlyEnd(request.tree.edges, request.tree.nodes));
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

/** The node that none follows, where there is one such. */
function onlyEnd(edges: readonly LoomEdge[] | undefined, nodes: readonly { id: string }[] | undefined): string {
  if (!Array.isArray(nodes) || !Array.isArray(edges)) throw unusable("a Loom tree has `nodes` and `edges`");
  const followed = new Set<string>();
  const aside = new Set<string>();
  for (const { sources, targetNodeId, edgeType } of edges as LoomEdge[]) {
    if (edgeType === "annotation") aside.add(targetNodeId);
    else for (const { nodeId } of sources) followed.add(nodeId);
  }
  const ends = nodes.filter(({ id }) => !followed.has(id) && !aside.has(id));
  const [end] = ends;
  if (end && ends.length === 1) return end.id;
  const some = ends.slice(0, 8).map(({ id }) => `\`${id}\``);
  throw misused(`the tree has ${counted(ends.length, "end")}: say which with \`--tip ID\`, as ${some.join(", ")}`);
}

/** What became of a path. */
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
