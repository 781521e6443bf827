/** Registered formats, refs of other stores, and continued loads of context files. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../packaging/packed.mjs";

let ctxweave;

before(async () => {
  ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/node.js")));
  await ctxweave.init();
});

const utf8 = (text) => new TextEncoder().encode(text);
const text = (bytes) => new TextDecoder().decode(bytes);

/** A graph with a chain of blobs in a format, and the blobs by ref. */
function chain(format, texts) {
  const graph = new ctxweave.CommitGraph();
  const blobs = new Map();
  let tip;
  for (const [at, content] of texts.entries()) {
    const artifact_ref = ctxweave.artifactRef(utf8(content));
    blobs.set(artifact_ref, utf8(content));
    tip = graph.checkpoint({ parent: tip, artifact_ref, format, created_at: 1_772_445_600_000 + at * 1000 }).id;
  }
  return { graph, blobs, tip };
}

test("a registered format applies to every later call", async () => {
  const lines = ['{"role":"user","content":"one"}', '{"role":"assistant","content":"two"}'];
  const { graph, blobs, tip } = chain("acme-v2", lines);
  assert.equal(graph.materialize({ commit: tip }, blobs).format, "markdown");
  const format = { name: "acme-v2", join: "lines", like: "generic-v1" };
  ctxweave.registerFormat(format);
  ctxweave.registerFormat({ ...format });
  assert.throws(() => ctxweave.registerFormat({ ...format, join: "bytes" }), {
    code: "invalid_input",
    message: new RegExp(`\`${format.name}\`, which is registered with another definition`),
  });
  assert.throws(() => ctxweave.registerFormat({ name: "codex-v1", join: "bytes" }), { code: "invalid_input" });
  assert.throws(() => ctxweave.registerFormat({ name: "x", join: "zip" }), { code: "unknown_value" });
  assert.throws(() => ctxweave.registerFormat({ ...format, extra: 1 }), { code: "invalid_input" });

  const plan = graph.planMaterialization({ commit: tip });
  const done = graph.materialize(plan, blobs);
  assert.deepEqual([done.tier, done.messageCount, text(done.bytes)], ["native", 2, lines.join("\n")]);
  const fetched = await ctxweave.materializeWith(graph, { commit: tip }, (ref) => blobs.get(ref));
  assert.deepEqual(fetched, done);
  const walk = new ctxweave.ChainWalk({ commit: tip });
  walk.push(text(graph.exportJsonl()));
  assert.deepEqual(walk.planMaterialization({ commit: tip }), plan);

  const parts = lines.map((line) => ({ format: "acme-v2", bytes: line }));
  const translated = ctxweave.translateTranscript({ parts, format: "codex-v1", crossFamily: "transcode" });
  assert.equal(translated.tier, "transcode");
  const file = lines.join("\n");
  assert.equal(ctxweave.transcriptToMessages("acme-v2", file).messages.length, 2);
  assert.equal(ctxweave.transcriptToLoomTree("acme-v2", file).tree.nodes.length, 2);
  const imported = ctxweave.importTranscript("acme-v2", file, { createdAt: 0 });
  assert.equal(imported.records[0].format, "acme-v2");
  const session = new ctxweave.Checkpointer({ format: "acme-v2" });
  session.push({ role: "user", content: "one" });
  assert.equal(session.checkpoint("explicit", { created_at: 0 })[0].record.message_count, 1);
});

