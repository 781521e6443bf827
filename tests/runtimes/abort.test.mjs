/** Drivers aborted while a function of the caller never settles. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { folder } from "../packaging/packed.mjs";

const dir = folder("abort");
const load = (name) => import(pathToFileURL(createRequire(join(dir, "x.js")).resolve(name)).href);

let ctxweave;
let stores;
let aiSdk;
let langchain;
let openaiAgents;
before(async () => {
  ctxweave = await load("ctxweave");
  aiSdk = await load("ctxweave/ai-sdk");
  langchain = await load("ctxweave/langchain");
  openaiAgents = await load("ctxweave/openai-agents");
  stores = await load("ctxweave/stores");
  await ctxweave.init();
  await (await load("ctxweave/commits")).init();
});

const unhandled = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, []));

const blob = new TextEncoder().encode('{"role":"user","content":"hi"}\n');

function graphWith() {
  const graph = new ctxweave.CommitGraph();
  const { record } = graph.checkpoint({
    format: "generic-v1",
    artifact_ref: ctxweave.artifactRef(blob),
    created_at: "2026-01-01T00:00:00Z",
    message_count: 1,
    principal: "p",
  });
  return [graph, { commit: record.id }];
}

const task = `<task type="atomic"><description>d</description><context_management>
  <inherit_context>none</inherit_context><accumulate_data>false</accumulate_data><fresh_context>enabled</fresh_context>
</context_management></task>`;
const chat = Array.from({ length: 30 }, (_, at) => ({
  role: at % 2 === 0 ? "user" : "assistant",
  content: `message ${at} with some words in it`,
}));

const fork = JSON.stringify({
  timestamp: "2026-11-26T01:21:53.705Z",
  ordinal: 3,
  type: "session_meta",
  payload: { id: "fork", history_base: { thread_id: "root", end_ordinal_exclusive: 3 } },
});

const stored = { format: "generic-v1", created_at: "2026-01-01T00:00:00Z", principal: "p", ticket_id: "t" };

/** A store whose calls are `work`, with a commit that was stored before, and the id of the commit. */
async function storeOf(work, names = ["get", "put", "compareAndSet", "list", "ancestors"]) {
  const base = stores.memoryStore();
  const { id } = await new stores.CommitStore(base).checkpoint("main", stored, blob);
  const slow = { ...base, ...Object.fromEntries(names.map((name) => [name, (...args) => work(...args)])) };
  return [new stores.CommitStore(slow, { retries: 0 }), id];
}

/** A store with a commit whose blob only the caller can verify, and its id. */
async function foreignStore() {
  const [commits, id] = [stores.memoryStore(), "ctx-other"];
  const record = { id, version: 1, commit_type: "delta", artifact_ref: "sha256:abc", ...stored };
  await commits.put("blobs/abc", blob);
  await commits.compareAndSet(`records/${id}`, undefined, JSON.stringify(record));
  await commits.compareAndSet("heads/main", undefined, `1 ${id}`);
  return [new stores.CommitStore(commits, { retries: 0 }), id];
}

/** The methods of a `CommitStore`; the first step of a generator. */
const STORE_METHODS = {
  head: (commits, id, options) => commits.head("main", options),
  heads: (commits, id, options) => commits.heads(options).next(),
  checkpoint: (commits, id, options) => commits.checkpoint("main", { ...stored, parent: id }, blob, options),
  fork: (commits, id, options) => commits.fork(id, "fork", options),
  dropHead: (commits, id, options) => commits.dropHead("main", options),
  show: (commits, id, options) => commits.show(id, options),
  history: (commits, id, options) => commits.history(id, options).next(),
  resolve: (commits, id, options) => commits.resolve("p", "2026-02-01T00:00:00Z", options),
  updateMetadata: (commits, id, options) => commits.updateMetadata(id, { summary: "s" }, options),
  byTicket: (commits, id, options) => commits.byTicket("t", options).next(),
  byThread: (commits, id, options) => commits.byThread("t", options).next(),
  bySession: (commits, id, options) => commits.bySession("s", options).next(),
  lackingSummary: (commits, id, options) => commits.lackingSummary(options).next(),
  children: (commits, id, options) => commits.children(id, options).next(),
  tips: (commits, id, options) => commits.tips(options).next(),
  snapshot: (commits, id, options) => commits.snapshot("main", { created_at: 0 }, options),
  planMaterialization: (commits, id, options) => commits.planMaterialization({ commit: id }, options),
  materialize: (commits, id, options) => commits.materialize({ commit: id }, options),
  materializeStream: (commits, id, options) => commits.materializeStream({ commit: id }, options),
  blob: (commits, id, options) => commits.blob(id, options),
  garbage: (commits, id, options) => commits.garbage(options).next(),
};

