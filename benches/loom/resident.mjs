// A resident tree, next to careful hand-written JavaScript for the same: a Map of nodes, counts cached in another Map,
// the path walked back at every keystroke. The outputs are compared before anything is measured.
//
//   node --expose-gc benches/loom/resident.mjs [--quick] [--rounds 30] [--sizes 1000,10000,100000]
//
// Both sides count with ctxweave's estimator, so that they cut at the same position. The JavaScript supports text
// nodes, one predecessor each, alternating roles and a rolling window; ctxweave runs with all its features. With the
// packages of package.json installed (`npm ci` here), `trimMessages` of @langchain/core with the counter of
// gpt-tokenizer is measured as well.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { countTokens, init, LoomTree } from "ctxweave";
import { median, writer } from "./parts/prose.mjs";

const { values } = parseArgs({
  options: {
    // Only to check that it runs.
    quick: { type: "boolean" },
    rounds: { type: "string" },
    sizes: { type: "string" },
    // In a separate process, which prints the memory of `LoomTree` or `objects`.
    memory: { type: "string" },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 2 : 30));
const sizes = (values.sizes ?? (values.quick ? "1000" : "1000,10000,100000")).split(",").map(Number);
const WINDOW = 128_000;
const target = { provider: "openai", model: "some-model" };

/** A path of nodes with about 400 characters each. */
function tree(count) {
  const content = writer();
  const nodes = Array.from({ length: count }, (_, at) => node(at, content()));
  return { nodes, edges: nodes.slice(1).map((_, at) => edge(at + 1)) };
}

const node = (at, content) => ({ id: `node-${at}`, authorType: at % 2 === 0 ? "human" : "model", content });
const edge = (at) => ({ id: `edge-${at}`, sources: [{ nodeId: `node-${at - 1}` }], targetNodeId: `node-${at}` });

/** Careful hand-written code for a front end that assembles at every keystroke. */
class ByHand {
  constructor({ nodes, edges }) {
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    this.before = new Map(edges.map((edge) => [edge.targetNodeId, edge.sources[0].nodeId]));
    this.counts = new Map();
  }

  upsert({ nodes = [], edges = [] }) {
    for (const node of nodes) this.nodes.set(node.id, node);
    for (const edge of edges) this.before.set(edge.targetNodeId, edge.sources[0].nodeId);
  }

  cost(text) {
    let cost = this.counts.get(text);
    if (cost === undefined) this.counts.set(text, (cost = countTokens(text)));
    return cost;
  }

  /** A rolling window: walks back from the tip while it fits. */
  messages(tip, contextWindow) {
    let left = contextWindow - 1024 - 3;
    const messages = [];
    for (let id = tip; id !== undefined; id = this.before.get(id)) {
      const node = this.nodes.get(id);
      const content = node.content.trim();
      left -= this.cost(content) + 4;
      if (left < 0) break;
      messages.push({ role: node.authorType === "human" ? "user" : "assistant", content, nodeIds: [id] });
    }
    return messages.reverse();
  }

  /** The beginning, the marker and the end: the whole path has to be walked. */
  middle(tip, contextWindow) {
    const path = [];
    for (let id = tip; id !== undefined; id = this.before.get(id)) path.push(this.nodes.get(id));
    path.reverse();
    const costs = path.map((node) => this.cost(node.content.trim()) + 4);
    if (costs.reduce((sum, cost) => sum + cost, 0) + 3 <= contextWindow - 1024) return path.length;
    const half = (contextWindow - 1024 - 3 - 14) / 2;
    let head = 0;
    let used = 0;
    while (used + costs[head] <= half) used += costs[head++];
    let tail = path.length;
    while (used + costs[tail - 1] + 14 + 3 <= contextWindow - 1024) used += costs[--tail];
    return tail - head;
  }

  body(tip, contextWindow) {
    const messages = this.messages(tip, contextWindow).map(({ role, content }) => ({ role, content }));
    return new TextEncoder().encode(JSON.stringify({ model: target.model, messages }));
  }
}

/** Runs the variants alternately, so that other load on the machine disturbs all alike, after some warm-up rounds. */
function race(ways, counted = rounds, before = 3) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < counted + before; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const begun = performance.now();
      way(round);
      if (round >= before) times[name].push(performance.now() - begun);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, taken]) => [name, median(taken)]));
}

