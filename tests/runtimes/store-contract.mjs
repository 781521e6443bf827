/**
 * The contract of a store, and the equivalence of a store and a graph in memory. With nothing but the language, because
 * it runs in all runtimes with a store: Node, Deno and Chromium.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function same(actual, expected, what) {
  const [one, other] = [actual, expected].map((value) => JSON.stringify(value) ?? "undefined");
  if (one !== other) throw new Error(`${what}: ${one.slice(0, 400)} and not ${other.slice(0, 400)}`);
}

const text = (bytes) => (bytes === undefined ? undefined : decoder.decode(bytes));

/** The four functions, and `delete`. The store is empty before and after. */
export async function storeContract(store) {
  const checkText = async (key, expected) => same(text(await store.get(key)), expected, key);
  await checkText("heads/none", undefined);
  // Blobs of any size: a store that splits them returns them whole, and a shorter one replaces a longer one.
  for (const length of [0, 1, 59_999, 60_000, 60_001, 1_500_000, 7]) {
    const bytes = new Uint8Array(length).map((_, at) => at % 251);
    await store.put("blobs/00aa", bytes);
    const back = await store.get("blobs/00aa");
    same([back instanceof Uint8Array, back.length], [true, length], "a blob");
    same(
      back.findIndex((byte, at) => byte !== at % 251),
      -1,
      "a blob",
    );
    // Returned bytes belong to the caller.
    back.fill(9);
    same((await store.get("blobs/00aa")).indexOf(9), bytes.indexOf(9), "a blob");
  }
  // Of several writers that expect the same value, one succeeds.
  const key = "heads/%40it%E2%82%AC-._~*Aa";
  same(await store.compareAndSet(key, "1", "2"), false, "the key was missing");
  same(await store.compareAndSet(key, undefined, "1"), true, "the key was missing");
  same(await store.compareAndSet(key, undefined, "2"), false, "the key exists");
  await checkText(key, "1");
  for (let count = 1; count < 50; count += 1) {
    const next = `${count + 1}`;
    const all = count % 16 === 0 ? [1, 2, 3, 4, 5, 6, 7, 8] : [1];
    const tries = await Promise.all(
      all.map((by) => store.compareAndSet(key, `${count}`, by === 1 ? next : `${next} ${by}`)),
    );
    same(tries.filter(Boolean).length, 1, "one of several");
    const now = text(await store.get(key));
    if (now !== next) same(await store.compareAndSet(key, now, next), true, "back again");
    same(await store.compareAndSet(key, `${count}`, "old"), false, "it is another one by now");
  }
  await checkText(key, "50");
  same(await store.compareAndSet(key, "50", "51 é"), true, "any text");
  same(await store.compareAndSet(key, "51 é", "52"), true, "any text");
  // Lists are sorted, paged, and start after the cursor.
  const names = ["a", "b", "ba", "c%2Fc", "d", "~"].map((name) => `records/ctx-${name}`);
  for (const name of names) await store.compareAndSet(name, undefined, "{}");
  const times = ["2", "1", "3"].map((at) => `principals/%40a/${at}/ctx-1`);
  for (const time of [...times, "principals/%40ab/1/ctx-1"]) await store.compareAndSet(time, undefined, "+");
  const list = async (prefix, cursor, limit) => {
    const keys = [];
    for (;;) {
      const page = await store.list(prefix, cursor, limit);
      keys.push(...page.keys);
      if (page.cursor === undefined) return keys;
      same(page.cursor, page.keys.at(-1), "the cursor");
      cursor = page.cursor;
    }
  };
  for (const limit of [undefined, 1, 2, 6, 7]) {
    same(await list("records/", undefined, limit), names, `in pages of ${limit}`);
    same(await list("records/", "records/ctx-b", limit), names.slice(2), `in pages of ${limit}`);
    same(await list("principals/%40a/", undefined, limit), [...times].sort(), "of one");
    same(await list("principals/%40a/", "principals/%40a/15", limit), [...times].sort().slice(1), "from somewhere on");
    same(await list("blobs/", undefined, limit), ["blobs/00aa"], "blobs");
  }
  // Lists by a property have a level more than those of principals.
  const entries = ["child/ctx-1/1/ctx-2", "child/ctx-1/2/ctx-1", "child/ctx-10/1/ctx-3", "ticket/%2F..%00/1/ctx-1"];
  const indexed = entries.map((entry) => `indexes/${entry}`);
  for (const entry of indexed) await store.compareAndSet(entry, undefined, "+");
  for (const limit of [undefined, 1, 2]) {
    same(await list("indexes/child/ctx-1/", undefined, limit), indexed.slice(0, 2), "of one value");
    same(await list("indexes/child/ctx-1/", indexed[0], limit), indexed.slice(1, 2), "of one value, from one on");
    same(await list("indexes/", undefined, limit), indexed, "all");
  }
  for (const entry of indexed) await store.delete(entry);
  same(await list("principals/"), [...[...times].sort(), "principals/%40ab/1/ctx-1"], "of all");
  same(await list("blobs/00a"), ["blobs/00aa"], "blobs that begin so");
  same(await list("blobs/01"), [], "blobs that begin so");
  same(await list("collections/"), [], "none");
  const record = (id, parent) => JSON.stringify({ id, ...(parent && { parent }) });
  const [one, two, three] = ["ctx-1", "ctx-2", "ctx-3"];
  await store.compareAndSet("records/ctx-1", undefined, record(one));
  await store.compareAndSet("records/ctx-2", undefined, record(two, one));
  await store.compareAndSet("records/ctx-3", undefined, record(three, two));
  if (store.ancestors) {
    const ids = async (id, limit) =>
      (await store.ancestors(id, limit))
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line).id);
    same(await ids(three, 9), [three, two, one], "ancestors");
    same(await ids(three, 2), [three, two], "ancestors");
    same(await ids("ctx-none", 2), [], "ancestors");
  }
  for (const key of [
    ...names,
    ...times,
    "principals/%40ab/1/ctx-1",
    "records/ctx-1",
    "records/ctx-2",
    "records/ctx-3",
  ]) {
    await store.delete(key);
  }
  for (const name of [key, "blobs/00aa", "blobs/none", "heads/none"]) await store.delete(name);
  await checkText(key, undefined);
  for (const prefix of ["blobs/", "heads/", "records/", "principals/"]) same(await list(prefix), [], "nothing is left");
}