/** The options of a hook whose function `name` is `work`. */
function hookOptions(name, work) {
  if (name === "onTooLong") return { maxTokens: 1, onTooLong: work };
  if (name === "summarize") return { maxTokens: 150, summarize: work };
  const states = { get: () => undefined, set: () => undefined, [name]: work };
  return { maxTokens: 150, states };
}

const prompt = chat.map(({ role, content }) => ({ role, content: [{ type: "text", text: content }] }));
const items = chat.map(({ role, content }) => ({ role, content }));
const langchainMessages = () =>
  chat.map(({ role, content }) => (role === "user" ? new HumanMessage(content) : new AIMessage(content)));

/** The hooks: a call with a signal in the options, and with that of the host's call. */
const HOOKS = {
  "ai-sdk fitMiddleware": {
    options: (options) => aiSdk.fitMiddleware(options).transformParams({ params: { prompt } }),
    call: (options, abortSignal) => aiSdk.fitMiddleware(options).transformParams({ params: { prompt, abortSignal } }),
  },
  "ai-sdk fitPrepareStep": { options: (options) => aiSdk.fitPrepareStep(options)({ messages: chat }) },
  "openai-agents fitModelInput": {
    options: (options) => openaiAgents.fitModelInput(options)({ modelData: { input: items } }),
  },
  "langchain fitMiddleware": {
    options: (options) =>
      langchain.fitMiddleware(options).wrapModelCall({ messages: langchainMessages() }, (request) => request.messages),
    call: (options, signal) =>
      langchain
        .fitMiddleware(options)
        .wrapModelCall({ messages: langchainMessages(), runtime: { signal } }, (request) => request.messages),
  },
  "langchain preModelHook": {
    options: (options) => langchain.preModelHook(options)({ messages: langchainMessages() }),
    call: (options, signal) => langchain.preModelHook(options)({ messages: langchainMessages() }, { signal }),
  },
};

const HOOK_DRIVERS = Object.entries(HOOKS).flatMap(([hook, { options, call }]) =>
  ["get", "set", "summarize", "onTooLong"].flatMap((name) => [
    [`${hook}, its ${name}`, async (work, signal) => options({ ...hookOptions(name, work), signal })],
    ...(call
      ? [[`${hook}, its ${name}, by the host`, async (work, signal) => call(hookOptions(name, work), signal)]]
      : []),
  ]),
);

/** Every driver that takes a signal: `work` is the caller's function. */
const DRIVERS = {
  ...Object.fromEntries(HOOK_DRIVERS),
  ...Object.fromEntries(
    Object.entries(STORE_METHODS).map(([name, act]) => [
      `CommitStore.${name}`,
      async (work, signal) => act(...(await storeOf(work)), { signal }),
    ]),
  ),
  ...Object.fromEntries(
    ["blob", "fork", "snapshot", "materialize"].map((name) => [
      `CommitStore.${name}, its verifyArtifact`,
      async (work, signal) => STORE_METHODS[name](...(await foreignStore()), { signal, verifyArtifact: work }),
    ]),
  ),
  materializeWith: (work, signal) => ctxweave.materializeWith(...graphWith(), work, { signal }),
  "materializeStream, its stream": async (work, signal) => {
    const { stream, done } = ctxweave.materializeStream(...graphWith(), work, { signal });
    done.catch(() => undefined);
    return stream.getReader().read();
  },
  "materializeStream, its end": async (work, signal) => {
    const { stream, done } = ctxweave.materializeStream(...graphWith(), work, { signal });
    stream
      .getReader()
      .read()
      .catch(() => undefined);
    return done;
  },
  assembleContextForTask: (work, signal) =>
    ctxweave.assembleContextForTask({ task: ctxweave.parseTask(task).task }, work, { signal }),
  fitMessagesWith: (work, signal) =>
    ctxweave.fitMessagesWith(chat, { maxTokens: 150, format: "openai" }, work, { signal }),
  loadContext: (work, signal) => ctxweave.loadContext(work, { signal }),
  runTask: (work, signal) =>
    ctxweave.runTask(
      { task: ctxweave.parseTask(task).task },
      { memory: () => ({ context: "c", matches: [] }), model: work, signal },
    ),
  "runTask, its memory": (work, signal) =>
    ctxweave.runTask({ task: ctxweave.parseTask(task).task }, { memory: work, model: () => ({ output: "" }), signal }),
  loadAgentFiles: (work, signal) => ctxweave.loadAgentFiles({ agent: "codex", cwd: "/" }, work, { signal }),
  joinFork: (work, signal) => ctxweave.joinFork(fork, work, { signal }),
  summarizeMissing: async (work, signal) => {
    const store = new stores.CommitStore(stores.memoryStore());
    await store.checkpoint("main", { format: "generic-v1", created_at: "2026-01-01T00:00:00Z" }, blob);
    return stores.summarizeMissing(store, work, { signal });
  },
  "summarizeMissing, its list": async (work, signal) =>
    stores.summarizeMissing((await storeOf(work, ["list"]))[0], () => "s", { signal }),
  "summarizeMissing, its blob": async (work, signal) => {
    const base = stores.memoryStore();
    await new stores.CommitStore(base).checkpoint("main", stored, blob);
    const get = (key) => (key.startsWith("blobs/") ? work(key) : base.get(key));
    return stores.summarizeMissing(new stores.CommitStore({ ...base, get }, { retries: 0 }), () => "s", { signal });
  },
  "summarizeMissing, its update": async (work, signal) =>
    stores.summarizeMissing((await storeOf(work, ["compareAndSet"]))[0], () => "s", { signal }),
};

