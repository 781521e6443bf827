/** The caller's code runs while their data is read, and calls `reset`: the handle is lost, and nothing else. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../packaging/packed.mjs";

let ctxweave;
before(async () => {
  ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/node.js")));
  await ctxweave.init();
});

const LOST = { name: "CtxweaveError", code: "handle_lost" };
const utf8 = (text) => new TextEncoder().encode(text);
const tree = { nodes: [{ id: "a", authorType: "human", content: "Hi" }], edges: [] };

/** `value` with `reset` called when its field `name` is read. */
function resetting(value, name) {
  const field = value[name];
  return Object.defineProperty({ ...value }, name, {
    get: () => {
      ctxweave.reset();
      return field;
    },
    enumerable: true,
  });
}

/** The module works, and its memory is intact. */
function works() {
  const text = "a few words, again and again ".repeat(50);
  assert.equal(ctxweave.countTokens(text), ctxweave.countTokens(text));
  const graph = new ctxweave.CommitGraph();
  const { id } = graph.checkpoint({ artifact_ref: ctxweave.artifactRef(utf8(text)), format: "x", created_at: 0 });
  assert.equal(graph.show(id).id, id);
  graph.free();
}

describe("reset in a getter", () => {
  const message = { role: "user", content: "Hi" };
  const record = { artifact_ref: `blake3:${"0".repeat(64)}`, format: "generic-v1", created_at: 0 };
  const cases = {
    "Chat.append": () => {
      const chat = new ctxweave.Chat({ maxTokens: 1000 });
      return [chat, () => chat.append(resetting(message, "content"))];
    },
    "Chat.append, its `pinned`": () => {
      let resets = false;
      const pinned = () => {
        if (resets) ctxweave.reset();
        return true;
      };
      const chat = new ctxweave.Chat({ maxTokens: 1000, pinned });
      chat.append(message);
      resets = true;
      return [chat, () => chat.append(message)];
    },
    "Chat.replace": () => {
      const chat = new ctxweave.Chat({ maxTokens: 1000 });
      chat.append(message);
      return [chat, () => chat.replace(0, resetting(message, "content"))];
    },
    "Chat.fit": () => {
      const chat = new ctxweave.Chat({ maxTokens: 1000 });
      chat.append(message);
      return [chat, () => chat.fit({ edits: { toolResults: resetting({ keepLast: 1 }, "keepLast") } })];
    },
    "Chat.requestBody": () => {
      const chat = new ctxweave.Chat({ maxTokens: 1000 });
      chat.append(message);
      const edits = { toolResults: resetting({ keepLast: 1 }, "keepLast") };
      return [chat, () => chat.requestBody({ edits, target: { provider: "openai", model: "gpt-4o" } })];
    },
    "LoomTree.upsert": () => {
      const loom = new ctxweave.LoomTree(tree);
      return [loom, () => loom.upsert({ nodes: [resetting(tree.nodes[0], "content")] })];
    },
    "LoomTree.assembleDialogue": () => {
      const loom = new ctxweave.LoomTree(tree);
      return [loom, () => loom.assembleDialogue(resetting({ tip: "a", maxTokens: 100 }, "tip"))];
    },
    "LoomTree.summarizeDialogue": () => {
      const loom = new ctxweave.LoomTree(tree);
      return [loom, () => loom.summarizeDialogue(resetting({ tip: "a", maxTokens: 100 }, "tip"))];
    },
    "LoomTree.requestBody": () => {
      const loom = new ctxweave.LoomTree(tree);
      const target = { provider: "openai", model: "gpt-4o" };
      return [loom, () => loom.requestBody({ tip: "a", maxTokens: 100, target: resetting(target, "model") })];
    },
    "LoomTree.configure": () => {
      const loom = new ctxweave.LoomTree(tree);
      return [loom, () => loom.configure(resetting({ title: "t" }, "title"))];
    },
    "CommitGraph.checkpoint": () => {
      const graph = new ctxweave.CommitGraph();
      return [graph, () => graph.checkpoint(resetting(record, "format"))];
    },
    "ChainWalk.planMaterialization": () => {
      const walk = new ctxweave.ChainWalk({});
      return [walk, () => walk.planMaterialization(resetting({ format: "generic-v1" }, "format"))];
    },
    "Checkpointer.checkpoint": () => {
      const session = new ctxweave.Checkpointer({ format: "generic-v1" });
      session.push(message);
      return [session, () => session.checkpoint("explicit", resetting({ created_at: 0 }, "created_at"))];
    },
  };
  for (const [name, make] of Object.entries(cases)) {
    test(name, () => {
      const [handle, act] = make();
      assert.throws(act, LOST);
      handle.free();
      works();
    });
  }
});

