/** Actions on the current node, and their effects on the prompt. */

import { newNode } from "./loom.js";

/** A change that sets or clears a mark: `pruned` on a whole branch, `excluded` on one node. */
export function marking(loom, mark) {
  const { tree, view } = loom;
  const { tip } = view;
  const shown = shownVersion(loom);
  const ids = mark === "pruned" ? [tip, shown, ...tree.descendants(tip).map(({ id }) => id)] : [shown];
  const nodes = tree.node([...new Set(ids)]);
  const isSet = nodes.some(({ id, metadata }) => id === shown && metadata?.[mark]);
  const marked = nodes.map((node) => ({ ...node, metadata: { ...node.metadata, [mark]: !isSet } }));
  // After pruning, the parent of the branch becomes current.
  const parent = mark === "pruned" && !isSet ? tree.parents(tip)[0]?.id : undefined;
  return { change: { upsert: { nodes: marked } }, tip: parent ?? tip };
}

/** The version of the node on its path. */
export function shownVersion({ tree, view }) {
  return view.versions[tree.versions(view.tip)[0].id] ?? view.tip;
}

/** Its text, if it is a single text. */
export function textOf(loom) {
  const { content } = loom.tree.node(shownVersion(loom));
  return typeof content === "string" ? content : content.type === "text" ? content.text : undefined;
}

/** Another version of the node, with the same parent. */
export function rewrite(loom, content) {
  const { tree, view } = loom;
  const editedFrom = shownVersion(loom);
  const { authorType } = tree.node(editedFrom);
  const node = newNode(authorType, content, { editedFrom });
  const versions = { ...view.versions, [tree.versions(view.tip)[0].id]: node.id };
  loom.edit({ upsert: { nodes: [node] } }, { versions });
}

/** The version before or after the shown one. */
export function otherVersion({ tree, view, look }, step) {
  const versions = tree.versions(view.tip).map(({ id }) => id);
  const at = versions.indexOf(view.versions[versions[0]] ?? view.tip);
  const id = versions[(at + step + versions.length) % versions.length];
  look({ versions: { ...view.versions, [versions[0]]: id } });
}

/** A comparison of two prompts in words. */
export function inWords({ difference, after, added, removed, cutBefore, cutAfter, cutMoved, cachedTokens }) {
  const sign = difference.total > 0 ? "+" : difference.total < 0 ? "−" : "±";
  const words = [`${sign}${Math.abs(difference.total)} tokens, ${after.total} sent`];
  if (removed.length > 0) words.push(`${counted(removed.length, "node")} out`);
  if (added.length > 0) words.push(`${counted(added.length, "node")} in`);
  if (cutMoved) words.push(`the cut moves from ${place(cutBefore)} to ${place(cutAfter)}`);
  words.push(`${cachedTokens} stay cached`);
  return words.join("; ");
}

function place(cut) {
  if (cut === undefined) return "nothing";
  return `${counted(cut.nodes + cut.partialNodes, "node")} after the first ${cut.position}`;
}

export function counted(number, name) {
  return `${number} ${name}${number === 1 ? "" : "s"}`;
}