/** Rejects within a second, with this reason. */
async function rejectsSoon(promise, reason) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("it does not settle")), 1000);
  });
  const outcome = Promise.race([promise, late]);
  await assert.rejects(outcome, (error) => {
    assert.equal(error, reason);
    return true;
  });
  clearTimeout(timer);
}

for (const [name, drive] of Object.entries(DRIVERS)) {
  for (const reason of [undefined, new Error("no longer wanted"), "a text"]) {
    const what = reason === undefined ? "an AbortError" : String(reason);

    test(`${name}: an abort ends it while the caller's function is pending (${what})`, async () => {
      const controller = new AbortController();
      let fail;
      let called;
      const begun = new Promise((resolve) => (called = resolve));
      const work = () => {
        called();
        return new Promise((_, reject) => (fail = reject));
      };
      const driven = drive(work, controller.signal);
      driven.catch(() => undefined);
      await begun;
      controller.abort(reason);
      await rejectsSoon(driven, controller.signal.reason);
      if (reason === undefined) assert.equal(controller.signal.reason.name, "AbortError");
      // A late result is ignored.
      fail(new Error("late"));
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
    });

    test(`${name}: with an aborted signal nothing is called (${what})`, async () => {
      const controller = new AbortController();
      controller.abort(reason);
      let calls = 0;
      const work = () => {
        calls += 1;
        return new Promise(() => undefined);
      };
      await rejectsSoon((async () => drive(work, controller.signal))(), controller.signal.reason);
      assert.equal(calls, 0);
    });
  }

  test(`${name}: an invalid signal is rejected before anything runs`, async () => {
    const throwing = {
      get aborted() {
        throw new Error("asked");
      },
    };
    for (const wrong of [{}, 5, "x", true, [], { aborted: false }, new AbortController(), throwing]) {
      let calls = 0;
      const work = () => {
        calls += 1;
        return Promise.reject(new Error("called"));
      };
      await assert.rejects((async () => drive(work, wrong))(), ({ name, code, message, details }) => {
        assert.equal(name, "CtxweaveError", message);
        assert.equal(code, "invalid_input", message);
        assert.match(details.path, /^(options|driver|config|request\.runtime)\.signal$|^call\.params\.abortSignal$/);
        assert.equal(
          message,
          `\`${details.path}\` must be an \`AbortSignal\`; pass the \`signal\` of an \`AbortController\``,
        );
        return true;
      });
      assert.equal(calls, 0);
    }
  });

  test(`${name}: a signal of another realm is accepted`, async () => {
    const controller = new AbortController();
    const { signal } = controller;
    // Without \`throwIfAborted\`, like polyfills.
    const foreign = {
      get aborted() {
        return signal.aborted;
      },
      get reason() {
        return signal.reason;
      },
      addEventListener: signal.addEventListener.bind(signal),
      removeEventListener: signal.removeEventListener.bind(signal),
    };
    controller.abort(new Error("gone"));
    await rejectsSoon((async () => drive(() => undefined, foreign))(), signal.reason);
  });

  test(`${name}: a signal that is never aborted has no effect, and keeps no listeners`, async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const failed = new Error("failed");
    const [with_, without] = await Promise.allSettled([
      drive(() => Promise.reject(failed), signal),
      drive(() => Promise.reject(failed), undefined),
    ]);
    assert.equal(with_.status, without.status);
    assert.equal(with_.reason?.message, without.reason?.message);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });
}