/** A random history gives the same results and errors in a graph and in a store. */
export async function sameAsGraph(ctxweave, stores, store, random, length = 40) {
  const commits = new stores.CommitStore(store, { pageSize: 1 + Math.floor(random() * 5), delay: 1 });
  const graph = new ctxweave.CommitGraph();
  const blobs = new Map();
  const records = [];
  const pick = (list) => list[Math.floor(random() * list.length)];
  let heads = 0;
  const tips = new Map();
  for (let at = 0; at < length; at += 1) {
    const kind = random();
    const format = random() < 0.2 ? "claude-code-v1" : "generic-v1";
    const message =
      format === "generic-v1"
        ? { role: "user", content: `${at}` }
        : { type: "user", message: { role: "user", content: `${at}` } };
    const blob = encoder.encode(JSON.stringify(message) + (random() < 0.5 ? "\n" : ""));
    const request = {
      format,
      principal: pick(["@a:b", "@a", "ü/%"]),
      ...(random() < 0.5 && { ticket_id: pick(["T-1", "T/%2"]) }),
      ...(random() < 0.5 && { thread_id: pick(["thread", "thread/2", ".."]) }),
      ...(random() < 0.5 && { session_id: pick(["s", "S"]) }),
      ...(random() < 0.3 && { summary: pick(["known", " "]) }),
      // Some at the same time.
      created_at: new Date(1_700_000_000_000 + 1000 * Math.floor(at / 2)).toISOString(),
      commit_type: kind < 0.1 ? "compaction" : kind < 0.2 ? "snapshot" : "delta",
      number: at,
    };
    if (random() < 0.15 && records.length > 0) {
      heads += 1;
      const from = pick(records).id;
      await commits.fork(from, `head ${heads}`);
      tips.set(heads, from);
    }
    const head = tips.size > 0 ? pick([...tips.keys()]) : 0;
    const { id, record } = await commits.checkpoint(`head ${head}`, request, blob);
    blobs.set(record.artifact_ref, blob);
    const parent = tips.get(head) ?? null;
    same(graph.checkpoint({ ...request, parent, artifact_ref: record.artifact_ref }), { id, record }, "a checkpoint");
    tips.set(head, id);
    records.push(record);
  }
  const both = async (what, ofGraph, ofStore) => {
    const tried = async (action) => {
      try {
        return await action();
      } catch (error) {
        return { code: error.code, details: error.details, message: error.message };
      }
    };
    same(await tried(ofStore), await tried(ofGraph), what);
  };
  const all = async (generator) => {
    const found = [];
    for await (const item of generator) found.push(item);
    return found;
  };
  const bytes = ({ bytes, ...rest }) => ({ ...rest, text: decoder.decode(bytes) });
  // Lists of a store are by time, then id; a graph has parents before their children.
  const ids = (records) => records.map(({ id }) => id).sort();
  const lists = async () => {
    for (const [method, values] of [
      ["byTicket", ["T-1", "T/%2", "T", "nobody's"]],
      ["byThread", ["thread", "thread/2", ".."]],
      ["bySession", ["s", "S"]],
    ]) {
      for (const value of values) {
        const found = await all(commits[method](value));
        same(ids(found), ids(graph[method](value)), method);
        for (const record of found) same(record, graph.show(record.id), method);
        const times = found.map(({ created_at, id }) => `${created_at} ${id}`);
        same(times, [...times].sort(), "by time, then id");
      }
    }
    same(ids(await all(commits.lackingSummary())), ids(graph.lackingSummary()), "without a summary");
    same(ids(await all(commits.tips())), ids(graph.tips()), "tips");
    for (const { id } of [...records, { id: "ctx-none" }]) {
      await both(
        "children",
        () => graph.children(id),
        () => all(commits.children(id)),
      );
    }
  };
  const ask = async () => {
    for (const { id } of [...records, { id: "ctx-none" }]) {
      await both(
        "show",
        () => graph.show(id),
        () => commits.show(id),
      );
      const depth = pick([undefined, 0, 1, 3]);
      await both(
        "history",
        () => graph.history(id, { depth }),
        () => all(commits.history(id, { depth })),
      );
      for (const stop of ["compaction", "root", pick(records).id]) {
        const request = { commit: id, stop, ...(random() < 0.3 && { format: "generic-v1" }) };
        const plan = () => graph.planMaterialization(request);
        await both("plan", plan, () => commits.planMaterialization(request));
        const whole = async () => bytes(graph.materialize(request, blobs));
        await both("materialize", whole, async () => bytes(await commits.materialize(request)));
        await both("stream", whole, async () => {
          const { stream, done, plan } = await commits.materializeStream(request);
          const pieces = [];
          const reader = stream.getReader();
          for (let read; !(read = await reader.read()).done;) pieces.push(...read.value);
          same(plan, graph.planMaterialization(request), "plan");
          return { ...(await done), text: decoder.decode(Uint8Array.from(pieces)) };
        });
      }
    }
    for (const principal of ["@a:b", "@a", "ü/%", "nobody"]) {
      for (let at = -1; at <= length / 2; at += 1) {
        const time = 1_700_000_000_000 + 1000 * at + pick([0, 1, 999]);
        await both(
          "resolve",
          () => graph.resolve(principal, time),
          () => commits.resolve(principal, time),
        );
      }
    }
  };
  await ask();
  await lists();
  const { id } = pick(records);
  const fields = { summary: "what it understood", tags: ["a", "b"] };
  await both(
    "metadata",
    () => graph.updateMetadata(id, fields),
    () => commits.updateMetadata(id, fields),
  );
  await both(
    "metadata",
    () => graph.updateMetadata(id, { format: "x" }),
    () => commits.updateMetadata(id, { format: "x" }),
  );
  await both(
    "metadata",
    () => graph.show(id),
    () => commits.show(id),
  );
  await lists();
  const removed = { summary: null };
  await both(
    "metadata",
    () => graph.updateMetadata(id, removed),
    () => commits.updateMetadata(id, removed),
  );
  await lists();
  const done = await stores.summarizeMissing(commits, ({ id }, blob) => `${id} has ${blob.length} bytes`);
  same([...done.summarized].sort(), ids(graph.lackingSummary()), "summarized");
  same(await all(commits.lackingSummary()), [], "all have a summary");
  for (const { id } of graph.lackingSummary()) same((await commits.show(id)).summary.startsWith(id), true, "its own");
  // A snapshot holds the conversation of its head, and is the same from the cache.
  const cached = new stores.CommitStore(store, { delay: 1, cache: true });
  for (const [head, tip] of [...tips].slice(0, 2)) {
    const whole = bytes(await commits.materialize({ commit: tip }));
    for (let times = 0; times < 2; times += 1) same(bytes(await cached.materialize({ commit: tip })), whole, "cached");
    const { record } = await commits.snapshot(`head ${head}`, { created_at: 1_800_000_000_000 });
    same(
      [record.parent, record.commit_type, record.principal],
      [tip, "snapshot", graph.show(tip).principal],
      "a snapshot",
    );
    same(bytes(await commits.materialize({ commit: record.id })).text, whole.text, "a snapshot");
  }
  graph.free();
  return records.length;
}
