/** `s3Store` with services that behave differently: without versions, without conditions, behind a cache. */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { packages } from "./store-drivers.mjs";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

let stores;
before(async () => {
  ({ stores } = await packages());
});

/** A bucket in memory that answers like S3, and the requests to it. */
function bucket({ etagOf = (count) => `"v${count}"`, isConditional = true } = {}) {
  const objects = new Map();
  const requests = [];
  let count = 0;
  const reply = (status, etag, text = "") => ({
    status,
    headers: { get: (name) => (name.toLowerCase() === "etag" ? etag : null) },
    arrayBuffer: async () => encoder.encode(text).buffer,
  });
  const fetch = async (address, init) => {
    requests.push({ address, ...init });
    const { pathname } = new URL(address);
    const there = objects.get(pathname);
    if (init.method === "GET") {
      if (there) return reply(200, etagOf(there.count), there.text);
      return reply(404, null, "<Error><Code>NoSuchKey</Code></Error>");
    }
    const refused =
      (init.headers["if-none-match"] === "*" && there) ||
      (init.headers["if-match"] && init.headers["if-match"] !== etagOf(there?.count));
    if (isConditional && refused) return reply(412, null, "<Error><Code>PreconditionFailed</Code></Error>");
    count += 1;
    objects.set(pathname, { text: decoder.decode(init.body), count });
    return reply(200, etagOf(count));
  };
  const open = () => stores.s3Store({ endpoint: "https://s3.example.org", bucket: "contexts", fetch });
  return { open, requests };
}

/** The trial of docs/stores.md. */
async function trial(open) {
  const [one, other] = [open(), open()];
  const results = [await one.compareAndSet("heads/try", undefined, "1")];
  results.push(await one.compareAndSet("heads/try", undefined, "1"));
  await one.get("heads/try");
  results.push(await other.compareAndSet("heads/try", "1", "2"));
  results.push(await one.compareAndSet("heads/try", "1", "3"));
  return results;
}

test("the documented trial tells services without conditional writes", async () => {
  assert.deepEqual(await trial(bucket().open), [true, false, true, false]);
  assert.deepEqual(await trial(bucket({ isConditional: false }).open), [true, true, true, true]);
});

test("a service without versions loses no write", async () => {
  for (const etag of [null, "", '""', 'W/""', " "]) {
    const { open, requests } = bucket({ etagOf: () => etag });
    const store = open();
    assert.equal(await store.compareAndSet("heads/a", undefined, "1"), true);
    const writes = () => requests.filter(({ method }) => method === "PUT").length;
    const before = writes();
    for (const read of [false, true]) {
      if (read) assert.equal(decoder.decode(await store.get("heads/a")), "1");
      await assert.rejects(store.compareAndSet("heads/a", "1", "2"), /the service sends no `ETag`/);
    }
    assert.equal(writes(), before, "no write without a condition");
    const commits = new stores.CommitStore(store, { delay: 0, retries: 3 });
    const fields = { format: "generic-v1", created_at: 0 };
    const failed = commits.checkpoint("main", fields, encoder.encode("{}\n"));
    await assert.rejects(failed, {
      code: "store_failed",
      message: /failed: the service sends no `ETag`; in a browser/,
    });
  }
  const { open } = bucket({ etagOf: (count) => `W/"v${count}"` });
  const store = open();
  await store.compareAndSet("heads/a", undefined, "1");
  // The weak form of a version is compared as the strong one, which this service does not know.
  assert.equal(await store.compareAndSet("heads/a", "1", "2"), false);
});

test("reads are not answered by a cache", async () => {
  const { open, requests } = bucket();
  const store = open();
  await store.compareAndSet("heads/a", undefined, "1");
  await store.compareAndSet("heads/a", "1", "2");
  await store.get("heads/a");
  await store.list("heads/").catch(() => undefined);
  for (const { method, headers } of requests) {
    assert.equal(headers["cache-control"], method === "GET" ? "no-cache" : undefined, method);
  }
  // It is not signed: proxies change it.
  const signed = stores.s3Store({
    endpoint: "https://s3.example.org",
    bucket: "contexts",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    fetch: async (address, { headers }) => {
      assert.equal(headers["cache-control"], "no-cache");
      assert.doesNotMatch(headers.authorization, /cache-control/);
      return { status: 404, headers: new Headers(), arrayBuffer: async () => encoder.encode("<Code>NoSuchKey</Code>") };
    },
  });
  assert.equal(await signed.get("heads/a"), undefined);
});

test("an endpoint with a user or a password is refused", () => {
  for (const user of ["u@", ":pw@", "u:pw@"]) {
    const options = { endpoint: `https://${user}s3.example.org`, bucket: "contexts", fetch: () => undefined };
    assert.throws(() => stores.s3Store(options), { code: "invalid_input", details: { path: "options.endpoint" } });
  }
});
