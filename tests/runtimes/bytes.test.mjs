/** Bytes of callers: detached, out of bounds, shared, resizable, and with misleading properties. No handle is lost. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder, root } from "../packaging/packed.mjs";

const dir = folder("bytes");
const resolve = (name) => createRequire(join(dir, "x.js")).resolve(name);
const load = (name) => import(pathToFileURL(resolve(name)).href);

let ctxweave;
/** The result of loading the module from a detached buffer. */
let notLoaded;
/** The result of loading it from responses whose body is not bytes, or was consumed. */
let noBody;
before(async () => {
  ctxweave = await load("ctxweave");
  const wasm = () => detached(copied(readFileSync(resolve("ctxweave/ctxweave.wasm"))));
  const failed = (error) => error;
  notLoaded = [
    error(() => ctxweave.initSync(wasm())),
    error(() => ctxweave.initSync(wasm().buffer)),
    await ctxweave.init(wasm()).catch(failed),
  ];
  const read = streamOf(blob);
  await read.arrayBuffer();
  noBody = await Promise.all([streamOf("text"), read].map((source) => ctxweave.init(source).catch(failed)));
  await ctxweave.init();
  await (await load("ctxweave/commits")).init();
});

/** A response with one chunk. */
const streamOf = (chunk) =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(chunk);
        controller.close();
      },
    }),
  );

const utf8 = (text) => new TextEncoder().encode(text);
const session = readFileSync(join(root, "examples/sessions/codex-v1.jsonl"));
const image = Uint8Array.of(
  0x89,
  0x50,
  0x4e,
  0x47,
  0x0d,
  0x0a,
  0x1a,
  0x0a,
  0,
  0,
  0,
  13,
  0x49,
  0x48,
  0x44,
  0x52,
  0,
  0,
  0,
  9,
  0,
  0,
  0,
  9,
);

const tree = { nodes: [{ id: "a", content: "hello", authorType: "human" }], edges: [] };
const body = {
  tree,
  tip: "a",
  contextWindow: 8000,
  target: { provider: "openai", model: "gpt-4o", maxTokens: 100 },
};
const chatWith = (data) => [{ role: "user", content: [{ type: "image", image: data, mediaType: "image/png" }] }];
const record = (graph, blob, parent) =>
  graph.checkpoint({
    parent,
    format: "generic-v1",
    artifact_ref: ctxweave.artifactRef(blob),
    created_at: "2026-01-01T00:00:00Z",
    message_count: 1,
    principal: "p",
  }).record;
const blob = utf8('{"role":"user","content":"hi"}\n');

function graphWith() {
  const graph = new ctxweave.CommitGraph();
  return { graph, commit: record(graph, blob) };
}

