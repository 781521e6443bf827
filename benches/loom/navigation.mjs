// Navigation queries of a front end to a resident tree, next to hand-written JavaScript over maps: the same queries on
// trees of 1,000, 10,000 and 100,000 nodes, in one run. The results are compared before anything is measured.
//
//   node --expose-gc benches/loom/navigation.mjs [--quick] [--rounds 30] [--sizes 1000,10000,100000]
//
// The tree is a path with a small subtree at each tenth node: a fifth of the nodes are leaves. The hand-written code
// keeps maps of nodes, of children and of parents, and caches the count of each text (by ctxweave's estimator).

import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { countTokens, init, LoomTree } from "ctxweave";
import { median, writer } from "./parts/prose.mjs";

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, rounds: { type: "string" }, sizes: { type: "string" } },
});
const rounds = Number(values.rounds ?? (values.quick ? 2 : 30));
const sizes = (values.sizes ?? (values.quick ? "1000" : "1000,10000,100000")).split(",").map(Number);

const node = (at, content) => ({ id: `node-${at}`, authorType: at % 2 === 0 ? "human" : "model", content });
const edge = (from, to) => ({ id: `edge-${to}`, sources: [{ nodeId: `node-${from}` }], targetNodeId: `node-${to}` });

/** Of each ten nodes eight continue the path, and two are a side branch. */
function tree(count) {
  const content = writer();
  const nodes = Array.from({ length: count }, (_, at) => node(at, content()));
  const edges = [];
  let last = 0;
  for (let at = 1; at < count; at += 1) {
    edges.push(edge(last, at));
    if (at % 10 < 8) last = at;
  }
  return { data: { nodes, edges }, tip: `node-${last}` };
}

class ByHand {
  constructor({ nodes, edges }) {
    this.nodes = new Map();
    this.parents = new Map();
    this.children = new Map();
    this.counts = new Map();
    this.upsert({ nodes, edges });
  }

  upsert({ nodes = [], edges = [] }) {
    for (const node of nodes) {
      this.nodes.set(node.id, node);
      if (!this.children.has(node.id)) this.children.set(node.id, []);
    }
    for (const edge of edges) {
      this.parents.set(edge.targetNodeId, edge.sources[0].nodeId);
      this.children.get(edge.sources[0].nodeId).push({ id: edge.targetNodeId, edge: edge.id });
    }
  }

  append(id, text) {
    const node = this.nodes.get(id);
    this.nodes.set(id, { ...node, content: node.content + text });
  }

  cost(text) {
    let cost = this.counts.get(text);
    if (cost === undefined) this.counts.set(text, (cost = countTokens(text)));
    return cost;
  }

  tokens(id) {
    return this.cost(this.nodes.get(id).content.trim());
  }

  leaves() {
    const leaves = [];
    for (const [id, children] of this.children) if (children.length === 0) leaves.push(id);
    return leaves;
  }

  depth(id) {
    let depth = -1;
    for (let at = id; at !== undefined; at = this.parents.get(at)) depth += 1;
    return depth;
  }

  descendants(id) {
    const found = [];
    const open = [...this.children.get(id)].reverse();
    while (open.length > 0) {
      const next = open.pop();
      found.push(next);
      const children = this.children.get(next.id);
      for (let at = children.length - 1; at >= 0; at -= 1) open.push(children[at]);
    }
    return found;
  }

  commonAncestor(a, b) {
    const above = new Set();
    for (let at = a; at !== undefined; at = this.parents.get(at)) above.add(at);
    for (let at = b; at !== undefined; at = this.parents.get(at)) if (above.has(at)) return at;
    return undefined;
  }

  nextSibling(id) {
    const siblings = this.children.get(this.parents.get(id));
    return siblings[siblings.findIndex((sibling) => sibling.id === id) + 1];
  }

  /** Parents come before their children. */
  pathTokens() {
    const sums = new Map();
    for (const id of this.nodes.keys()) sums.set(id, (sums.get(this.parents.get(id)) ?? 0) + this.tokens(id));
    return Float64Array.from(sums.values());
  }

  subtreeTokens() {
    const ids = [...this.nodes.keys()];
    const sums = new Map(ids.map((id) => [id, this.tokens(id)]));
    for (const id of ids.reverse()) {
      const parent = this.parents.get(id);
      if (parent !== undefined) sums.set(parent, sums.get(parent) + sums.get(id));
    }
    return Float64Array.from(sums.values());
  }
}