describe("reset in a function that a materialization calls", () => {
  const blobs = ["one", "two"].map((content) => utf8(`${JSON.stringify({ role: "user", content })}\n`));
  const record = (id, artifact_ref, parent) =>
    JSON.stringify({
      ...{ id, version: 1, commit_type: "delta", artifact_ref, format: "generic-v1", parent },
      created_at: "2026-03-02T10:00:00Z",
    });

  function chain() {
    const graph = new ctxweave.CommitGraph();
    graph.importJsonl([record("ctx-1", "sha256:01"), record("ctx-2", "sha256:02", "ctx-1")].join("\n"));
    const found = new Map([
      ["sha256:01", blobs[0]],
      ["sha256:02", blobs[1]],
    ]);
    return { graph, found, request: { commit: "ctx-2" } };
  }

  test("materialize: `get` and `verifyArtifact`", () => {
    for (const at of ["sha256:01", "sha256:02"]) {
      const reset = (ref) => {
        if (ref === at) ctxweave.reset();
      };
      const { graph, found, request } = chain();
      const get = (ref) => (reset(ref), found.get(ref));
      assert.throws(() => graph.materialize(request, { get }), LOST);
      works();
      const missing = (ref) => (reset(ref), undefined);
      if (at === "sha256:01") assert.throws(() => chain().graph.materialize(request, { get: missing }), LOST);
      works();
      const verifyArtifact = (ref) => (reset(ref), true);
      assert.throws(() => chain().graph.materialize(request, found, { verifyArtifact }), LOST);
      works();
      const refused = (ref) => (reset(ref), false);
      if (at === "sha256:01") {
        assert.throws(() => chain().graph.materialize(request, found, { verifyArtifact: refused }), LOST);
      }
      works();
    }
  });

  test("materializeWith and materializeStream: all their functions", async () => {
    for (const at of ["sha256:01", "sha256:02"]) {
      const reset = (ref) => {
        if (ref === at) ctxweave.reset();
      };
      const { found, request } = chain();
      const fetchBlob = (ref) => found.get(ref);
      const resets = {
        fetchBlob: [(ref) => (reset(ref), found.get(ref)), {}],
        verifyArtifact: [fetchBlob, { verifyArtifact: (ref) => (reset(ref), true) }],
        "verifyArtifact, later": [fetchBlob, { verifyArtifact: async (ref) => (await null, reset(ref), true) }],
        onProgress: [fetchBlob, { onProgress: ({ done }) => reset(`sha256:0${done}`) }],
      };
      for (const [name, [fetch, options]] of Object.entries(resets)) {
        await assert.rejects(ctxweave.materializeWith(chain().graph, request, fetch, options), LOST, name);
        works();
        if (name === "onProgress") continue;
        const { stream, done } = ctxweave.materializeStream(chain().graph, request, fetch, options);
        await assert.rejects(new Response(stream).text(), LOST, name);
        await assert.rejects(done, LOST, name);
        works();
      }
    }
  });

  test("a buffer that `verifyArtifact` transfers or changes has no effect on the result", async () => {
    const { graph, found, request } = chain();
    const expected = graph.materialize(request, found).bytes;
    const copies = () => new Map(Array.from(found, ([ref, bytes]) => [ref, bytes.slice()]));
    const changes = {
      fills: (bytes) => bytes.fill(0x20),
      transfers: (bytes) => structuredClone(bytes.buffer, { transfer: [bytes.buffer] }),
    };
    for (const [name, change] of Object.entries(changes)) {
      const blobs = copies();
      const verifyArtifact = (ref, bytes) => {
        change(bytes);
        for (const blob of blobs.values()) if (blob.buffer.detached !== true && blob.length > 0) change(blob);
        return true;
      };
      // The second blob is gone by the time it is needed; the first one is complete.
      const whole = chain().graph;
      const one = whole.materialize({ commit: "ctx-1" }, blobs, { verifyArtifact });
      assert.deepEqual(one.bytes, found.get("sha256:01"), name);
      const own = copies();
      const changing = (ref, bytes) => (change(bytes), true);
      assert.deepEqual(whole.materialize(request, own, { verifyArtifact: changing }).bytes, expected, name);
      const fetched = await ctxweave.materializeWith(whole, request, (ref) => own.get(ref), {
        verifyArtifact: async (ref, bytes) => changing(ref, bytes),
      });
      assert.deepEqual(fetched.bytes, expected, name);
    }
  });
});
