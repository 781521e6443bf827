/** Keys: their length, what they reach, and how failures show them. */

import assert from "node:assert/strict";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";
import { folder } from "../packaging/packed.mjs";
import { packages } from "./store-drivers.mjs";

const encoder = new TextEncoder();
const blob = encoder.encode('{"role":"user","content":"x"}\n');

let stores;
let dir;
before(async () => {
  ({ stores } = await packages());
  dir = folder("store-keys");
});

/** A store that records its keys. */
function recording(store, keys = new Set()) {
  const see =
    (name) =>
    (key, ...rest) => (keys.add(key), store[name](key, ...rest));
  const seen = Object.fromEntries(["get", "put", "compareAndSet", "list"].map((name) => [name, see(name)]));
  return [{ ...store, ...seen, ancestors: undefined }, keys];
}

const files = (name) => stores.fileSystemStore(fs, join(dir, name));

async function ids(generator) {
  const found = [];
  for await (const { id } of generator) found.push(id);
  return found;
}

/** Values that a file name or a key makes longer. */
const VALUES = [
  ...["A", "é", "日", ".", "~", "*", "/", "=", "a"].flatMap((sign) =>
    [1, 41, 42, 43, 62, 63, 100, 126, 127, 128, 129, 255, 300, 5000].map((length) => sign.repeat(length)),
  ),
  `${"A".repeat(62)}~${"0".repeat(64)}`,
  "",
];

test("lists of long values work on files as in memory", async () => {
  for (const open of [() => stores.memoryStore(), () => files("values")]) {
    const commits = new stores.CommitStore(open(), { delay: 0, retries: 0 });
    const expected = new Map();
    for (const [at, value] of VALUES.entries()) {
      const fields = { format: "generic-v1", created_at: at * 1000 };
      const named = { principal: value, ticket_id: value, thread_id: value, session_id: value };
      const { id } = await commits.checkpoint("main", { ...fields, ...(value && named) }, blob);
      if (value) expected.set(value, [...(expected.get(value) ?? []), id]);
    }
    for (const [value, found] of expected) {
      const what = `${value.slice(0, 3)} ${value.length}`;
      assert.deepEqual(await ids(commits.byTicket(value)), found, what);
      assert.deepEqual(await ids(commits.byThread(value)), found, what);
      assert.deepEqual(await ids(commits.bySession(value)), found, what);
      assert.equal((await commits.resolve(value, 1e12)).id, found.at(-1), what);
    }
    // Nothing is garbage: all entries are found again from their keys.
    for await (const keys of commits.garbage())
      assert.deepEqual(
        keys.filter((key) => !/^collections/.test(key)),
        [],
      );
  }
});

test("keys are as long as documented", async () => {
  const [store, keys] = recording(stores.memoryStore());
  const commits = new stores.CommitStore(store, { delay: 0, retries: 0 });
  const long = "日".repeat(2000);
  const fields = { format: "generic-v1", created_at: 0, principal: long, ticket_id: long, session_id: long };
  const { id } = await commits.checkpoint("日".repeat(256), { ...fields, thread_id: long }, blob);
  await ids(commits.children(id));
  const lengths = [...keys].map((key) => [key.split("/")[0], key.length]);
  assert.equal(Math.max(...lengths.map(([, length]) => length)), 2310);
  for (const [kind, length] of lengths) assert.ok(kind === "heads" || length < 300, `${kind}: ${length}`);
  for (const key of keys) assert.match(key, /^[\x21-\x7e]+$/);
  // A longer id is refused before the store is asked.
  keys.clear();
  for (const act of [(id) => commits.show(id), (id) => commits.fork(id, "x"), (id) => commits.blob(id)]) {
    await assert.rejects(act("日".repeat(257)), { code: "invalid_input", details: { path: "id" } });
  }
  assert.ok([...keys].every((key) => key.length <= 2500));
});