/** Every function that takes bytes: the bytes, their name in errors, and the call. */
const CALLS = [
  ["artifactRef", blob, "blob", (bytes) => ctxweave.artifactRef(bytes)],
  ["importTranscript", session, "bytes", (bytes) => ctxweave.importTranscript("codex-v1", bytes, { principal: "p" })],
  ["detectFormat", session, "bytes", (bytes) => ctxweave.detectFormat(bytes)],
  ["transcriptToMessages", session, "bytes", (bytes) => ctxweave.transcriptToMessages("codex-v1", bytes)],
  ["transcriptToLoomTree", session, "bytes", (bytes) => ctxweave.transcriptToLoomTree("codex-v1", bytes)],
  [
    "translateTranscript",
    session,
    "parts[0].bytes",
    (bytes) => ctxweave.translateTranscript({ parts: [{ format: "codex-v1", bytes }], format: "generic-v1" }),
  ],
  ["new LoomTree", utf8(JSON.stringify(tree)), "tree", (bytes) => new ctxweave.LoomTree(bytes).toJSON()],
  ["requestBody", utf8(JSON.stringify(body)), "", (bytes) => ctxweave.requestBody(bytes)],
  ["requestBodyWithReport", utf8(JSON.stringify(body)), "", (bytes) => ctxweave.requestBodyWithReport(bytes)],
  [
    "fitMessages",
    image,
    "messages[0].content[0].image",
    (i) => ctxweave.fitMessages(chatWith(i), { maxTokens: 5000 }).report,
  ],
  ["measureMessages", image, "messages[0].content[0].image", (i) => ctxweave.measureMessages(chatWith(i))],
  [
    "importJsonl",
    () => graphWith().graph.exportJsonl(),
    "text",
    (bytes) => new ctxweave.CommitGraph().importJsonl(bytes),
  ],
  [
    "materialize",
    blob,
    /^blobs\[blake3:/,
    (bytes) => {
      const { graph, commit } = graphWith();
      return graph.materialize({ commit: commit.id }, new Map([[commit.artifact_ref, bytes]]));
    },
  ],
  [
    "ChainWalk.push",
    () => graphWith().graph.exportJsonl(),
    "records",
    (bytes) => new ctxweave.ChainWalk({ commit: graphWith().commit.id }).push(bytes),
  ],
  ["Checkpointer.push", blob, "message", (bytes) => checkpointer().push(bytes)],
  [
    "Checkpointer.compact",
    blob,
    "summary",
    (bytes) => {
      const session = checkpointer();
      session.push(blob);
      return session.compact(bytes, { created_at: "2026-01-01T00:00:00Z" });
    },
  ],
  [
    "parseTask",
    utf8('<task type="atomic"><description>d</description></task>'),
    "xml",
    (xml) => ctxweave.parseTask(xml),
  ],
  ["parseContextFile", utf8("# T"), "text", (text) => ctxweave.parseContextFile("AGENTS.md", text)],
  [
    "editContextFile",
    utf8("# T\n\n## S\n\n- a\n"),
    "text",
    (text) => ctxweave.editContextFile(text, { type: "append", section: "S", content: "- b" }),
  ],
  ["parseBrief", utf8("# Brief"), "", (text) => ctxweave.parseBrief(text)],
  ["planContextLoading", utf8("# Brief"), "brief", (brief) => ctxweave.planContextLoading({ brief })],
  ["readContext", utf8("notes"), "notes", (notes) => ctxweave.readContext({ notes })],
  ["readFullNotes", utf8("notes"), "notes", (notes) => ctxweave.readFullNotes({ notes })],
  [
    "vocabularyOf",
    utf8("{}"),
    "tokenizerJson",
    (bytes) => {
      try {
        return ctxweave.vocabularyOf(bytes);
      } catch (error) {
        if (/detached|out of bounds/.test(error.message)) throw error;
        return error.message;
      }
    },
  ],
  [
    "loadVocabulary",
    () => readFileSync(resolve("ctxweave/vocab/cl100k_base.bin")),
    "asset",
    (bytes) => ctxweave.loadVocabulary("cl100k_base", bytes),
  ],
];

const checkpointer = () => new ctxweave.Checkpointer({ principal: "p", format: "generic-v1", session_id: "s" });

const sourceOf = (given) => (typeof given === "function" ? given() : given);

/** Bytes in a separate buffer, fixed or resizable. */
function copied(bytes, options) {
  const copy = new Uint8Array(new ArrayBuffer(bytes.length, options));
  copy.set(bytes);
  return copy;
}

function detached(bytes) {
  structuredClone(bytes, { transfer: [bytes.buffer] });
  return bytes;
}

/** Unreadable bytes, and the error for them. */
const UNREADABLE = {
  "a detached view": [(bytes) => detached(copied(bytes)), "detached"],
  "a detached buffer": [(bytes) => detached(copied(bytes)).buffer, "detached"],
  "a detached DataView": [
    (bytes) => {
      const view = new DataView(copied(bytes).buffer);
      structuredClone(0, { transfer: [view.buffer] });
      return view;
    },
    "detached",
  ],
  "a detached subclass that claims to have bytes": [
    (bytes) => {
      const view = detached(copied(bytes));
      Object.defineProperties(view, { length: { value: 5 }, byteLength: { value: 5 } });
      return view;
    },
    "detached",
  ],
  "a view past the end of its buffer": [
    (bytes) => {
      const { buffer } = copied(bytes, { maxByteLength: bytes.length });
      const view = new Uint8Array(buffer, 1);
      buffer.resize(0);
      return view;
    },
    "out of bounds",
  ],
  "a DataView over the end of its buffer": [
    (bytes) => {
      const { buffer } = copied(bytes, { maxByteLength: bytes.length });
      const view = new DataView(buffer, 0, 2);
      buffer.resize(1);
      return view;
    },
    "out of bounds",
  ],
};

class Liar extends Uint8Array {
  get length() {
    return 3;
  }
  get byteLength() {
    return 2 ** 40;
  }
  get byteOffset() {
    return 7;
  }
  get buffer() {
    return new ArrayBuffer(1);
  }
  get [Symbol.toStringTag]() {
    throw new Error("no tag");
  }
}

/** Readable variants of the bytes. */
const READABLE = {
  "a buffer": (bytes) => copied(bytes).buffer,
  "a part of a buffer": (bytes) => {
    const larger = new Uint8Array(bytes.length + 9);
    larger.set(bytes, 4);
    return larger.subarray(4, 4 + bytes.length);
  },
  "a DataView": (bytes) => new DataView(copied(bytes).buffer),
  "a subclass that lies": (bytes) => {
    const liar = new Liar(bytes.length);
    Uint8Array.prototype.set.call(liar, bytes);
    return liar;
  },
  "shared memory": (bytes) => {
    const view = new Uint8Array(new SharedArrayBuffer(bytes.length));
    view.set(bytes);
    return view;
  },
  "a shared buffer": (bytes) => {
    const buffer = new SharedArrayBuffer(bytes.length);
    new Uint8Array(buffer).set(bytes);
    return buffer;
  },
  "a view as long as its buffer": (bytes) => copied(bytes, { maxByteLength: 2 * bytes.length }),
};

/** Another owner's handle. */
async function survives(run) {
  const other = new ctxweave.LoomTree(tree);
  try {
    await run();
    assert.equal(other.size.nodes, 1);
  } finally {
    other.free();
  }
}

const error = (run) => {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return assert.fail("nothing was thrown");
};

for (const [name, given, path, run] of CALLS) {
  test(`${name}: unreadable bytes are named, and no handle is lost`, () =>
    survives(() => {
      for (const [kind, [make, what]] of Object.entries(UNREADABLE)) {
        const thrown = error(() => run(make(sourceOf(given))));
        assert.ok(thrown instanceof ctxweave.CtxweaveError, `${kind}: ${thrown}`);
        assert.equal(thrown.code, "invalid_input", `${kind}: ${thrown.message}`);
        if (path instanceof RegExp) assert.match(thrown.details.path, path, kind);
        else assert.equal(thrown.details.path ?? "", path, `${kind}: ${thrown.message}`);
        const place = thrown.details.path === undefined ? "the request" : `\`${thrown.details.path}\``;
        assert.ok(thrown.message.startsWith(`${place} is ${what}: `), `${kind}: ${thrown.message}`);
        assert.ok(thrown.message.length < 240, thrown.message);
      }
    }));

  test(`${name}: bytes are read from any container, whatever its properties claim`, () =>
    survives(() => {
      const plain = run(copied(sourceOf(given)));
      for (const [kind, make] of Object.entries(READABLE)) {
        assert.deepEqual(run(make(sourceOf(given))), plain, kind);
      }
    }));
}

test("tokens are read from any container", () =>
  survives(() => {
    ctxweave.loadVocabulary("o200k_base", readFileSync(resolve("ctxweave/vocab/o200k_base.bin")));
    const options = { tokenizer: "o200k_base" };
    const ids = ctxweave.encodeTokens("hello world", options);
    class Tokens extends Uint32Array {
      get length() {
        return 1000;
      }
    }
    const shared = new Uint32Array(new SharedArrayBuffer(ids.byteLength));
    shared.set(ids);
    for (const run of [
      ctxweave.decodeTokens,
      (...args) => new TextDecoder().decode(ctxweave.decodeTokenBytes(...args)),
    ]) {
      assert.equal(run(new Tokens(ids), options), "hello world");
      assert.equal(run(shared, options), "hello world");
      const gone = ids.slice();
      structuredClone(gone, { transfer: [gone.buffer] });
      const { code, message } = error(() => run(gone, options));
      assert.deepEqual([code, message.startsWith("`ids` is detached: ")], ["invalid_input", true], message);
      assert.equal(error(() => run(new Proxy(ids, {}), options)).code, "invalid_input");
    }
  }));

test("bytes that a later field transfers are named", () =>
  survives(() => {
    const bytes = copied(session);
    const options = {
      get principal() {
        structuredClone(0, { transfer: [bytes.buffer] });
        return "p";
      },
    };
    const { code, message } = error(() => ctxweave.importTranscript("codex-v1", bytes, options));
    assert.deepEqual([code, message.startsWith("`bytes` is detached: ")], ["invalid_input", true], message);
  }));

test("tokens that the options transfer are named", () =>
  survives(() => {
    for (const run of [ctxweave.decodeTokens, ctxweave.decodeTokenBytes]) {
      const ids = Uint32Array.of(1, 2);
      const options = {
        get tokenizer() {
          if (ids.length > 0) structuredClone(0, { transfer: [ids.buffer] });
          return "o200k_base";
        },
      };
      const { code, message } = error(() => run(ids, options));
      assert.deepEqual([code, message.startsWith("`ids` is detached: ")], ["invalid_input", true], message);
    }
  }));

test("bytes that the caller's tokenizer transfers are named", () =>
  survives(() => {
    const bytes = copied(session);
    const count = () => {
      if (bytes.length > 0) structuredClone(0, { transfer: [bytes.buffer] });
      return 1;
    };
    const options = { principal: "p", tokenizer: { count } };
    const { code, message } = error(() => ctxweave.importTranscript("codex-v1", bytes, options));
    assert.deepEqual([code, message.startsWith("`bytes` is detached: ")], ["invalid_input", true], message);
  }));

test("blobs of a source that reuses its buffer are copied", () =>
  survives(() => {
    const graph = new ctxweave.CommitGraph();
    const first = utf8('{"role":"user","content":"one"}\n');
    const second = utf8('{"role":"user","content":"two"}\n');
    const one = record(graph, first);
    const two = record(graph, second, one.id);
    const buffer = new Uint8Array(first.length);
    const get = (ref) => {
      buffer.set(ref === one.artifact_ref ? first : second);
      return buffer;
    };
    const { bytes } = graph.materialize({ commit: two.id }, { get });
    assert.equal(new TextDecoder().decode(bytes), new TextDecoder().decode(first) + new TextDecoder().decode(second));
  }));

test("an object that only looks like bytes is rejected immediately", () =>
  survives(() => {
    const large = new Uint8Array(2 ** 23);
    for (const fake of [
      new Proxy(large, {}),
      Object.create(Uint8Array.prototype),
      Object.create(ArrayBuffer.prototype),
    ]) {
      for (const run of [ctxweave.artifactRef, ctxweave.detectFormat, (bytes) => new ctxweave.LoomTree(bytes)]) {
        const began = performance.now();
        const thrown = error(() => run(fake));
        assert.equal(thrown.code, "invalid_input", String(thrown));
        assert.ok(performance.now() - began < 2000);
      }
    }
    assert.doesNotThrow(
      () => ctxweave.fitMessages(chatWith(Object.create(Blob.prototype)), { maxTokens: 5000 }).report,
    );
  }));

test("a blob transferred while others were fetched is named", () =>
  survives(async () => {
    const { graph, commit } = graphWith();
    const fetchBlob = () => {
      const bytes = copied(blob);
      // Runs before anything has read it.
      queueMicrotask(() => queueMicrotask(() => structuredClone(0, { transfer: [bytes.buffer] })));
      return bytes;
    };
    await assert.rejects(ctxweave.materializeWith(graph, { commit: commit.id }, fetchBlob, { retries: 0 }), {
      code: "invalid_input",
    });
    let fetches = 0;
    const answers = {
      "is detached: ": () => detached(copied(blob)),
      "must be bytes": () => "text",
    };
    for (const [what, answer] of Object.entries(answers)) {
      const fetchBlob = async () => {
        fetches += 1;
        return answer();
      };
      const path = `fetchBlob(${commit.artifact_ref})`;
      const isNamed = ({ code, message, details }) =>
        code === "invalid_input" && details.path === path && message.startsWith(`\`${path}\` ${what}`);
      await assert.rejects(ctxweave.materializeWith(graph, { commit: commit.id }, fetchBlob), isNamed);
      const { stream, done } = ctxweave.materializeStream(graph, { commit: commit.id }, fetchBlob);
      await assert.rejects(stream.getReader().read(), isNamed);
      await assert.rejects(done, isNamed);
    }
    // It would return the same blob again.
    assert.equal(fetches, 4);
    await assert.rejects(
      ctxweave.materializeWith(graph, { commit: commit.id }, () => undefined),
      { code: "blob_missing" },
    );
  }));

test("a store keeps its bytes if the buffer changes later", async () => {
  const { CommitStore, memoryStore } = await load("ctxweave/stores");
  const store = memoryStore();
  const commits = new CommitStore(store, { retries: 0, delay: 1 });
  const bytes = copied(blob);
  const request = {
    format: "generic-v1",
    created_at: "2026-01-01T00:00:00Z",
    message_count: 1,
    principal: "p",
  };
  const stored = commits.checkpoint("main", request, bytes);
  structuredClone(0, { transfer: [bytes.buffer] });
  const { id } = await stored;
  assert.deepEqual(new Uint8Array(await commits.blob(id)), new Uint8Array(blob));
  await assert.rejects(commits.checkpoint("main", request, bytes), { code: "invalid_input" });
  const broken = { ...store, get: async (key) => (key.startsWith("blobs/") ? detached(copied(blob)) : store.get(key)) };
  await assert.rejects(new CommitStore(broken, { retries: 0, delay: 1 }).blob(id), /is detached/);
});

test("the module itself, and a vocabulary, are not loaded from a buffer that was transferred", async () => {
  for (const { code, message } of notLoaded) {
    assert.deepEqual([code, message.startsWith("`source` is detached: ")], ["invalid_input", true], message);
  }
  const { bytes } = await load("ctxweave/vocab/cl100k_base");
  await assert.rejects(bytes({ source: detached(copied(blob)) }), { code: "invalid_input" });
  for (const chunk of [detached(copied(blob)), "text", 5]) {
    await assert.rejects(bytes({ source: streamOf(chunk) }), {
      code: "invalid_input",
      details: { path: "options.source.body" },
    });
  }
  const read = streamOf(blob);
  await read.arrayBuffer();
  await assert.rejects(bytes({ source: read }), { code: "vocabulary_not_loaded" });
  assert.deepEqual(
    noBody.map(({ code, details }) => [code, details?.reason]),
    noBody.map(() => ["wasm_load_failed", "not_fetched"]),
  );
});
