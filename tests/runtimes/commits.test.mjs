/** Commits through the package: compared with other implementations of BLAKE3, and the async driver. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { blake3 as noble } from "@noble/hashes/blake3.js";
import { blake3 as hashWasm } from "hash-wasm";
import { installed } from "../packaging/packed.mjs";

let ctxweave;
before(async () => {
  ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/node.js")));
  await ctxweave.init();
});

const encoder = new TextEncoder();
const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** Bytes that are not all equal. */
function noise(length) {
  const bytes = new Uint8Array(length);
  let state = length + 1;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

test("refs equal those of two other implementations of BLAKE3, at every edge of its blocks and chunks", async () => {
  const sizes = [
    0, 1, 63, 64, 65, 127, 128, 1023, 1024, 1025, 2048, 2049, 3072, 4096, 4097, 5120, 8192, 8193, 16384, 31744, 102400,
    1_000_003,
  ];
  for (const size of sizes) {
    const blob = noise(size);
    assert.equal(ctxweave.artifactRef(blob), `blake3:${hex(noble(blob))}`, `${size} bytes, noble`);
    assert.equal(ctxweave.artifactRef(blob.buffer), `blake3:${await hashWasm(blob)}`, `${size} bytes, hash-wasm`);
  }
  assert.equal(
    ctxweave.artifactRef(new DataView(noise(9).buffer, 3, 4)),
    `blake3:${hex(noble(noise(9).subarray(3, 7)))}`,
  );
});

test("ids equal those of another implementation", () => {
  const graph = new ctxweave.CommitGraph();
  const derived = (fields) => {
    const parts = fields.flatMap((field) => {
      const bytes = encoder.encode(field);
      const length = new Uint8Array(8);
      new DataView(length.buffer).setBigUint64(0, BigInt(bytes.length), true);
      return [length, bytes];
    });
    const context = encoder.encode("ctxweave 2026-11-22 context commit id, version 1");
    return `ctx-${hex(noble(Buffer.concat(parts), { context })).slice(0, 16)}`;
  };
  let parent;
  for (const template of [undefined, "", "reviewer", "gutachter-ü\u{1F600}"]) {
    const request = {
      artifact_ref: ctxweave.artifactRef(encoder.encode(`${template}`)),
      format: "generic-v1",
      created_at: "2026-03-01T09:30:00Z",
    };
    const { id, record } = graph.checkpoint({ parent, template, ...request });
    assert.equal(id, derived([parent ?? "", request.artifact_ref, request.created_at, template ?? ""]));
    assert.equal(record.id, id);
    parent = id;
  }
  graph.free();
});

/** A chain of deltas with its blobs. */
function chain(length, blobOf = (at) => `{"role":"user","content":"${at}"}`) {
  const graph = new ctxweave.CommitGraph();
  const blobs = new Map();
  const ids = [];
  for (let at = 0; at < length; at += 1) {
    const blob = encoder.encode(blobOf(at));
    const artifact_ref = ctxweave.artifactRef(blob);
    blobs.set(artifact_ref, blob);
    const created_at = new Date(1_770_000_000_000 + at).toISOString();
    ids.push(graph.checkpoint({ parent: ids.at(-1), artifact_ref, format: "generic-v1", created_at }).id);
  }
  return { graph, blobs, ids, tip: ids.at(-1) };
}

describe("the graph", () => {
  test("inputs are never mutated, and records are plain data", () => {
    const { graph, ids, tip } = chain(3);
    const request = Object.freeze({ commit: tip, stop: "root" });
    const plan = graph.planMaterialization(request);
    assert.deepEqual(
      plan.steps.map(({ id }) => id),
      ids,
    );
    assert.equal(Object.getPrototypeOf(graph.show(tip)), Object.prototype);
    assert.equal("parent" in graph.show(ids[0]), false, "absent fields are absent");
    assert.equal(graph.size, 3);
    assert.equal(graph.resolve("nobody", new Date()), undefined);
    graph.free();
  });

  test("times are texts, dates and milliseconds", () => {
    const graph = new ctxweave.CommitGraph();
    const millis = 1_770_000_000_001;
    const fields = {
      artifact_ref: ctxweave.artifactRef(encoder.encode("{}")),
      format: "generic-v1",
      principal: "iris",
    };
    const times = [new Date(millis).toISOString(), new Date(millis), millis];
    for (const created_at of times) graph.checkpoint({ ...fields, created_at });
    assert.equal(graph.size, 1, "the same commit each time");
    for (const time of times) assert.equal(graph.resolve("iris", time).created_at, times[0]);
    assert.equal(graph.resolve("iris", millis - 1), undefined);
    assert.throws(() => graph.checkpoint({ ...fields, created_at: NaN }), {
      code: "invalid_input",
      details: { path: "created_at" },
    });
    graph.free();
  });

  test("misuse throws with a clear error", () => {
    const { graph, blobs, tip } = chain(2);
    const code = (action) => {
      try {
        action();
      } catch (error) {
        assert.ok(error instanceof ctxweave.CtxweaveError, String(error));
        return error.code;
      }
      return undefined;
    };
    assert.equal(
      code(() => graph.show(5)),
      "invalid_input",
    );
    assert.equal(
      code(() => graph.history(tip, { depth: Number.NaN })),
      "invalid_input",
    );
    assert.equal(
      code(() => graph.history(tip, { depth: -1 })),
      "invalid_input",
    );
    assert.equal(
      code(() => graph.checkpoint({ format: 1n })),
      "invalid_input",
    );
    assert.equal(
      code(() => graph.checkpoint()),
      "invalid_input",
    );
    assert.equal(
      code(() => graph.materialize({ commit: tip }, {})),
      "invalid_input",
    );
    assert.equal(
      code(() => graph.materialize({ commit: tip }, new Map([...blobs].map(([ref]) => [ref, "text"])))),
      "invalid_input",
    );
    assert.equal(
      code(() => new ctxweave.Checkpointer()),
      "invalid_input",
    );
    assert.equal(
      code(() => new ctxweave.Checkpointer({ format: "generic-v1", every: 0 })),
      "invalid_input",
    );
    graph.free();
    assert.equal(
      code(() => graph.show(tip)),
      "handle_freed",
    );
    assert.equal(
      code(() => graph.free()),
      undefined,
      "free is idempotent",
    );
  });

  test("blobs may be any view of bytes; the result is not a view of the module's memory", () => {
    const { graph, blobs, tip } = chain(3);
    const views = new Map(
      [...blobs].map(([ref, blob], at) => [
        ref,
        at === 0 ? blob.buffer : at === 1 ? new DataView(blob.buffer) : Buffer.from(blob),
      ]),
    );
    const { bytes, artifactRef, messageCount, tier, diagnostics } = graph.materialize({ commit: tip }, views);
    assert.equal(Buffer.from(bytes).toString(), [0, 1, 2].map((at) => `{"role":"user","content":"${at}"}`).join("\n"));
    assert.equal(artifactRef, ctxweave.artifactRef(bytes));
    assert.equal(bytes.buffer.byteLength, bytes.length);
    assert.deepEqual({ messageCount, tier, diagnostics }, { messageCount: 3, tier: "native", diagnostics: [] });
    graph.free();
  });

  test("ten thousand commits", () => {
    const { graph, blobs, tip } = chain(10_000);
    const { bytes, messageCount } = graph.materialize(graph.planMaterialization({ commit: tip, stop: "root" }), blobs);
    assert.equal(messageCount, 10_000);
    assert.equal(bytes.filter((byte) => byte === 10).length, 9_999);
    const again = new ctxweave.CommitGraph();
    assert.deepEqual(again.importJsonl(graph.exportJsonl()).diagnostics, []);
    assert.deepEqual(Buffer.compare(again.exportJsonl(), graph.exportJsonl()), 0);
    again.free();
    graph.free();
  });
});

describe("materializeWith", () => {
  test("an unknown option is rejected", async () => {
    const graph = new ctxweave.CommitGraph();
    await assert.rejects(
      ctxweave.materializeWith(graph, { commit: "x" }, () => undefined, { concurency: 3 }),
      {
        code: "invalid_input",
        message:
          "`options.concurency` is not an option; the options are `concurrency`, `retries`, `onProgress`, `signal`, `verifyArtifact`",
      },
    );
    graph.free();
  });

  test("fetches in parallel, up to the limit, and returns the result of materialize", async () => {
    const { graph, blobs, tip } = chain(100);
    let running = 0;
    let most = 0;
    const progress = [];
    const result = await ctxweave.materializeWith(
      graph,
      { commit: tip },
      async (ref) => {
        most = Math.max(most, ++running);
        // Later ones are faster, so that they arrive in another order.
        await new Promise((resolve) => setTimeout(resolve, ref.charCodeAt(10) % 5));
        running -= 1;
        return blobs.get(ref);
      },
      { concurrency: 5, onProgress: (at) => progress.push(at) },
    );
    assert.equal(most, 5);
    assert.deepEqual(result, graph.materialize({ commit: tip }, blobs));
    assert.equal(progress.length, 100);
    assert.deepEqual(progress.at(-1), {
      done: 100,
      total: 100,
      bytes: [...blobs.values()].reduce((sum, blob) => sum + blob.length, 0),
    });
    graph.free();
  });

  test("a blob that is needed twice is fetched once", async () => {
    const { graph, blobs, tip } = chain(40, (at) => `{"role":"user","content":"${at % 3}"}\n`);
    const asked = [];
    const { bytes } = await ctxweave.materializeWith(
      graph,
      { commit: tip },
      (ref) => (asked.push(ref), blobs.get(ref)),
    );
    assert.equal(asked.length, 3);
    assert.deepEqual(bytes, graph.materialize({ commit: tip }, blobs).bytes);
    graph.free();
  });

  test("retries once, after a failure and after damage", async () => {
    const { graph, blobs, tip } = chain(6);
    const tries = new Map();
    const flaky = (failures, damage) => async (ref) => {
      const count = (tries.get(ref) ?? 0) + 1;
      tries.set(ref, count);
      if (count <= failures) {
        if (!damage) throw new Error("the line is down");
        return blobs.get(ref).map((byte) => byte ^ 1);
      }
      return blobs.get(ref);
    };
    const whole = graph.materialize({ commit: tip }, blobs).bytes;
    for (const damage of [false, true]) {
      tries.clear();
      assert.deepEqual((await ctxweave.materializeWith(graph, { commit: tip }, flaky(1, damage))).bytes, whole);
      assert.deepEqual([...tries.values()], Array(6).fill(2));
      tries.clear();
      const error = await ctxweave
        .materializeWith(graph, { commit: tip }, flaky(2, damage), { concurrency: 1 })
        .catch((error) => error);
      assert.equal(error.code, damage ? "blob_mismatch" : "blob_missing");
      assert.match(error.details.commitId, /^ctx-/);
      assert.match(error.details.artifactRef, /^blake3:/);
      if (!damage) assert.match(String(error.cause), /the line is down/);
    }
    graph.free();
  });

  test("later changes of the host's buffer are not in the result", async () => {
    const { graph, blobs, tip } = chain(20, (at) => `{"role":"user","content":"${String(at).padStart(2, "0")}"}\n`);
    const buffer = new Uint8Array([...blobs.values()][0].length);
    const reused = (ref) => (buffer.set(blobs.get(ref)), buffer);
    const { bytes } = await ctxweave
      .materializeWith(graph, { commit: tip }, reused, { concurrency: 1 })
      .catch((error) => error);
    // One buffer for several concurrent fetches is a mistake and is detected; it never gives wrong bytes.
    if (bytes) assert.deepEqual(bytes, graph.materialize({ commit: tip }, blobs).bytes);
    graph.free();
  });

  test("an aborted signal ends it", async () => {
    const { graph, blobs, tip } = chain(10);
    const stop = new AbortController();
    const reason = new Error("enough");
    const promise = ctxweave.materializeWith(
      graph,
      { commit: tip },
      async (ref) => {
        stop.abort(reason);
        return blobs.get(ref);
      },
      { signal: stop.signal },
    );
    await assert.rejects(promise, reason);
    await assert.rejects(
      ctxweave.materializeWith(graph, { commit: tip }, () => assert.fail("nothing is fetched"), {
        signal: stop.signal,
      }),
      reason,
    );
    graph.free();
  });

  test("a fresh start fetches nothing, and the graph may be freed meanwhile", async () => {
    const { graph, blobs, tip } = chain(10);
    const fresh = await ctxweave.materializeWith(graph, {}, () => assert.fail("nothing is fetched"));
    assert.equal(fresh.bytes.length, 0);
    const promise = ctxweave.materializeWith(graph, { commit: tip }, async (ref) => blobs.get(ref));
    graph.free();
    assert.equal((await promise).messageCount, 10);
  });
});

test("the checkpointer: every message in exactly one commit, lone surrogates included", () => {
  const session = new ctxweave.Checkpointer({ format: "generic-v1" });
  const graph = new ctxweave.CommitGraph();
  const blobs = new Map();
  const messages = ["one", "half \ud83d of a pair", "three"].map((content) => ({ role: "user", content }));
  for (const [at, message] of messages.entries()) {
    session.push(at % 2 ? message : JSON.stringify(message));
    for (const { id, record, blob, artifactRef } of session.checkpoint("turn_boundary", {
      created_at: `2026-03-01T00:00:0${at}Z`,
    })) {
      blobs.set(artifactRef, blob);
      assert.equal(graph.checkpoint(record).id, id);
      session.stored(id);
    }
  }
  assert.equal(session.pending, 0);
  assert.equal(session.position, 3);
  const { bytes } = graph.materialize({ commit: session.head }, blobs);
  assert.deepEqual(
    Buffer.from(bytes)
      .toString()
      .split("\n")
      .map((line) => JSON.parse(line)),
    messages,
  );
  session.free();
  graph.free();
});

describe("materializeStream", () => {
  const large = (at) => `{"role":"user","content":"${at} ${"x".repeat(20_000)}"}`;

  test("streams the bytes, a few blobs at a time, and fetches more when these were read", async () => {
    const { graph, blobs, tip } = chain(200, large);
    let fetched = 0;
    const fetchBlob = async (ref) => {
      fetched += 1;
      return blobs.get(ref);
    };
    const expected = graph.materialize({ commit: tip }, blobs);
    const { stream, done } = ctxweave.materializeStream(graph, { commit: tip }, fetchBlob);
    const reader = stream.getReader();
    const pieces = [(await reader.read()).value];
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.ok(fetched < 40, `${fetched} blobs were fetched, and one was read`);
    for (let read; !(read = await reader.read()).done;) pieces.push(read.value);
    assert.ok(Buffer.concat(pieces).equals(Buffer.from(expected.bytes)));
    const { bytes: _, ...rest } = expected;
    assert.deepEqual(await done, rest);
    graph.free();
  });

  test("a missing blob fails the stream, and a cancelled stream stops fetching", async () => {
    const { graph, blobs, ids, tip } = chain(200, large);
    const lost = graph.show(ids[100]).artifact_ref;
    const { stream, done } = ctxweave.materializeStream(graph, { commit: tip }, async (ref) => {
      if (ref === lost) throw new Error("gone");
      return blobs.get(ref);
    });
    const isMissing = (error) => error.code === "blob_missing" && error.cause.message === "gone";
    let length = 0;
    await assert.rejects(async () => {
      for await (const piece of stream) length += piece.length;
    }, isMissing);
    assert.ok(length < 100 * 20_100);
    await assert.rejects(done, isMissing);

    let fetched = 0;
    const counted = async (ref) => {
      fetched += 1;
      return blobs.get(ref);
    };
    const cancelled = ctxweave.materializeStream(graph, { commit: tip }, counted);
    const reader = cancelled.stream.getReader();
    await reader.read();
    await reader.cancel(new Error("enough"));
    await assert.rejects(cancelled.done, { message: "enough" });
    const controller = new AbortController();
    const aborted = ctxweave.materializeStream(graph, { commit: tip }, counted, { signal: controller.signal });
    await aborted.stream
      .getReader()
      .read()
      .then(() => controller.abort(new Error("stop")));
    await assert.rejects(aborted.done, { message: "stop" });
    const before = fetched;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(fetched, before);
    assert.throws(() => ctxweave.materializeStream(graph, { commit: tip }, counted, { retry: 1 }), {
      code: "invalid_input",
    });
    assert.throws(() => ctxweave.materializeStream(graph, { commit: "ctx-none" }, counted), {
      code: "commit_not_found",
    });
    graph.free();
  });

  test("a walk materializes like a graph", async () => {
    const { graph, blobs, tip } = chain(20);
    const walk = new ctxweave.ChainWalk({ commit: tip });
    const fetchBlob = (ref) => blobs.get(ref);
    await assert.rejects(ctxweave.materializeWith(walk, { commit: tip }, fetchBlob), { code: "invalid_input" });
    while (walk.wanted !== undefined) walk.push(JSON.stringify(graph.show(walk.wanted)));
    assert.deepEqual(
      await ctxweave.materializeWith(walk, { commit: tip }, fetchBlob),
      graph.materialize({ commit: tip }, blobs),
    );
    const plan = { ...walk.planMaterialization({ commit: tip }), cacheKey: "mat-other" };
    await assert.rejects(ctxweave.materializeWith(walk, plan, fetchBlob), { code: "plan_mismatch" });
    walk.free();
    assert.throws(() => walk.wanted, { code: "handle_freed" });
    graph.free();
  });
});