test("a failure shows a short key, and a permanent one is not retried", async () => {
  const head = "A".repeat(256);
  let calls = 0;
  const counted = new Proxy(fs, {
    get:
      (target, name) =>
      (...args) => {
        calls += 1;
        return target[name](...args);
      },
  });
  const begin = Date.now();
  const onFiles = new stores.CommitStore(stores.fileSystemStore(counted, join(dir, "long")), { delay: 60_000 });
  await assert.rejects(onFiles.head(head), (error) => {
    assert.equal(error.code, "store_failed");
    assert.deepEqual(error.details, { operation: "get", key: `heads/${head}` });
    const shown = `heads/${"A".repeat(94)}…`;
    const reason = "a part of the key needs 768 characters, over the limit of 255 of a file name";
    assert.equal(error.message, `\`get\` of \`${shown}\` failed: ${reason}`);
    return true;
  });
  assert.equal(calls, 0);
  const fetch = () => assert.fail("nothing is sent");
  const s3 = stores.s3Store({ endpoint: "https://s3.example.org", bucket: "contexts", fetch });
  const onS3 = new stores.CommitStore(s3, { delay: 60_000 });
  await assert.rejects(onS3.head("日".repeat(256)), {
    code: "store_failed",
    message: /failed: the key has 2310 bytes/,
  });
  assert.ok(Date.now() - begin < 10_000, "no retries");
  // Other failures are retried.
  let tries = 0;
  const failing = { ...stores.memoryStore(), get: () => Promise.reject(new Error(`no network ${(tries += 1)}`)) };
  const retrying = new stores.CommitStore(failing, { delay: 0, retries: 2 });
  await assert.rejects(retrying.head("main"), { message: /failed after retries, the last error is: no network 3$/ });
});

test("a foreign ref reaches nothing but its own blob", async () => {
  const refs = [
    "sha256:../../../x",
    "sha256:..",
    "sha256:.",
    "a:b/c",
    "x:../heads/main",
    "art-../x",
    "art-0123",
    "s:%2F",
  ];
  for (const open of [() => stores.memoryStore(), (name) => files(name)]) {
    for (const [at, ref] of refs.entries()) {
      const [store, keys] = recording(open(`refs-${at}`));
      const commits = new stores.CommitStore(store, { delay: 0, retries: 0 });
      const record = {
        ...{ id: "ctx-other", version: 1, commit_type: "delta", artifact_ref: ref, format: "generic-v1" },
        created_at: "2026-03-02T10:00:00Z",
      };
      await store.compareAndSet("records/ctx-other", undefined, JSON.stringify(record));
      // The key that is asked for is the one to put the blob under.
      keys.clear();
      await assert.rejects(commits.materialize({ commit: "ctx-other" }), { code: "blob_missing" });
      const [key, ...others] = [...keys].filter((key) => !key.startsWith("records/"));
      assert.deepEqual(others, [], ref);
      assert.match(key, /^blobs\/[^/]+$/, ref);
      assert.ok(![".", ".."].includes(key.slice("blobs/".length)), ref);
      await store.put(key, blob);
      const { bytes } = await commits.materialize({ commit: "ctx-other" }, { verifyArtifact: () => true });
      assert.deepEqual(bytes, blob, ref);
      assert.deepEqual((await store.list("blobs/")).keys, [key], ref);
      await store.compareAndSet("heads/main", undefined, "1 ctx-other");
      for await (const found of commits.garbage()) assert.ok(!found.includes(key), ref);
    }
  }
  const names = (await fs.readdir(dir)).filter((name) => !name.startsWith("refs-"));
  assert.deepEqual(
    names.filter((name) => name !== "values" && name !== "long"),
    [],
    "nothing outside the folders",
  );
});

test("a wrong result of a store is named", async () => {
  const failing = (more) => new stores.CommitStore({ ...stores.memoryStore(), ...more }, { retries: 0 });
  for (const [more, act, reason] of [
    [{ get: async () => "text" }, (commits) => commits.head("main"), "`store.get()` must be bytes"],
    [{ list: async () => undefined }, (commits) => ids(commits.byTicket("t")), "`store.list()` must be an object"],
    [{ list: async () => ({}) }, (commits) => ids(commits.byTicket("t")), "`store.list().keys` must be a list"],
  ]) {
    await assert.rejects(act(failing(more)), ({ code, message }) => {
      assert.equal(code, "store_failed");
      assert.ok(message.endsWith(`failed: ${reason}`), message);
      return true;
    });
  }
});
