// Materializes a long chain, next to a hand-written version with hash-wasm's BLAKE3 and Buffer.concat, in Node.
//
//   node benches/commits/commits.mjs [--quick] [--commits 10000] [--megabytes 100] [--rounds 5]
//
// Each variant checks every blob against its ref, joins the blobs and computes the ref of the result; the results are
// compared. "BLAKE3 alone" is ctxweave's hashing of the same bytes. The variants alternate, and the best round of each
// counts, because other load on the machine only makes rounds slower. On Linux times are CPU time of the main thread.

import assert from "node:assert/strict";
import { artifactRef, CommitGraph, init } from "ctxweave";
import { createBLAKE3 } from "hash-wasm";
import { now } from "../clock.mjs";

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const quick = process.argv.includes("--quick");
const commits = option("commits", quick ? 100 : 10_000);
const bytes = option("megabytes", quick ? 1 : 100) * 1e6;
const rounds = option("rounds", quick ? 1 : 5);

await init();
const hasher = await createBLAKE3();
const refOf = (blob) => `blake3:${hasher.init().update(blob).digest("hex")}`;

/** A delta like an agent's: an answer with some code, and a tool's result. */
function delta(at, size) {
  const line = (type, text) =>
    `${JSON.stringify({ type, uuid: `u${at}${type}`, parentUuid: `u${at - 1}assistant`, isSidechain: false, message: { role: type, content: [{ type: "text", text }] } })}\n`;
  const text = `step ${at}: the function \`sum\` reads "items" and\n\tadds them up, one by one; `;
  const fill = text.repeat(Math.max(1, Math.round((size - 260) / 2 / (text.length + 6))));
  return Buffer.from(line("user", fill) + line("assistant", fill));
}

const graph = new CommitGraph({ limits: { materializedBytes: 2 ** 31 } });
const blobs = new Map();
const order = [];
let parent;
for (let at = 0; at < commits; at += 1) {
  const blob = delta(at, bytes / commits);
  const artifact_ref = artifactRef(blob);
  blobs.set(artifact_ref, blob);
  order.push(artifact_ref);
  const created_at = new Date(1_770_000_000_000 + at * 1000).toISOString();
  ({ id: parent } = graph.checkpoint({
    parent,
    artifact_ref,
    format: "claude-code-v1",
    created_at,
    message_count: 2,
    token_count: 100,
  }));
}
const total = order.reduce((sum, ref) => sum + blobs.get(ref).length, 0);

const plan = graph.planMaterialization({ commit: parent, inspect: false });

const contenders = {
  "ctxweave, materialize": () => {
    const { bytes, artifactRef } = graph.materialize(plan, blobs);
    return { bytes, artifactRef };
  },
  "ctxweave, plan and materialize": () => {
    const plan = graph.planMaterialization({ commit: parent, inspect: false });
    const { bytes, artifactRef } = graph.materialize(plan, blobs);
    return { bytes, artifactRef };
  },
  "ctxweave, the same with inspection of each record": () => {
    const plan = graph.planMaterialization({ commit: parent });
    const { bytes, artifactRef, diagnostics } = graph.materialize(plan, blobs);
    assert.deepEqual(diagnostics, []);
    return { bytes, artifactRef };
  },
  "hash-wasm and Buffer.concat": () => {
    const parts = order.map((ref) => {
      const blob = blobs.get(ref);
      if (refOf(blob) !== ref) throw new Error(`${ref} is damaged`);
      return blob;
    });
    const bytes = Buffer.concat(parts);
    return { bytes, artifactRef: refOf(bytes) };
  },
  "BLAKE3 alone, in ctxweave's wasm": (result) => {
    for (const ref of order) if (artifactRef(blobs.get(ref)) !== ref) throw new Error(`${ref} is damaged`);
    return { artifactRef: artifactRef(result) };
  },
};

const best = {};
let reference;
for (let round = 0; round < rounds; round += 1) {
  for (const [name, run] of Object.entries(contenders)) {
    globalThis.gc?.();
    const begun = now();
    const { bytes, artifactRef } = run(reference?.bytes);
    const milliseconds = now() - begun;
    best[name] = Math.min(best[name] ?? Infinity, milliseconds);
    reference ??= { bytes, artifactRef };
    assert.equal(artifactRef, reference.artifactRef, name);
    if (bytes) assert.ok(Buffer.compare(bytes, reference.bytes) === 0, name);
  }
}

const [ours, planned, , theirs, alone] = Object.values(best);
console.log(`${commits} commits, ${(total / 1e6).toFixed(1)} MB, best of ${rounds} rounds\n`);
console.log("| variant | ms | MB/s | to hash-wasm |");
console.log("| --- | ---: | ---: | ---: |");
for (const [name, ms] of Object.entries(best)) {
  console.log(`| ${name} | ${ms.toFixed(0)} | ${(total / ms / 1e3).toFixed(0)} | ${(theirs / ms).toFixed(2)} |`);
}
const share = (ms) => `${((100 * alone) / ms).toFixed(0)} %`;
console.log(`\nmaterialize reaches ${share(ours)} of BLAKE3 alone, and ${share(planned)} with the plan`);
