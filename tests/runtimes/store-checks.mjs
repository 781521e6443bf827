/** What every store must do, and its costs; in all runtimes with a store. */

import { sameAsGraph, storeContract } from "./store-contract.mjs";
import { hostileNames } from "./store-names.mjs";
import { batchSummaries, reviewDiscussion } from "./store-scenarios.mjs";

/** Random numbers from 0 to 1, by seed. */
const numbers = (seed) => () => (seed = (seed * 16807) % 2147483647) / 2147483647;

/**
 * Runs all checks; `open` returns an empty store for each name. `limits` are those of hostile names; `history` is the
 * number of commits that are compared with a graph, each in all places.
 */
export async function checkAll(ctxweave, stores, open, { history = 24, ...limits } = {}) {
  await storeContract(await open("contract"));
  await sameAsGraph(ctxweave, stores, await open("graph"), numbers(1), history);
  await hostileNames(stores, await open("names"), numbers(2), limits);
  await reviewDiscussion(ctxweave, stores, await open("review"));
  await batchSummaries(ctxweave, stores, await open("summaries"));
  return "fine";
}

const COMMITS = 60;
const TIMES = 20;

/** Calls of the store, and runs in a second, of each operation on a chain of 60 commits. */
export async function costs(ctxweave, stores, open) {
  const store = await open("costs");
  let calls = 0;
  const counted = {};
  for (const name of ["get", "put", "compareAndSet", "list", "ancestors"]) {
    if (store[name]) counted[name] = (...given) => ((calls += 1), store[name](...given));
  }
  const commits = new stores.CommitStore(counted);
  const blob = (at) => new TextEncoder().encode(`${JSON.stringify({ role: "user", content: `${at} `.repeat(500) })}\n`);
  let id;
  let at = 0;
  const checkpoint = async () => {
    at += 1;
    const created_at = 1_772_000_000_000 + at * 1000;
    const request = { format: "generic-v1", principal: "@p", ticket_id: "T", created_at, parent: id ?? null };
    ({ id } = await commits.checkpoint("main", request, blob(at)));
  };
  for (let count = 0; count < COMMITS - TIMES; count += 1) await checkpoint();
  const kinds = {
    checkpoint,
    show: () => commits.show(id),
    resolve: () => commits.resolve("@p", 1_800_000_000_000),
    history: async () => {
      let count = 0;
      for await (const _ of commits.history(id)) count += 1;
      if (count !== COMMITS) throw new Error(`${count} commits`);
    },
    materialize: () => commits.materialize({ commit: id }),
  };
  const rows = {};
  for (const [name, run] of Object.entries(kinds)) {
    calls = 0;
    const began = performance.now();
    for (let count = 0; count < TIMES; count += 1) await run();
    rows[name] = { calls: calls / TIMES, perSecond: (TIMES * 1000) / (performance.now() - began) };
  }
  return rows;
}
