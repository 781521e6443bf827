// From the bytes of a request to the bytes of a provider's body, next to a few lines of JavaScript that do the same for
// this tree: decode, JSON.parse, assemble, JSON.stringify, encode. The outputs are compared.
//
//   node benches/loom/bodies.mjs [--quick] [--nodes 10000] [--rounds 15]
//
// The JavaScript assumes four characters per token, or counts with ctxweave's estimator in one call. ctxweave counts
// with its estimator only if needed: not if the window holds more tokens than the texts can have.

import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { countTokensBatch, init, requestBody, requestBodyWithReport } from "ctxweave";
import { median, writer } from "./parts/prose.mjs";

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, nodes: { type: "string", default: "10000" }, rounds: { type: "string" } },
});
const nodes = Number(values.nodes);
const rounds = Number(values.rounds ?? (values.quick ? 1 : 15));

/** A path of nodes with about 400 characters each. */
function tree(count) {
  const content = writer();
  return {
    id: "bench",
    systemContext: "You are a careful reader.",
    nodes: Array.from({ length: count }, (_, at) => ({
      id: `node-${at}`,
      localId: String(at),
      content: content(),
      authorType: at % 2 === 0 ? "human" : "model",
      createdAt: new Date(1.7e12 + at * 1000).toISOString(),
      metadata: { bookmarked: false },
    })),
    edges: Array.from({ length: count - 1 }, (_, at) => ({
      id: `edge-${at}`,
      sources: [{ nodeId: `node-${at}`, role: "primary" }],
      targetNodeId: `node-${at + 1}`,
      edgeType: "continuation",
    })),
  };
}

/** Minimal hand-written code for this tree: no sources, versions, tools or media. */
function byHand(bytes, count = (texts) => texts.map((text) => Math.ceil(text.length / 4))) {
  const { tree, tip, contextWindow, target } = JSON.parse(new TextDecoder().decode(bytes));
  const byId = new Map(tree.nodes.map((node) => [node.id, node]));
  const before = new Map(
    tree.edges
      .filter((edge) => edge.edgeType !== "annotation")
      .map((edge) => [edge.targetNodeId, edge.sources[0].nodeId]),
  );
  const path = [];
  for (let id = tip; id !== undefined; id = before.get(id)) path.push(byId.get(id));
  path.reverse();
  const system = tree.systemContext?.trim();
  const messages = [];
  for (const node of path) {
    if (node.metadata?.excluded || node.metadata?.pruned) continue;
    const content = node.content.trim();
    if (!content) continue;
    const role = node.authorType === "human" ? "user" : "assistant";
    const last = messages.at(-1);
    if (last?.role === role) last.content += `\n\n${content}`;
    else messages.push({ role, content });
  }
  const costs = count([system ?? "", ...messages.map(({ content }) => content)]);
  const tokens = costs.reduce((sum, cost) => sum + cost, 3 + 4 * messages.length);
  if (tokens > contextWindow - 1024) throw new Error("too long");
  const { model, maxTokens } = target;
  const body = { model, max_tokens: maxTokens, ...(system && { system }), messages };
  return new TextEncoder().encode(JSON.stringify(body));
}

function time(action) {
  const start = performance.now();
  action();
  return performance.now() - start;
}

await init();
const data = tree(nodes);
const rows = [];
for (const contextWindow of [10_000_000, 2_000_000]) {
  const request = {
    tree: data,
    tip: `node-${nodes - 1}`,
    contextWindow,
    target: { provider: "anthropic", model: "some-model", maxTokens: 1024 },
  };
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  assert.deepEqual(Buffer.from(requestBody(bytes)), Buffer.from(byHand(bytes)), "the same body");
  const ways = {
    "by hand": () => byHand(bytes),
    "by hand, counting with countTokensBatch": () => byHand(bytes, countTokensBatch),
    "requestBody(bytes)": () => requestBody(bytes),
    "requestBodyWithReport(bytes)": () => requestBodyWithReport(bytes),
    "requestBody(object)": () => requestBody(request),
  };
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  // Alternating, so that other load on the machine disturbs all variants alike.
  for (let round = 0; round < rounds + 3; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const took = time(way);
      if (round >= 3) times[name].push(took);
    }
  }
  const hand = median(times["by hand"]);
  for (const [name, taken] of Object.entries(times)) {
    rows.push({
      window: contextWindow.toLocaleString("en"),
      way: name,
      "median ms": median(taken).toFixed(1),
      "times the speed by hand": (hand / median(taken)).toFixed(2),
    });
  }
}
console.log(`${nodes} nodes of about 400 characters; bytes of JSON in, bytes of an Anthropic body out`);
console.table(rows);