test("a registered format applies to every entry point", async () => {
  const load = (path) => import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist", path)));
  const [commits, stores] = await Promise.all([load("commits/node.js"), load("stores.js")]);
  await stores.init();
  const utf8Lines = ['{"role":"user","content":"one"}', '{"role":"assistant","content":"two"}'].map(utf8);
  const store = new stores.CommitStore(stores.memoryStore());
  for (const [at, bytes] of utf8Lines.entries()) {
    await store.checkpoint("main", { format: "acme-v3", created_at: at * 1000 }, bytes);
  }
  const commit = await store.head("main");
  const materialized = async () => {
    const { format, tier } = await store.materialize({ commit });
    return [format, tier];
  };
  assert.deepEqual(await materialized(), ["markdown", "raw"]);
  ctxweave.registerFormat({ name: "acme-v3", join: "lines", like: "generic-v1" });
  assert.deepEqual(await materialized(), ["acme-v3", "native"]);
  for (const { registerFormat } of [commits, stores]) {
    registerFormat({ name: "acme-v3", join: "lines", like: "generic-v1" });
    assert.throws(() => registerFormat({ name: "acme-v3", join: "bytes" }), {
      code: "invalid_input",
      message: "`format.name` is `acme-v3`, which is registered with another definition; use another name",
    });
  }
  stores.registerFormat({ name: "acme-v4", join: "lines", like: "generic-v1" });
  const file = '{"role":"user","content":"one"}\n';
  assert.equal(ctxweave.transcriptToMessages("acme-v4", file).messages.length, 1);
});

test("the host verifies refs of other stores", async () => {
  const record = (artifact_ref) =>
    JSON.stringify({
      id: "ctx-other",
      version: 1,
      commit_type: "delta",
      artifact_ref,
      format: "generic-v1",
      created_at: "2026-03-02T10:00:00Z",
    });
  const blob = utf8('{"role":"user","content":"x"}\n');
  for (const ref of ["sha256:00", "art-9f8e7d6c5b4a"]) {
    const graph = new ctxweave.CommitGraph();
    assert.deepEqual(graph.importJsonl(record(ref)).added, ["ctx-other"]);
    const blobs = new Map([[ref, blob]]);
    const seen = [];
    const verifyArtifact = (given, bytes) => seen.push([given, text(bytes)]) > 0;
    const request = { commit: "ctx-other" };
    assert.deepEqual(graph.materialize(request, blobs, { verifyArtifact }).diagnostics, []);
    const later = async (...args) => verifyArtifact(...args);
    const fetched = await ctxweave.materializeWith(graph, request, () => blob, { verifyArtifact: later });
    assert.deepEqual(fetched.diagnostics, []);
    const { stream, done } = ctxweave.materializeStream(graph, request, () => blob, { verifyArtifact: later });
    assert.equal(await new Response(stream).text(), text(blob));
    assert.deepEqual((await done).diagnostics, []);
    assert.deepEqual(seen, Array(3).fill([ref, text(blob)]));
    const refused = { verifyArtifact: () => false };
    assert.throws(() => graph.materialize(request, blobs, refused), { code: "blob_mismatch" });
    await assert.rejects(
      ctxweave.materializeWith(graph, request, () => blob, refused),
      { code: "blob_mismatch" },
    );
    assert.throws(() => graph.materialize(request, blobs, { verifyArtifact: () => 1 }), { code: "invalid_input" });
    assert.throws(() => graph.materialize(request, blobs, { verifyArtifact: 1 }), { code: "invalid_input" });
    if (ref.startsWith("art-")) assert.throws(() => graph.materialize(request, blobs), { code: "blob_mismatch" });
    else assert.equal(graph.materialize(request, blobs).diagnostics[0].code, "artifact_unverified");
  }
});

test("a load of context files continues", () => {
  const files = [
    { path: "/r/CLAUDE.md", content: "root" },
    { path: "/r/api/CLAUDE.md", content: "api" },
  ];
  const { result } = ctxweave.planAgentFiles({ agent: "claude-code", cwd: "/r", files });
  const next = ctxweave.newSince(result, { path: "/r/api/a.ts" }, { files });
  assert.deepEqual([next.status, next.append.map(({ text }) => text), next.stale], ["ready", ["api"], []]);
  assert.deepEqual(ctxweave.newSince(result, next.result), { append: next.append, stale: [] });
  let plan = ctxweave.newSince(result, [{ path: "/r/api/a.ts" }]);
  while (plan.status === "read") {
    const found = plan.paths.map((path) => files.find((file) => file.path === path) ?? { path, missing: true });
    plan = ctxweave.finishAgentFiles(plan.state, found);
  }
  assert.deepEqual(
    plan.append.map(({ path }) => path),
    ["/r/api/CLAUDE.md"],
  );
});
