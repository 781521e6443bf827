/** Blobs with refs of other stores: nothing gets past the host's `verifyArtifact`, and no failure of it is silent. */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { packages } from "./store-drivers.mjs";

const utf8 = (text) => new TextEncoder().encode(text);
const blob = utf8('{"role":"user","content":"x"}\n');
const refused = { verifyArtifact: () => false };
const confirmed = { verifyArtifact: async () => true };
const mismatch = { name: "CtxweaveError", code: "blob_mismatch" };

let ctxweave;
let stores;
before(async () => {
  ({ ctxweave, stores } = await packages());
});

/** A store with the head `main` at a commit whose ref is of another store. */
async function foreign(artifact_ref, key, bytes = blob, options = {}) {
  const store = stores.memoryStore();
  const commits = new stores.CommitStore(store, { delay: 0, ...options });
  const record = {
    ...{ id: "ctx-other", version: 1, commit_type: "delta", artifact_ref, format: "generic-v1" },
    created_at: "2026-03-02T10:00:00Z",
  };
  await store.put(key, bytes);
  await store.compareAndSet("records/ctx-other", undefined, JSON.stringify(record));
  await store.compareAndSet("heads/main", undefined, "1 ctx-other");
  return { store, commits, commit: "ctx-other" };
}

const codes = ({ diagnostics = [] }) => diagnostics.map(({ code }) => code);

test("a cached result never gets past `verifyArtifact`", async () => {
  const { store, commits, commit } = await foreign("sha256:abc", "blobs/abc", blob, { cache: true });
  assert.deepEqual(codes(await commits.materialize({ commit })), ["artifact_unverified"]);
  await assert.rejects(commits.materialize({ commit }, refused), mismatch);
  assert.deepEqual(codes(await commits.materialize({ commit }, confirmed)), []);
  assert.deepEqual(codes(await commits.materialize({ commit })), ["artifact_unverified"]);
  await assert.rejects(commits.materialize({ commit }, refused), mismatch);
  assert.deepEqual((await store.list("indexes/materialized/")).keys, [], "nothing is kept");
  // A blob that was swapped after a result was made with the caller's verification.
  const short = await foreign("art-9f8e7d6c5b4a", `blobs/9f8e7d6c5b4a${"0".repeat(52)}`, blob, { cache: true });
  assert.deepEqual(codes(await short.commits.materialize({ commit }, confirmed)), []);
  await assert.rejects(short.commits.materialize({ commit }), mismatch);
});

test("a snapshot reports what it stores unverified", async () => {
  const fields = { created_at: "2026-03-02T11:00:00Z" };
  const one = await foreign("sha256:abc", "blobs/abc");
  assert.deepEqual(codes(await one.commits.snapshot("main", fields)), ["artifact_unverified"]);
  const two = await foreign("sha256:abc", "blobs/abc");
  await assert.rejects(two.commits.snapshot("main", fields, refused), mismatch);
  assert.equal(await two.commits.head("main"), "ctx-other");
  const seen = [];
  const verifyArtifact = (ref, bytes) => seen.push([ref, bytes.length]) > 0;
  assert.equal((await two.commits.snapshot("main", fields, { verifyArtifact })).diagnostics, undefined);
  assert.deepEqual(seen, [["sha256:abc", blob.length]]);
  await assert.rejects(two.commits.snapshot("main", fields, { onProgress() {} }), { code: "invalid_input" });
});

test("a fork reports what it did not verify", async () => {
  const { commits, commit } = await foreign("sha256:abc", "blobs/abc");
  await assert.rejects(commits.fork(commit, "refused", refused), mismatch);
  assert.equal(await commits.head("refused"), undefined);
  assert.deepEqual(await commits.fork(commit, "verified", confirmed), {});
  assert.deepEqual(codes(await commits.fork(commit, "unverified")), ["artifact_unverified"]);
  assert.equal(await commits.head("unverified"), commit);
});