test("options other than an object are rejected", async () => {
  const none = () => undefined;
  for (const wrong of [null, 5, "x"]) {
    for (const run of [
      () => ctxweave.materializeWith(...graphWith(), none, wrong),
      () => ctxweave.materializeStream(...graphWith(), none, wrong),
      () => ctxweave.assembleContextForTask({ task: ctxweave.parseTask(task).task }, none, wrong),
      () => ctxweave.fitMessagesWith(chat, { maxTokens: 150 }, none, wrong),
      () => ctxweave.loadContext(none, wrong),
      () => new stores.CommitStore(stores.memoryStore()).materialize({ commit: "c" }, wrong),
      () => new stores.CommitStore(stores.memoryStore()).materializeStream({ commit: "c" }, wrong),
    ]) {
      await assert.rejects(async () => run(), { name: "CtxweaveError", code: "invalid_input" }, `${run} ${wrong}`);
    }
  }
  await assert.rejects(ctxweave.loadContext("notes"), { code: "invalid_input", details: { path: "readFile" } });
  await assert.rejects(new stores.CommitStore(stores.memoryStore()).materialize(null), { code: "invalid_input" });
});

test("the memory system, the summarizer and the reader of files receive the signal", async () => {
  const { signal } = new AbortController();
  const given = {};
  await ctxweave.assembleContextForTask(
    { task: ctxweave.parseTask(task).task },
    (_, about) => {
      given.memory = about.signal;
      return { context: "c", matches: [] };
    },
    { signal },
  );
  await ctxweave.fitMessagesWith(
    chat,
    { maxTokens: 150, format: "openai" },
    (_, about) => {
      given.summary = about.signal;
      return "in short";
    },
    { signal },
  );
  await ctxweave.loadContext(
    (_, about) => {
      given.file = about.signal;
    },
    { signal },
  );
  assert.deepEqual(Object.values(given), [signal, signal, signal]);
  await assert.rejects(
    ctxweave.fitMessagesWith(chat, { maxTokens: 150 }, () => "", { signals: signal }),
    { code: "invalid_input" },
  );
});

test("an aborted collection ends, so that others can collect and write", async () => {
  const store = stores.memoryStore();
  const commits = new stores.CommitStore(store, { delay: 1 });
  await commits.checkpoint("main", stored, blob);
  await commits.dropHead("main");
  const controller = new AbortController();
  const garbage = commits.garbage({ signal: controller.signal });
  assert.equal((await garbage.next()).done, false);
  controller.abort();
  await rejectsSoon(garbage.next(), controller.signal.reason);
  assert.equal((await garbage.next()).done, true);
  const other = commits.garbage();
  assert.equal((await other.next()).done, false);
  await other.return();
});

test("the summarizer of commits receives the signal", async () => {
  const { signal } = new AbortController();
  const [commits] = await storeOf(() => undefined, []);
  let given;
  const summarize = (record, bytes, about) => {
    given = about.signal;
    return "s";
  };
  await stores.summarizeMissing(commits, summarize, { signal });
  assert.equal(given, signal);
});

test("a hook ends on either signal, and its summarizer receives one that does", async () => {
  for (const which of ["own", "host"]) {
    const controllers = { own: new AbortController(), host: new AbortController() };
    const { own, host } = controllers;
    let given;
    const summarize = (_, { signal }) => {
      given = signal;
      return new Promise(() => undefined);
    };
    const options = { maxTokens: 150, summarize, signal: own.signal };
    const fitting = aiSdk.fitMiddleware(options).transformParams({ params: { prompt, abortSignal: host.signal } });
    fitting.catch(() => undefined);
    while (!given) await new Promise((resolve) => setTimeout(resolve, 5));
    const reason = new Error(which);
    controllers[which].abort(reason);
    await rejectsSoon(fitting, reason);
    assert.equal(given.reason, reason);
    for (const { signal } of [own, host]) assert.deepEqual(getEventListeners(signal, "abort"), []);
  }
});

test("a hook goes on after an aborted fit", async () => {
  const controller = new AbortController();
  let isPending = true;
  const states = new Map();
  const get = (key) => (isPending ? new Promise(() => undefined) : states.get(key));
  const set = (key, state) => void states.set(key, state);
  const { transformParams } = aiSdk.fitMiddleware({ maxTokens: 150, states: { get, set } });
  const aborted = transformParams({ params: { prompt, abortSignal: controller.signal } });
  aborted.catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 20));
  controller.abort();
  await rejectsSoon(aborted, controller.signal.reason);
  isPending = false;
  assert.ok((await transformParams({ params: { prompt } })).prompt.length < prompt.length);
});
