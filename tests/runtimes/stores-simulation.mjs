/**
 * Several processes on one faulty store, in an order derived from a seed: each answer of the store and each timer is
 * released one by one. Uses no real time.
 */

import assert from "node:assert/strict";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Random numbers from 0 to 1, by seed. */
export function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Frequency of each fault, per thousand calls. */
const RATES = { error: 30, carriedOut: 30, late: 20, twice: 20, silent: 5, otherBytes: 20, crash: 6 };

/**
 * When the last call of a dead process takes effect: before another process begins, at some time later, or never; or
 * after the next process has ended.
 */
export const FATES = ["at once", "later", "never", "last"];

/** The simulated clock, timers and random numbers. */
class World {
  now = 1_800_000_000_000;
  timers = [];
  calls = [];
  faults = { error: 0, carriedOut: 0, late: 0, twice: 0, silent: 0, otherBytes: 0, crash: 0 };
  steps = 0;

  /** Calls of the real store that have not ended. */
  pending = new Set();

  constructor(seed) {
    this.random = numbers(seed);
  }

  /** A store whose calls the simulation waits for, so that servers take no simulated time. */
  tracked(store) {
    const tracked = {};
    for (const name of ["get", "put", "compareAndSet", "list", "ancestors", "delete"]) {
      if (!store[name]) continue;
      tracked[name] = (...given) => {
        const call = store[name](...given);
        const ended = call.then(
          () => this.pending.delete(ended),
          () => this.pending.delete(ended),
        );
        this.pending.add(ended);
        return call;
      };
    }
    return tracked;
  }

