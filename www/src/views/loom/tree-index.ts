import type { ContentBlock, LoomNode, LoomTreeData, NodeContent, TreeRelative } from "ctxweave/loom";
import { queryTree } from "./resident.js";

/** The kind of a line between two nodes. */
export type LinkKind = "continuation" | "annotation" | "context" | "instruction" | "version";

/** A line between two nodes of which neither is drawn under the other. */
export interface TreeLink {
  from: string;
  to: string;
  kind: LinkKind;
}

/** A tree with what its drawing and lists need of every node. */
export interface TreeIndex {
  tree: LoomTreeData;
  node: Map<string, LoomNode>;
  /** The parents of each node, and the nodes that it annotates. */
  relatives: Map<string, TreeRelative[]>;
  /** The node under which each node is drawn; roots have none. */
  parent: Map<string, string>;
  /** The nodes drawn under a node; those under `undefined` are the roots. */
  children: Map<string | undefined, string[]>;
  links: TreeLink[];
  /** The leaves, without annotations and the sources of other nodes. */
  leaves: string[];
  annotations: Set<string>;
  /** Names for `authorAgentId`, in order of first appearance. */
  agents: string[];
}

/** Indexes the tree with the relations from the library, also if an edge has no source or closes a cycle. */
export function indexTree(tree: LoomTreeData): TreeIndex {
  const ids = tree.nodes.map(({ id }) => id);
  const node = nodesById(tree);
  const { parents, leaves } = queryTree(tree, (held) => ({ parents: held.parents(ids), leaves: held.leaves() }));
  const relatives = new Map(ids.map((id, at) => [id, parents[at] ?? []]));
  const parent = new Map<string, string>();
  const above = new Set<string>();
  for (const [id, found] of relatives) {
    const main = found.length > 1 ? latestVersion(found, node) : found[0]?.id;
    // An edge that closes a cycle is drawn, but its source is not the parent. It leads to a node with children.
    if (main === undefined || main === id || (above.has(id) && ancestry(parent, main).includes(id))) continue;
    parent.set(id, main);
    above.add(main);
  }
  const links = linksOf(tree, parent);
  const sources = new Set(links.filter(({ kind }) => kind !== "annotation").map(({ from }) => from));
  return {
    tree,
    node,
    relatives,
    parent,
    children: Map.groupBy(ids, (id) => parent.get(id)),
    links,
    leaves: leaves.filter(({ id, annotation }) => !annotation && !sources.has(id)).map(({ id }) => id),
    annotations: new Set(ids.filter((id) => relatives.get(id)?.[0]?.annotation)),
    agents: [...new Set(tree.nodes.flatMap((n) => (n.authorType === "model" && n.authorAgentId) || []))],
  };
}

/** The lines of all edges, except those from a parent. */
function linksOf({ edges }: LoomTreeData, parent: ReadonlyMap<string, string>): TreeLink[] {
  const links: TreeLink[] = [];
  for (const { edgeType, sources, targetNodeId: to } of edges) {
    const main = parent.get(to);
    for (const { nodeId: from, role = "primary" } of sources) {
      if (from === main) continue;
      const hasVersion = role === "primary" && sources.some(({ nodeId }) => nodeId === main);
      const continued = role === "primary" ? "continuation" : role;
      links.push({ from, to, kind: edgeType === "annotation" ? edgeType : hasVersion ? "version" : continued });
    }
  }
  return links;
}

export function nodesById({ nodes }: LoomTreeData): Map<string, LoomNode> {
  return new Map(nodes.map((node) => [node.id, node]));
}

/** Of the sources of the first edge, the version that is not the original of another one. */
function latestVersion(relatives: TreeRelative[], node: Map<string, LoomNode>): string | undefined {
  const versions = relatives.filter(({ edge }) => edge === relatives[0]?.edge);
  const edited = new Set(versions.map(({ id }) => node.get(id)?.editedFrom));
  return (versions.findLast(({ id }) => !edited.has(id)) ?? versions.at(-1))?.id;
}

/** A node and its ancestors as drawn. */
export function ancestry(parent: ReadonlyMap<string, string>, id: string): string[] {
  const found: string[] = [];
  for (let at: string | undefined = id; at !== undefined; at = parent.get(at)) found.push(at);
  return found;
}

/** The blocks of a content, with mixed ones flattened. */
export function blocksOf(content: NodeContent): Exclude<ContentBlock, { type: "mixed" }>[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (content.type === "mixed") return content.blocks.flatMap(blocksOf);
  return [content];
}

/** The text of a node in one line, for lists, labels and tooltips. */
export function snippet(node: LoomNode | undefined, length = 90): string {
  if (!node) return "";
  const text = blocksOf(node.content).map(blockLine).join(" ").replace(/\s+/gu, " ").trim();
  const characters = Array.from(text.slice(0, length * 2));
  return characters.length > length ? `${characters.slice(0, length).join("").trimEnd()}…` : text || "(blank)";
}

/** The whole text of a node. */
export function fullText(node: LoomNode): string {
  return blocksOf(node.content).map(blockLine).join("\n\n").trim();
}

function blockLine(block: Exclude<ContentBlock, { type: "mixed" }>): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return `[image: ${block.altText ?? block.ref}]`;
    case "audio":
      return `[audio: ${block.ref}]`;
    case "toolCall":
      return `${block.name}(${typeof block.arguments === "string" ? block.arguments : JSON.stringify(block.arguments)})`;
    case "toolResult":
      return `${block.isError ? "error: " : ""}${blocksOf(block.content).map(blockLine).join(" ")}`;
    case "reasoning":
      return block.text;
    case "vendor":
      return `[block of ${block.vendor}]`;
  }
}

/** The displayed name of a node. */
export function nodeName(node: LoomNode | undefined, id: string): string {
  return node?.localId ?? id;
}

/** For each edge on a path that leads from several versions of one node: those versions. */
export function versionSets({ relatives }: TreeIndex, path: string[]): [string, ...string[]][] {
  const on = new Set(path);
  const ofEdges = path.flatMap((id) => {
    const parents = relatives.get(id)?.filter(({ annotation }) => !annotation) ?? [];
    return [...Map.groupBy(parents, ({ edge }) => edge).values()];
  });
  return ofEdges
    .map((versions) => versions.map(({ id }) => id) as [string, ...string[]])
    .filter((versions) => versions.length > 1 && versions.some((id) => on.has(id)));
}

/** Those of the nodes with several incoming continuation edges, and the node that each edge leads from. */
export function choicePoints(
  { tree }: TreeIndex,
  nodeIds: string[],
): { nodeId: string; candidates: { edgeId: string; from: string }[] }[] {
  const edges = tree.edges.filter(
    ({ edgeType, targetNodeId }) => nodeIds.includes(targetNodeId) && edgeType !== "annotation",
  );
  return [...Map.groupBy(edges, ({ targetNodeId }) => targetNodeId)]
    .filter(([, several]) => several.length > 1)
    .map(([nodeId, several]) => ({
      nodeId,
      candidates: several.map(({ id, sources }) => {
        const from = sources.findLast(({ role = "primary" }) => role === "primary") ?? sources[0];
        return { edgeId: id, from: from?.nodeId ?? "" };
      }),
    }));
}