if (values.memory) {
  await measureMemory(values.memory);
  process.exit();
}

await init();
const preferences = { truncationStrategy: "rollingWindow" };

console.log("\n## All of 10,000 nodes to a request body\n");
{
  const data = tree(10_000);
  const mine = new LoomTree(data);
  const hand = new ByHand(data);
  const options = { tip: "node-9999", contextWindow: 10_000_000, preferences, target };
  const expected = hand.body("node-9999", 10_000_000);
  assert.deepEqual(Buffer.from(mine.requestBody(options)), Buffer.from(expected), "the same body");
  const change = (change) => {
    mine.upsert(change);
    hand.upsert(change);
  };
  let last = 9999;
  const byHand = { "by hand, JSON.stringify, encode": () => hand.body(options.tip, 10_000_000) };
  const base = Object.keys(byHand)[0];
  const body = () => mine.requestBody(options);
  // Each is measured in a separate race with the JavaScript.
  const races = [
    {
      "a node more, both": () => {
        last += 1;
        change({ nodes: [node(last, `typed ${last}`)], edges: [edge(last)] });
        options.tip = `node-${last}`;
      },
      "LoomTree.requestBody, a node more": body,
      ...byHand,
    },
    {
      "an edit in the middle, both": (round) => change({ nodes: [node(5000, `edited ${round}`)] }),
      "LoomTree.requestBody, after the edit": body,
      ...byHand,
    },
    {
      // Text written earlier for the same provider is copied; for another one everything is written again.
      "LoomTree.requestBody, another provider": () =>
        mine.requestBody({ ...options, target: { ...target, provider: "gemini" } }),
      "LoomTree.requestBody, all of it again": body,
      ...byHand,
    },
  ];
  for (const ways of races) show(race(ways), base);
  assert.deepEqual(
    Buffer.from(mine.requestBody(options)),
    Buffer.from(hand.body(options.tip, 10_000_000)),
    "the same body, after edits",
  );
  mine.free();
}

console.log(`\n## A keystroke: one more node, ${WINDOW.toLocaleString("en")} tokens of window\n`);
for (const size of sizes) {
  const data = tree(size);
  const mine = new LoomTree(data);
  const hand = new ByHand(data);
  mine.configure({ contextWindow: WINDOW, preferences, target });
  let last = size - 1;
  const append = (to) => {
    last += 1;
    const change = { nodes: [node(last, `typed ${last}`)], edges: [edge(last)] };
    for (const tree of to) tree.upsert(change);
    return `node-${last}`;
  };
  let tip = append([mine, hand]);
  // Only ctxweave returns the spans of nodes in messages.
  const said = mine
    .summarizeDialogue({ tip })
    .messages.map(({ role, content, nodeIds }) => ({ role, content, nodeIds }));
  assert.deepEqual(said, hand.messages(tip, WINDOW), "the same messages");
  assert.deepEqual(Buffer.from(mine.requestBody({ tip })), Buffer.from(hand.body(tip, WINDOW)), "the same body");
  console.log(`${size.toLocaleString("en")} nodes`);
  // Appending is part of it, for both, once per round. A front end needs one result per keystroke, so each has a
  // separate race, in which other data does not evict its own from the caches.
  const key = { "append, both": () => (tip = append([mine, hand])) };
  // A user has typed before: both sides are fully compiled.
  const typing = [4 * rounds, 100];
  const middle = { truncationStrategy: "truncateMiddle" };
  const times = {
    ...race(
      {
        ...key,
        "LoomTree, messages": () => mine.summarizeDialogue({ tip }),
        "by hand, messages": () => hand.messages(tip, WINDOW),
      },
      ...typing,
    ),
    ...race(
      {
        ...key,
        "LoomTree, body": () => mine.requestBody({ tip }),
        "by hand, body": () => hand.body(tip, WINDOW),
      },
      ...typing,
    ),
    ...race({
      ...key,
      "LoomTree, middle cut": () => mine.summarizeDialogue({ tip, preferences: middle }),
      "by hand, middle cut (choosing only)": () => hand.middle(tip, WINDOW),
    }),
    ...race({ ...key, "LoomTree, messages, full report": () => mine.assembleDialogue({ tip }) }),
  };
  show(times, "by hand, messages");
  mine.free();
}