  pick(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  /** Runs `action` with this clock, and releases events until it is done. */
  async run(action) {
    const real = { setTimeout, clearTimeout, random: Math.random, now: Date.now };
    let number = 0;
    globalThis.setTimeout = (run, delay = 0) => {
      this.timers.push({ at: this.now + delay, number: (number += 1), run });
      return number;
    };
    globalThis.clearTimeout = (cleared) => {
      this.timers = this.timers.filter((timer) => timer.number !== cleared);
    };
    Math.random = this.random;
    Date.now = () => this.now;
    try {
      let done = false;
      const result = action().finally(() => (done = true));
      result.catch(() => undefined);
      for (;;) {
        do {
          await Promise.all(this.pending);
          await new Promise((resolve) => setImmediate(resolve));
        } while (this.pending.size > 0);
        if (done) return await result;
        this.step();
      }
    } finally {
      globalThis.setTimeout = real.setTimeout;
      globalThis.clearTimeout = real.clearTimeout;
      Math.random = real.random;
      Date.now = real.now;
    }
  }

  step() {
    this.steps += 1;
    assert.ok(this.steps < 400_000, "the simulation does not end");
    const soon = this.timers.filter(({ at }) => at < this.now + 10_000);
    const waiting = soon.length + this.calls.length > 0 ? soon : this.timers;
    assert.ok(this.calls.length + waiting.length > 0, "nothing is pending, but the action is not done");
    if (this.calls.length > 0 && (waiting.length === 0 || this.random() < 0.8)) {
      const [call] = this.calls.splice(Math.floor(this.random() * this.calls.length), 1);
      call();
    } else {
      const timer = waiting.reduce((one, other) => (other.at < one.at ? other : one));
      this.timers.splice(this.timers.indexOf(timer), 1);
      this.now = Math.max(this.now, timer.at);
      timer.run();
    }
  }
}

/** The store as seen by one process: it fails at random, and the process may die during a call. */
function faulty(world, base, { rates = RATES, crashAt, fate = world.pick(FATES.slice(0, 3)) } = {}) {
  const client = { dead: false, calls: 0 };
  client.died = new Promise((resolve) => (client.die = resolve));
  const kinds = Object.entries(rates);
  const chosen = (operation) => {
    let place = world.random() * 1000;
    for (const [kind, rate] of kinds) {
      if ((place -= rate) < 0) {
        if (kind === "otherBytes" && operation !== "get") return undefined;
        if ((kind === "twice" || kind === "late") && !["put", "compareAndSet"].includes(operation)) return "error";
        return kind;
      }
    }
    return undefined;
  };
  const call = (operation, action, key) =>
    new Promise((resolve, reject) => {
      if (client.dead) return;
      client.calls += 1;
      const number = client.calls;
      // A server may fail as well, with nobody left to hear of it.
      const unanswered = () => void action().catch(() => undefined);
      world.calls.push(() => {
        const dies = crashAt === number;
        const kind = dies ? "crash" : crashAt === undefined ? chosen(operation, key) : undefined;
        // Another call of this process killed it.
        if (client.dead) {
          if (world.random() < 0.5) unanswered();
          return;
        }
        if (kind) world.faults[kind] += 1;
        const answer = () => action().then(resolve, reject);
        switch (kind) {
          case undefined:
            return void answer();
          case "error":
            return reject(new Error("the store does not answer"));
          case "carriedOut":
            return void action().then(() => reject(new Error("the answer was lost")), reject);
          case "late":
            world.calls.push(unanswered);
            return reject(new Error("the store takes its time"));
          case "twice":
            world.calls.push(unanswered);
            return void answer();
          case "silent":
            if (world.random() < 0.5) world.calls.push(unanswered);
            return;
          case "otherBytes":
            return void other(key).then((bytes) => (bytes ? resolve(bytes) : answer()), reject);
          default:
            client.dead = true;
            if (fate === "at once") return void action().then(client.die, client.die);
            if (fate === "later") world.calls.push(unanswered);
            if (fate === "last") client.last = unanswered;
            return client.die();
        }
      });
    });
  const other = async (key) => {
    const prefix = ["blobs/", "records/"].find((prefix) => key.startsWith(prefix));
    if (!prefix) return undefined;
    const { keys } = await base.list(prefix);
    const others = keys.filter((name) => name !== key);
    return others.length > 0 ? base.get(world.pick(others)) : undefined;
  };
  return {
    client,
    get: (key) => call("get", () => base.get(key), key),
    put: (key, bytes) => call("put", () => base.put(key, bytes), key),
    compareAndSet: (key, expected, next) => call("compareAndSet", () => base.compareAndSet(key, expected, next), key),
    list: (prefix, cursor, limit) => call("list", () => base.list(prefix, cursor, limit), prefix),
    ...(world.random() < 0.7 &&
      base.ancestors && { ancestors: (id, limit) => call("ancestors", () => base.ancestors(id, limit), id) }),
  };
}

const PREFIXES = ["blobs/", "records/", "heads/"];

/** The keys and values of a store that chains consist of. */
async function entriesOf(store) {
  const entries = new Map();
  for (const prefix of PREFIXES) {
    for (let cursor; ;) {
      const page = await store.list(prefix, cursor);
      const values = await Promise.all(page.keys.map((key) => store.get(key)));
      for (const [at, key] of page.keys.entries()) if (values[at]) entries.set(key, values[at]);
      if (page.cursor === undefined) break;
      cursor = page.cursor;
    }
  }
  return entries;
}

/** Everything that heads lead to, determined from the entries; throws if a chain is broken. */
export function reachableKeys(entries) {
  const keys = new Set();
  const heads = new Map();
  for (const [key, bytes] of entries) {
    if (!key.startsWith("heads/")) continue;
    const [, commit] = decoder.decode(bytes).split(" ");
    if (commit === undefined) continue;
    const chain = [];
    heads.set(decodeURIComponent(key.slice("heads/".length)), chain);
    for (let id = commit; id !== undefined;) {
      const text = entries.get(`records/${id}`);
      assert.ok(text, `\`${key}\` leads to ${id}, which is missing`);
      const record = JSON.parse(decoder.decode(text));
      assert.equal(record.id, id);
      const blob = `blobs/${record.artifact_ref.slice("blake3:".length)}`;
      assert.ok(entries.has(blob), `\`${key}\` leads to ${id}, whose blob is missing`);
      keys.add(`records/${id}`).add(blob);
      chain.push(record);
      id = record.parent;
    }
  }
  return { keys, heads };
}

const FORMAT = "generic-v1";
const lines = (bytes) =>
  decoder
    .decode(bytes)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line).content);