test("a ref that may be a damaged short one is not used unverified", async () => {
  const { commits, commit } = await foreign("art-0123", "blobs/art-0123");
  for (const run of [
    () => commits.materialize({ commit }),
    () => commits.blob(commit),
    () => commits.fork(commit, "fork"),
    () => commits.snapshot("main", { created_at: "2026-03-02T11:00:00Z" }),
  ]) {
    await assert.rejects(run(), mismatch);
  }
  assert.deepEqual((await commits.materialize({ commit }, confirmed)).bytes, blob);
  assert.deepEqual(await commits.fork(commit, "fork", confirmed), {});
});

test("a blob is returned only if it is verified", async () => {
  const { commits, commit } = await foreign("sha256:abc", "blobs/abc");
  await assert.rejects(commits.blob(commit), {
    ...mismatch,
    message: /pass `verifyArtifact` if the ref is of another/,
  });
  await assert.rejects(commits.blob(commit, refused), mismatch);
  assert.deepEqual(await commits.blob(commit, confirmed), blob);
  await assert.rejects(commits.blob(commit, { verifyArtifact: 1 }), { code: "invalid_input" });
  // A short ref is verified by its digits.
  const full = ctxweave.artifactRef(blob);
  const key = `blobs/${full.slice("blake3:".length)}`;
  const short = await foreign(ctxweave.shortRef(full), key);
  assert.deepEqual(await short.commits.blob(commit), blob);
  const damaged = await foreign(ctxweave.shortRef(full), key, utf8("damaged"));
  await assert.rejects(damaged.commits.blob(commit), mismatch);
  await assert.rejects(damaged.commits.fork(commit, "fork"), mismatch);
  assert.deepEqual(await damaged.commits.blob(commit, confirmed), utf8("damaged"));
  // Digits without a prefix are a full ref.
  const digits = await foreign(full.slice("blake3:".length), key);
  assert.deepEqual(await digits.commits.blob(commit), blob);
  const wrong = await foreign(full, key, utf8("damaged"));
  await assert.rejects(wrong.commits.blob(commit, confirmed), { ...mismatch, message: /damaged, or it is another/ });
});

test("summaries are made of verified blobs", async () => {
  const { commits, commit } = await foreign("sha256:abc", "blobs/abc");
  await commits.updateMetadata(commit, { summary: "x" });
  await commits.updateMetadata(commit, { summary: null });
  const summarize = (_, bytes) => `${bytes.length} bytes`;
  await assert.rejects(stores.summarizeMissing(commits, summarize), mismatch);
  assert.deepEqual(await stores.summarizeMissing(commits, summarize, confirmed), { summarized: [commit], skipped: [] });
});

test("failures of `verifyArtifact` have one message, wherever it is called", async () => {
  const thrown = new Error("no key");
  const failures = [
    [
      () => {
        throw thrown;
      },
      "`verifyArtifact` failed for `sha256:abc`: no key",
    ],
    [() => 1, "`options.verifyArtifact` must be a function that returns true or false"],
    [async () => true, "`options.verifyArtifact` must be a function that returns true or false"],
  ];
  for (const [verifyArtifact, message] of failures) {
    const { store, commits, commit } = await foreign("sha256:abc", "blobs/abc");
    const graph = new ctxweave.CommitGraph();
    graph.importJsonl(await store.get("records/ctx-other"));
    const blobs = new Map([["sha256:abc", blob]]);
    const expected = { name: "CtxweaveError", code: "invalid_input", message };
    assert.throws(() => graph.materialize({ commit }, blobs, { verifyArtifact }), expected);
    if (verifyArtifact.constructor !== Function) continue;
    for (const run of [
      () => ctxweave.materializeWith(graph, { commit }, () => blob, { verifyArtifact }),
      () => commits.materialize({ commit }, { verifyArtifact }),
      () => commits.blob(commit, { verifyArtifact }),
      () => commits.fork(commit, "fork", { verifyArtifact }),
      () => commits.snapshot("main", { created_at: 0 }, { verifyArtifact }),
    ]) {
      await assert.rejects(run(), (error) => {
        assert.deepEqual({ name: error.name, code: error.code, message: error.message }, expected);
        if (message.includes("failed")) assert.equal(error.cause, thrown);
        return true;
      });
    }
  }
});
