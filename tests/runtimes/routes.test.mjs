/** Pages of the example service: their size, and that none loses a record while summaries are set. */

import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder, root } from "../packaging/packed.mjs";

const COMMITS = 250;
const dir = folder("routes");
const load = (path) => import(pathToFileURL(path).href);
const from = (name) => load(createRequire(join(dir, "x.js")).resolve(name));

let ask;
let ids;
before(async () => {
  for (const file of ["routes.mjs", "access.mjs"]) {
    copyFileSync(join(root, "examples/cloudflare-worker", file), join(dir, file));
  }
  const { CommitStore, init, memoryStore } = await from("ctxweave/stores");
  const { answer } = await load(join(dir, "routes.mjs"));
  await init();
  const commits = new CommitStore(memoryStore(), { delay: 1 });
  ids = [];
  for (let at = 0; at < COMMITS; at += 1) {
    // Several at one time: then by id.
    const fields = { format: "generic-v1", created_at: 1000 * Math.floor(at / 3), ticket_id: "T" };
    const { id } = await commits.checkpoint("main", fields, new TextEncoder().encode(`${at}\n`));
    ids.push(id);
  }
  ask = async (method, path, body) => {
    const headers = { authorization: "Bearer secret" };
    const request = new Request(`http://localhost${path}`, { method, headers, body: body && JSON.stringify(body) });
    const response = await answer(request, { commits, blobs: undefined, access: { token: "secret" } });
    return { status: response.status, ...(await response.json()) };
  };
});

test("a page of history has at most 100 records, and continues", async () => {
  const tip = ids.at(-1);
  for (const [depth, length] of [
    ["0", 100],
    ["", 100],
    ["1", 1],
    ["100", 100],
    ["101", 100],
    ["1e9", 100],
  ]) {
    const { records, next } = await ask("GET", `/commits/${tip}/history?depth=${depth}`);
    assert.deepEqual([records.length, next], [length, ids.at(-1 - length)], depth);
  }
  for (const depth of ["-1", "x", "1.5"]) {
    assert.equal((await ask("GET", `/commits/${tip}/history?depth=${depth}`)).status, 400, depth);
  }
});

/** The ids of all pages; `act` gets each page before the next one is asked for. */
async function pages(path, act = () => undefined) {
  const found = [];
  for (let after, count = 0; count <= COMMITS / 100; count += 1) {
    const { records, next } = await ask("GET", after === undefined ? path : `${path}?after=${after}`);
    assert.ok(records.length <= 100);
    found.push(...records.map(({ id }) => id));
    await act(records);
    if (next === undefined) return found;
    after = next;
  }
  assert.fail("the pages do not end");
}

test("no record is lost or repeated while the list changes", async () => {
  assert.deepEqual((await pages("/tickets/T")).sort(), [...ids].sort());
  const summarized = await pages("/unsummarized", async (records) => {
    for (const { id } of records) {
      assert.equal((await ask("PATCH", `/commits/${id}`, { summary: "s" })).status, 200);
    }
  });
  assert.deepEqual(summarized.sort(), [...ids].sort());
  assert.deepEqual(await ask("GET", "/unsummarized"), { status: 200, records: [] });
  assert.equal((await ask("GET", "/unsummarized?after=ctx-none")).status, 404);
  assert.equal((await ask("GET", "/unsummarized?skip=1")).status, 400);
});