await init();
const table = new Map();
for (const size of sizes) {
  const { data, tip } = tree(size);
  const mine = new LoomTree(data);
  const hand = new ByHand(data);
  mine.configure({ contextWindow: 128_000 });
  const ids = data.nodes.map(({ id }) => id);
  const middle = `node-${Math.floor(size / 20) * 10}`;
  const some = ids.filter((_, at) => at % 10 === 0).slice(0, 1000);
  const late = `node-${size - (size % 10) - 20 + 1}`;
  const leaves = ids.filter((_, at) => at % 10 >= 8);
  const tips = leaves.slice(0, 1000);
  let round = 0;
  const edited = (way) => () => {
    // Appends a word at the end of the path, for both.
    round += 1;
    mine.append(tip, " word");
    hand.append(tip, " word");
    return way;
  };
  const questions = {
    "children, one": [() => mine.children(middle), () => hand.children.get(middle)],
    "children, 1,000 in one call": [() => mine.children(some), () => some.map((id) => hand.children.get(id))],
    nextSibling: [() => mine.nextSibling(middle)?.id, () => hand.nextSibling(middle)?.id],
    "depth, one at the end": [() => mine.depth(late), () => hand.depth(late)],
    "commonAncestor of neighbours": [() => mine.commonAncestor(tip, late), () => hand.commonAncestor(tip, late)],
    leaves: [() => mine.leaves().map(({ id }) => id), () => hand.leaves()],
    "descendants of the root": [() => mine.descendants("node-0"), () => hand.descendants("node-0")],
    "tokensOf, all": [() => mine.tokensOf(), () => Uint32Array.from(ids, (id) => hand.tokens(id))],
    "pathTokens, all": [() => mine.pathTokens(), () => hand.pathTokens()],
    "subtreeTokens, all": [() => mine.subtreeTokens(), () => hand.subtreeTokens()],
  };
  for (const [question, [ours, theirs]] of Object.entries(questions)) {
    assert.deepEqual(ours(), theirs(), question);
  }
  const ways = Object.entries(questions).flatMap(([question, [ours, theirs]]) => [
    [question, ours, theirs, undefined],
    ...(question.endsWith("all") ? [[`${question}, after an edit`, ours, theirs, edited()]] : []),
  ]);
  ways.push(["measurePaths of 1,000 leaves", () => mine.measurePaths(tips), undefined, undefined]);
  for (const [question, ours, theirs, before] of ways) {
    const times = { ours: [], theirs: [] };
    for (let at = 0; at < rounds + 2; at += 1) {
      for (const [name, way] of Object.entries({ ours, theirs })) {
        if (way === undefined) continue;
        before?.();
        const repeat =
          question.includes("one") || question.startsWith("next") || question.startsWith("common") ? 20 : 1;
        const begun = performance.now();
        for (let again = 0; again < repeat; again += 1) way();
        if (at >= 2) times[name].push((performance.now() - begun) / repeat);
      }
    }
    const row = table.get(question) ?? {};
    row[`${size} LoomTree`] = Number(median(times.ours).toFixed(4));
    if (theirs) row[`${size} by hand`] = Number(median(times.theirs).toFixed(4));
    table.set(question, row);
  }
  mine.free();
}
console.log("\n## Queries on a tree, median milliseconds\n");
console.table(Object.fromEntries(table));

console.log(
  "\n## Preview of an edit: `preview`, next to applying it, undoing it and summarizing after each, median milliseconds\n",
);
{
  const rows = {};
  for (const size of sizes) {
    const { data } = tree(size);
    const path = data.nodes.filter((_, at) => at % 10 < 8).map(({ id }) => id);
    const mine = new LoomTree(data);
    mine.configure({ contextWindow: 128_000, tip: path.at(-1) });
    const places = { "at the tip": path.at(-1), "600 nodes before": path.at(-600) ?? path[1], "at the root": path[0] };
    for (const [where, id] of Object.entries(places)) {
      const before = mine.node(id);
      const change = { upsert: { nodes: [{ ...before, content: `${before.content} More of it.` }] } };
      const doAndUndo = () => {
        const { inverse } = mine.apply(change);
        const during = mine.summarizeDialogue().report.tokens;
        mine.apply(inverse);
        mine.summarizeDialogue();
        return during;
      };
      mine.summarizeDialogue();
      assert.deepEqual(mine.preview(change).after, doAndUndo(), where);
      const times = { preview: [], "do and undo": [] };
      for (const [name, way] of Object.entries({ preview: () => mine.preview(change), "do and undo": doAndUndo })) {
        for (let at = 0; at < rounds + 2; at += 1) {
          const begun = performance.now();
          way();
          if (at >= 2) times[name].push(performance.now() - begun);
        }
      }
      rows[`${size}, ${where}`] = Object.fromEntries(
        Object.entries(times).map(([name, taken]) => [name, Number(median(taken).toFixed(3))]),
      );
    }
    mine.free();
  }
  console.table(rows);
}

console.log("\n## A reply of 8,000 deltas, in milliseconds\n");
{
  const deltas = Array.from({ length: values.quick ? 100 : 8000 }, (_, at) => ` word${at % 97}`);
  const rows = {};
  const stream = (name, add, ask) => {
    const mine = new LoomTree({
      nodes: [node(0, "Tell me all of it."), node(1, "")],
      edges: [edge(0, 1)],
    });
    mine.configure({ contextWindow: 128_000, target: { provider: "openai", model: "some-model" } });
    const begun = performance.now();
    let text = "";
    for (const delta of deltas) {
      text += delta;
      add(mine, delta, text);
      ask(mine);
    }
    rows[name] = Math.round(performance.now() - begun);
    const { messages } = mine.summarizeDialogue({ tip: "node-1" });
    assert.equal(messages[1].content, text.trim());
    mine.free();
  };
  const upsert = (tree, _, text) => tree.upsert({ nodes: [node(1, text)] });
  const append = (tree, delta) => tree.append("node-1", delta);
  const asks = {
    alone: () => {},
    "and measurePath": (tree) => tree.measurePath({ tip: "node-1" }),
    "and summarizeDialogue": (tree) => tree.summarizeDialogue({ tip: "node-1" }),
    "and requestBody": (tree) => tree.requestBody({ tip: "node-1" }),
  };
  for (const [name, ask] of Object.entries(asks)) {
    stream(`upsert ${name}`, upsert, ask);
    stream(`append ${name}`, append, ask);
  }
  console.table(rows);
}