console.log("\n## Memory of 20,000 nodes, in separate processes\n");
{
  const flags = ["--expose-gc", import.meta.filename, "--memory"];
  const measured = ["objects", "LoomTree"].map((what) =>
    execFileSync(process.execPath, [...flags, what], { encoding: "utf8" }),
  );
  console.table(Object.assign({}, ...measured.map((printed) => JSON.parse(printed))));
}

if (existsSync(join(import.meta.dirname, "node_modules/@langchain/core"))) {
  console.log("\n## trimMessages of @langchain/core with gpt-tokenizer's counter\n");
  const { trimMessages, HumanMessage, AIMessage } = await import("@langchain/core/messages");
  const { countTokens: gpt } = await import("gpt-tokenizer/encoding/o200k_base");
  const data = tree(10_000);
  const counts = new Map();
  const cost = (text) => counts.get(text) ?? (counts.set(text, gpt(text)), counts.get(text));
  const messages = data.nodes.map(({ authorType, content }) =>
    authorType === "human" ? new HumanMessage(content) : new AIMessage(content),
  );
  const options = {
    maxTokens: WINDOW - 1024,
    strategy: "last",
    tokenCounter: (list) => list.reduce((sum, message) => sum + cost(message.content) + 4, 3),
  };
  for (let round = 0; round < 3; round += 1) {
    const begun = performance.now();
    const kept = await trimMessages(messages, options);
    console.log(
      `${(performance.now() - begun).toFixed(1)} ms, ${kept.length} messages${round === 0 ? ", counting" : ""}`,
    );
  }
} else {
  console.log("\n@langchain/core and gpt-tokenizer are not installed here; run `npm ci` in benches/loom.");
}

function show(times, base) {
  const rows = Object.entries(times).map(([way, ms]) => ({
    way,
    "median ms": ms.toFixed(3),
    [`times the speed of \`${base}\``]: (times[base] / ms).toFixed(2),
  }));
  console.table(rows);
}

/** Prints the memory per node, as JavaScript objects and in the module's memory, which never shrinks. */
async function measureMemory(what) {
  const count = 20_000;
  const { nodes, edges } = tree(count);
  const each = (bytes) => ({ "bytes a node": Math.round(bytes / count) });
  if (what === "objects") {
    const text = JSON.stringify({ nodes, edges });
    const heap = () => {
      globalThis.gc();
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    const data = JSON.parse(text);
    console.log(JSON.stringify({ "plain objects": each(heap() - before) }));
    assert.equal(data.nodes.length, count);
    return;
  }
  const { Instance } = WebAssembly;
  let memory;
  WebAssembly.Instance = function (...args) {
    const instance = new Instance(...args);
    memory = instance.exports.memory;
    return instance;
  };
  await init();
  const before = memory.buffer.byteLength;
  const mine = new LoomTree({ nodes: [], edges: [] });
  // In small batches, so that temporary memory is reused for the next.
  for (let at = 0; at < count; at += 100) {
    mine.upsert({ nodes: nodes.slice(at, at + 100), edges: edges.slice(Math.max(at - 1, 0), at + 99) });
  }
  const grown = () => each(memory.buffer.byteLength - before);
  const tip = `node-${count - 1}`;
  const rows = { "LoomTree, built": grown() };
  const { limit } = mine.measurePath({ tip, contextWindow: WINDOW });
  rows["LoomTree, its path measured"] = grown();
  assert.equal(limit, WINDOW - 1024);
  mine.requestBody({ tip, contextWindow: WINDOW, target });
  rows["LoomTree, after a body of 128,000 tokens"] = grown();
  console.log(JSON.stringify(rows));
  mine.free();
}
