import type { ContentBlock, LoomEdge, LoomNode, LoomTreeData, NodeContent } from "ctxweave/loom";

/** A line from one node to another, as it is drawn: one for each source of each edge. */
export interface TreeLink {
  edge: LoomEdge;
  from: string;
  to: string;
  kind: "continuation" | "annotation" | "context" | "instruction" | "version";
}

/**
 * A tree with the questions answered that a drawing asks again and again. It is lenient: what is damaged is drawn as
 * far as it goes, and the library says what is wrong with it.
 */
export interface TreeIndex {
  tree: LoomTreeData;
  node: Map<string, LoomNode>;
  /** What arrives at a node by continuation. */
  incoming: Map<string, LoomEdge[]>;
  /** The one node under which each node is drawn; a root has none. */
  parent: Map<string, string>;
  children: Map<string, string[]>;
  roots: string[];
  links: TreeLink[];
  /** Nodes that nothing goes on from and nothing refers to, those with the longest way back first. */
  tips: string[];
  depth: Map<string, number>;
  /** Nodes reached by an annotation edge. */
  annotations: Set<string>;
  /** Names for `authorAgentId`, in order of first appearance. */
  agents: string[];
}

export function indexTree(tree: LoomTreeData): TreeIndex {
  const node = new Map(tree.nodes.map((n) => [n.id, n]));
  const incoming = new Map<string, LoomEdge[]>();
  const parent = new Map<string, string>();
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
    // The first edge decides where a node is drawn, and a continuation wins over an annotation.
    if (parent.has(edge.targetNodeId)) continue;
    // Only from below a node that has something below it can a way lead back to it.
    if (above.has(edge.targetNodeId) && leadsTo(parent, main, edge.targetNodeId)) continue;
    parent.set(edge.targetNodeId, main);
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
  return { tree, node, incoming, parent, children, roots, links, tips, depth, annotations, agents };
}

/** The same tree with nodes that say other things; which there are, and how they hang together, is as it was. */
export function withNodes(index: TreeIndex, tree: LoomTreeData): TreeIndex {
  return tree === index.tree ? index : { ...index, tree, node: new Map(tree.nodes.map((n) => [n.id, n])) };
}

/** The sources of an edge that can be the predecessor: the primary ones, else the first. */
function primariesOf(edge: LoomEdge): string[] {
  const primaries = edge.sources.filter((s) => (s.role ?? "primary") === "primary").map((s) => s.nodeId);
  const first = edge.sources[0];
  return primaries.length > 0 || first === undefined ? primaries : [first.nodeId];
}

/** The version that no other of them is an edit of. */
function latestVersion(ids: string[], node: Map<string, LoomNode>): string | undefined {
  const edited = new Set(ids.map((id) => node.get(id)?.editedFrom));
  return ids.findLast((id) => !edited.has(id)) ?? ids.at(-1);
}

/** Whether walking up from `from` comes to `to`: an edge that closes a circle is drawn, but not as a parent. */
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

/** The blocks of a content, mixed ones opened. */
export function blocksOf(content: NodeContent): Exclude<ContentBlock, { type: "mixed" }>[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (content.type === "mixed") return content.blocks.flatMap(blocksOf);
  return [content];
}

/** What a node says, in one line, for lists, labels and tooltips. */
export function snippet(node: LoomNode | undefined, length = 90): string {
  if (!node) return "";
  const text = blocksOf(node.content).map(blockLine).join(" ").replace(/\s+/gu, " ").trim();
  const characters = Array.from(text.slice(0, length * 2));
  return characters.length > length ? `${characters.slice(0, length).join("").trimEnd()}…` : text || "(blank)";
}

/** What a node says, whole. */
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

/** The name by which people call a node. */
export function nodeName(node: LoomNode | undefined, id: string): string {
  return node?.localId ?? id;
}

/** All versions of one node that stand side by side as primary sources of one edge on the path. */
interface VersionSet {
  target: string;
  versions: string[];
}

/** The places on a path where there is a version to pick. */
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

/** One way to arrive at a node. */
interface Candidate {
  edgeId: string;
  from: string;
}

/** The nodes of a path at which several continuation edges arrive. */
export function choicePoints(index: TreeIndex, path: string[]): { nodeId: string; candidates: Candidate[] }[] {
  return path.flatMap((nodeId) => {
    const edges = index.incoming.get(nodeId) ?? [];
    if (edges.length < 2) return [];
    return [{ nodeId, candidates: edges.map((e) => ({ edgeId: e.id, from: primariesOf(e).at(-1) ?? "" })) }];
  });
}

/** The way back from a node as it is drawn: the shape of a path where the library gave none. */
export function drawnPath(index: TreeIndex, tip: string): string[] {
  const path: string[] = [];
  for (let at: string | undefined = tip; at !== undefined; at = index.parent.get(at)) path.push(at);
  return path.reverse();
}
