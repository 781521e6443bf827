import type { ContentBlock, LoomEdge, LoomNode, LoomTreeData, NodeContent } from "ctxweave/loom";

/** A line between two nodes as drawn: one for each source of each edge. */
export interface TreeLink {
  edge: LoomEdge;
  from: string;
  to: string;
  kind: "continuation" | "annotation" | "context" | "instruction" | "version";
}

/**
 * A tree with precomputed answers for drawing. Lenient: damaged trees are drawn as far as possible, and the library
 * reports the errors.
 */
export interface TreeIndex {
  tree: LoomTreeData;
  node: Map<string, LoomNode>;
  /** Incoming continuation edges of a node. */
  incoming: Map<string, LoomEdge[]>;
  /** The node under which each node is drawn; roots have none. */
  parent: Map<string, string>;
  children: Map<string, string[]>;
  roots: string[];
  links: TreeLink[];
  /** Nodes without continuations or references, those with the longest path first. */
  tips: string[];
  depth: Map<string, number>;
  /** Nodes drawn under their parent because of an annotation edge. */
  annotated: Set<string>;
  /** Targets of annotation edges. */
  annotations: Set<string>;
  /** Names for `authorAgentId`, in order of first appearance. */
  agents: string[];
}

export function indexTree(tree: LoomTreeData): TreeIndex {
  const node = new Map(tree.nodes.map((n) => [n.id, n]));
  const incoming = new Map<string, LoomEdge[]>();
  const parent = new Map<string, string>();
  const annotated = new Set<string>();
  const annotations = new Set<string>();
  const links: TreeLink[] = [];
  const continued = new Set<string>();
  const above = new Set<string>();

  for (const edge of tree.edges) {
    const annotation = edge.edgeType === "annotation";
    const predecessors = primariesOf(edge);
    if (annotation) annotations.add(edge.targetNodeId);
    else push(incoming, edge.targetNodeId, edge);
    const main = latestVersion(predecessors, node);
    for (const source of edge.sources) {
      const isMain = source.nodeId === main;
      const role = source.role ?? "primary";
      links.push({
        edge,
        from: source.nodeId,
        to: edge.targetNodeId,
        kind: annotation ? "annotation" : isMain ? "continuation" : role === "primary" ? "version" : role,
      });
    }
    if (!annotation) for (const source of edge.sources) continued.add(source.nodeId);
    if (main === undefined || main === edge.targetNodeId || !node.has(main) || !node.has(edge.targetNodeId)) continue;
    // The first edge determines the parent, and a continuation takes precedence over an annotation.
    if (parent.has(edge.targetNodeId)) continue;
    // A cycle is possible only if the target already has a node below it.
    if (above.has(edge.targetNodeId) && leadsTo(parent, main, edge.targetNodeId)) continue;
    parent.set(edge.targetNodeId, main);
    if (annotation) annotated.add(edge.targetNodeId);
    above.add(main);
  }

  const children = new Map<string, string[]>();
  const roots: string[] = [];
  for (const { id } of tree.nodes) {
    const above = parent.get(id);
    if (above === undefined) roots.push(id);
    else push(children, above, id);
  }
  const depth = depths(roots, children);
  const tips = tree.nodes
    .map((n) => n.id)
    .filter((id) => !continued.has(id) && !annotations.has(id))
    .sort((a, b) => (depth.get(b) ?? 0) - (depth.get(a) ?? 0));

  const agents = [...new Set(tree.nodes.flatMap((n) => (n.authorType === "model" && n.authorAgentId) || []))];
  return { tree, node, incoming, parent, children, roots, links, tips, depth, annotated, annotations, agents };
}

/** The same index with changed nodes; their set and structure are unchanged. */
export function withNodes(index: TreeIndex, tree: LoomTreeData): TreeIndex {
  return tree === index.tree ? index : { ...index, tree, node: new Map(tree.nodes.map((n) => [n.id, n])) };
}

/** The possible predecessors of an edge: its primary sources, otherwise the first source. */
function primariesOf(edge: LoomEdge): string[] {
  if (edge.sources.length < 2) return edge.sources.map(({ nodeId }) => nodeId);
  const primaries = edge.sources.filter((s) => (s.role ?? "primary") === "primary").map((s) => s.nodeId);
  const first = edge.sources[0];
  return primaries.length > 0 || first === undefined ? primaries : [first.nodeId];
}

/** The version that is not the original of another one. */
function latestVersion(ids: string[], node: Map<string, LoomNode>): string | undefined {
  if (ids.length < 2) return ids[0];
  const edited = new Set(ids.map((id) => node.get(id)?.editedFrom));
  return ids.findLast((id) => !edited.has(id)) ?? ids.at(-1);
}

/** Whether the ancestors of `from` include `to`: an edge that closes a cycle is drawn, but is not a parent. */
function leadsTo(parent: Map<string, string>, from: string, to: string): boolean {
  for (let at: string | undefined = from; at !== undefined; at = parent.get(at)) if (at === to) return true;
  return false;
}

function depths(roots: string[], children: Map<string, string[]>): Map<string, number> {
  const depth = new Map<string, number>(roots.map((id) => [id, 0]));
  const queue = [...roots];
  for (let i = 0; i < queue.length; i++) {
    const id = queue[i] as string;
    for (const child of children.get(id) ?? []) {
      depth.set(child, (depth.get(id) ?? 0) + 1);
      queue.push(child);
    }
  }
  return depth;
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
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

/** Versions of one node that are primary sources of one edge on the path. */
interface VersionSet {
  target: string;
  versions: string[];
}

/** The edges on a path with several versions. */
export function versionSets(index: TreeIndex, path: string[]): VersionSet[] {
  const on = new Set(path);
  const sets: VersionSet[] = [];
  for (const target of path) {
    for (const edge of index.incoming.get(target) ?? []) {
      const versions = primariesOf(edge);
      if (versions.length > 1 && versions.some((id) => on.has(id))) sets.push({ target, versions });
    }
  }
  return sets;
}

/** One edge into a node. */
interface Candidate {
  edgeId: string;
  from: string;
}

/** The nodes of a path with several incoming continuation edges. */
export function choicePoints(index: TreeIndex, path: string[]): { nodeId: string; candidates: Candidate[] }[] {
  return path.flatMap((nodeId) => {
    const edges = index.incoming.get(nodeId) ?? [];
    if (edges.length < 2) return [];
    return [{ nodeId, candidates: edges.map((e) => ({ edgeId: e.id, from: primariesOf(e).at(-1) ?? "" })) }];
  });
}

/** The path to a node as drawn, for assemblies that failed. */
export function drawnPath(index: TreeIndex, tip: string): string[] {
  const path: string[] = [];
  for (let at: string | undefined = tip; at !== undefined; at = index.parent.get(at)) path.push(at);
  return path.reverse();
}