/**
 * Processes that write, fork, drop, read and collect concurrently, in an empty store that `open` returns. Returns
 * statistics.
 */
export async function simulate(stores, seed, { processes = 4, rounds = 10 } = {}, open = stores.memoryStore) {
  const world = new World(seed);
  const base = world.tracked(await open());
  const reachable = async () => reachableKeys(await entriesOf(base));
  // Acknowledged data by head: the texts of deltas, and the forks.
  const acknowledged = new Map([
    ["main", []],
    ["other", []],
  ]);
  const dropped = new Set();
  const counts = { requests: 0, commits: 0, rebased: 0, told: 0, failed: 0, collected: 0 };
  const options = { delay: 8, retries: 3, pageSize: 3 };
  const fine = () => new stores.CommitStore(base, options);
  let collecting = false;
  let forks = 0;

  // Each returns the actions of a process, so that a restarted one can repeat them.
  const checkpoint = async (process, round) => {
    const head = world.pick([
      "main",
      "main",
      "other",
      ...[...acknowledged.keys()].filter((name) => name.startsWith("fork")),
    ]);
    const text = world.random() < 0.1 ? "said by everybody" : `${process}.${round}`;
    const parent = (await fine().head(head)) ?? null;
    const kind = world.random();
    const request = {
      parent,
      format: FORMAT,
      principal: `@p${process}`,
      created_at: new Date(1_700_000_000_000 + round * 100 + process).toISOString(),
      session_id: `${process}.${round}`,
      ...(kind < 0.1 && { commit_type: "compaction" }),
    };
    const blob = encoder.encode(`${JSON.stringify({ role: "user", content: text })}\n`);
    const onConflict = kind > 0.9 ? "error" : "rebase";
    return async (commits) => {
      if (dropped.has(head)) return;
      const { id, rebased, record } = await commits.checkpoint(head, request, blob, { onConflict });
      counts.commits += 1;
      if (rebased) counts.rebased += 1;
      acknowledged.get(head)?.push({ id, record });
    };
  };
  const collect = async () => async (commits) => {
    if (collecting) return;
    collecting = true;
    try {
      for await (const keys of commits.garbage({ batch: 4, patience: 0 })) {
        const { keys: needed } = await reachable();
        for (const key of keys) assert.ok(!needed.has(key), `${key} is listed, and a head leads to it`);
        counts.collected += keys.length;
        for (const key of keys) {
          await new Promise((resolve) => world.calls.push(() => base.delete(key).then(resolve)));
        }
      }
    } finally {
      collecting = false;
    }
  };
  const fork = async () => {
    const { id } = world.pick([...acknowledged.values()].flat()) ?? {};
    const name = `fork${(forks += 1)}`;
    return async (commits) => {
      if (id === undefined) return;
      await commits.fork(id, name);
      if (!dropped.has(name)) acknowledged.set(name, [{ id }]);
    };
  };
  const drop = async () => async (commits) => {
    const name = world.pick([...acknowledged.keys()].filter((name) => name.startsWith("fork")));
    if (name === undefined) return;
    dropped.add(name);
    acknowledged.delete(name);
    await commits.dropHead(name);
  };
  const read = async () => async (commits) => {
    const head = world.pick([...acknowledged.keys()]);
    const commit = await commits.head(head);
    if (commit === undefined) return;
    const expected = lines((await fine().materialize({ commit, stop: "root" })).bytes);
    assert.deepEqual(lines((await commits.materialize({ commit, stop: "root" })).bytes), expected);
  };
  const tell = async () => async (commits) => {
    const { id } = world.pick([...acknowledged.values()].flat()) ?? {};
    if (id !== undefined) await commits.updateMetadata(id, { summary: `${world.now}` });
  };
  const actions = [checkpoint, checkpoint, checkpoint, checkpoint, collect, fork, drop, read, tell];
  // Acceptable errors if the store fails or another process was faster.
  const expected = [
    "store_failed",
    "store_busy",
    "head_conflict",
    "blob_missing",
    "blob_mismatch",
    "record_mismatch",
    "commit_not_found",
  ];

  const attempt = async (action, kind) => {
    const store = faulty(world, base);
    const commits = new stores.CommitStore(store, options);
    counts.requests += 1;
    try {
      const end = await Promise.race([action(commits).then(() => "done"), store.client.died]);
      if (end === undefined && kind === collect) collecting = false;
      return end === "done";
    } catch (error) {
      if (!(error instanceof stores.CtxweaveError && expected.includes(error.code))) throw error;
      counts[error.code === "head_conflict" ? "told" : "failed"] += 1;
      return true;
    }
  };
  const process = async (number) => {
    for (let round = 0; round < rounds; round += 1) {
      const kind = world.pick(actions);
      const action = await kind(number, round);
      // A process that died restarts and repeats its actions.
      for (let tries = 0; tries < 3 && !(await attempt(action, kind)); tries += 1);
    }
  };
  const check = async () => {
    const { heads, keys } = await reachable();
    for (const [name, acks] of acknowledged) {
      const chain = heads.get(name) ?? [];
      const ids = new Set(chain.map(({ id }) => id));
      for (const { id } of acks) assert.ok(ids.has(id), `${id} was acknowledged on ${name} and is lost`);
      const sessions = chain.flatMap(({ session_id }) => session_id ?? []);
      assert.equal(new Set(sessions).size, sessions.length, "nothing is stored twice");
      const [tip] = chain;
      if (tip) assert.equal((await fine().materialize({ commit: tip.id, stop: tip.id })).messageCount, 1);
    }
    for (const chain of heads.values()) {
      const { plan, stream } = await fine().materializeStream({ commit: chain[0].id, stop: "root" });
      assert.equal(plan.steps.length, chain.length);
      for await (const piece of stream) assert.ok(piece.length > 0);
    }
    return keys;
  };

  await world.run(async () => {
    await Promise.all(Array.from({ length: processes }, (_, number) => process(number)));
    await check();
    // Some late writes arrive before the clean-up, the others after.
    for (const late of world.calls.splice(0, world.calls.length >> 1)) late();
    for await (const found of fine().garbage({ patience: 0 })) {
      const keys = await check();
      for (const key of found) {
        assert.ok(!keys.has(key), `${key} is listed, and a head leads to it`);
        await base.delete(key);
      }
    }
    const needed = await check();
    const left = [...(await entriesOf(base)).keys()].filter((key) => /^(blobs|records)\//.test(key));
    if (world.calls.length === 0) assert.deepEqual(left.sort(), [...needed].sort(), "all garbage is deleted");
    for (const late of world.calls.splice(0)) late();
    await check();
  });
  return { ...counts, faults: world.faults, steps: world.steps };
}

/**
 * Kills a process at each call of an action in turn. `prepare` returns the arguments of `act` and `verify` in addition
 * to the commits. Its last call has this fate, or one by chance.
 */
export async function crashEverywhere(stores, seed, { prepare, act, verify }, open = stores.memoryStore, fate) {
  let crashes = 0;
  for (let crashAt = 1; ; crashAt += 1) {
    const world = new World(seed + crashAt);
    const base = world.tracked(await open());
    const options = { delay: 8, pageSize: 3 };
    const ended = await world.run(async () => {
      const fine = new stores.CommitStore(base, options);
      const prepared = await prepare(fine, base);
      const store = faulty(world, base, { crashAt, fate: fate ?? world.pick(FATES) });
      const commits = new stores.CommitStore(store, options);
      const end = await Promise.race([act(commits, prepared, base).then(() => "done"), store.client.died]);
      reachableKeys(await entriesOf(base));
      const next = new stores.CommitStore(faulty(world, base, { rates: {} }), options);
      await verify(next, prepared, { entries: () => entriesOf(base), base });
      const { keys: before } = reachableKeys(await entriesOf(base));
      for (const call of world.calls.splice(0)) call();
      store.client.last?.();
      await Promise.all(world.pending);
      const { keys: after } = reachableKeys(await entriesOf(base));
      for (const key of before) assert.ok(after.has(key), `no head leads to ${key} any more`);
      return end;
    });
    if (ended === "done") return crashes;
    crashes += 1;
  }
}
