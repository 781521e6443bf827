/** Unreadable arguments, for every function and method: each error is a `CtxweaveError`, and no handle is lost. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { HumanMessage } from "@langchain/core/messages";
import { folder } from "../packaging/packed.mjs";

const dir = folder("arguments");
const load = (name) => import(pathToFileURL(createRequire(join(dir, "x.js")).resolve(name)).href);

const MODULES = ["ctxweave", "ctxweave/stores", "ctxweave/import", "ctxweave/ai-sdk", "ctxweave/openai-agents"];

let ctxweave;
let stores;
let modules;
before(async () => {
  modules = await Promise.all(MODULES.map(load));
  [ctxweave, stores] = modules;
  for (const name of [...MODULES, "ctxweave/chat", "ctxweave/commits"]) await (await load(name)).init?.();
});

const unhandled = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, []));

const transferred = (view) => {
  structuredClone(0, { transfer: [view.buffer] });
  return view;
};
const revoked = (target) => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};
const throws = () => {
  throw new Error("asked");
};

/** Arguments of functions; created each time, because some functions change them. */
const ARGUMENTS = {
  bytes: () => transferred(new Uint8Array(9)),
  "a buffer": () => transferred(new Uint8Array(9)).buffer,
  "a DataView": () => transferred(new DataView(new ArrayBuffer(9))),
  tokens: () => transferred(Uint32Array.of(1, 2)),
  "a list of bytes": () => [transferred(new Uint8Array(9))],
  "a Map of bytes": () => new Map([["ref", transferred(new Uint8Array(9))]]),
  "fields of bytes": () =>
    Object.fromEntries(["bytes", "text", "notes"].map((name) => [name, transferred(new Uint8Array(9))])),
  "an invalid signal": () => ({ signal: {} }),
  "a controller": () => ({ signal: new AbortController() }),
  "a signal with a getter": () => ({
    signal: {
      get aborted() {
        return throws();
      },
    },
  }),
  "a getter of the signal": () => ({
    get signal() {
      return throws();
    },
  }),
  "a getter": () => ({
    get messages() {
      return throws();
    },
    get target() {
      return throws();
    },
  }),
  "a proxy": () => new Proxy({}, { get: throws, has: throws, ownKeys: throws, getPrototypeOf: throws }),
  "a revoked proxy": () => revoked({}),
  "a revoked list": () => revoked([]),
  holes: () => new Array(3),
  "a cycle": () => {
    const cycle = {};
    cycle.cycle = cycle;
    return cycle;
  },
  "no JSON": () => ({ toJSON: () => undefined }),
  null: () => null,
  "a number": () => 5,
  "a BigInt": () => 5n,
  "a symbol": () => Symbol("s"),
  "an object": () => ({}),
};

const message = { role: "user", content: "hi" };
const tree = { nodes: [{ id: "a", content: "hello", authorType: "human" }], edges: [] };

/** Arguments before the tested one. */
const BEFORE = [
  [],
  ["text"],
  [{}],
  [[message]],
  [() => undefined],
  [{}, () => undefined],
  [[message], { maxTokens: 99 }, () => "s"],
];

const HANDLES = {
  LoomTree: () => new ctxweave.LoomTree(tree),
  Chat: () => new ctxweave.Chat({ maxTokens: 1000 }),
  CommitGraph: () => new ctxweave.CommitGraph(),
  Checkpointer: () => new ctxweave.Checkpointer({ principal: "p", format: "generic-v1", session_id: "s" }),
  TokenCounter: () => new ctxweave.TokenCounter(),
  ChainWalk: () => new ctxweave.ChainWalk({ commit: "ctx-0123456789abcdef" }),
  CommitStore: () => new stores.CommitStore(stores.memoryStore(), { retries: 0, delay: 1 }),
};

/** Not called: `init` takes what a browser fetches, and the error class takes anything. */
const LEFT_OUT = ["init", "initSync", "reset", "CtxweaveError", "indexedDbStore"];

const isClass = (value) => Function.prototype.toString.call(value).startsWith("class");
const soon = () => new Promise((resolve) => setTimeout(resolve, 50));

function functionsOf(module) {
  return Object.entries(module).filter(([name, value]) => typeof value === "function" && !LEFT_OUT.includes(name));
}

/** The error thrown immediately or later. A driver that waits for more is abandoned. */
async function thrownBy(run) {
  try {
    const result = run();
    result?.done?.catch(() => undefined);
    await Promise.race([typeof result?.next === "function" ? result.next() : result, soon()]);
  } catch (error) {
    return error;
  }
  return undefined;
}

async function check(what, run) {
  const other = new ctxweave.LoomTree(tree);
  try {
    const error = await thrownBy(run);
    if (error !== undefined) {
      assert.ok(error instanceof ctxweave.CtxweaveError, `${what}: ${error?.stack ?? error}`);
      assert.notEqual(error.code, "internal_error", `${what}: ${error.message}`);
    }
    assert.equal(other.size.nodes, 1, what);
  } finally {
    other.free();
  }
}

for (const [at, name] of MODULES.entries()) {
  test(`functions of ${name}`, async () => {
    for (const [called, value] of functionsOf(modules[at])) {
      for (const [kind, argument] of Object.entries(ARGUMENTS)) {
        if (isClass(value)) await check(`new ${called}(${kind})`, () => new value(argument()));
        else
          for (const [index, before] of BEFORE.entries()) {
            const after = index === 0 ? [() => undefined] : [];
            await check(`${called} ${index}, ${kind}`, () => value(...before, argument(), ...after));
          }
      }
    }
  });
}

test("methods", async () => {
  for (const [name, make] of Object.entries(HANDLES)) {
    const { prototype } = name === "CommitStore" ? stores.CommitStore : ctxweave[name];
    for (const method of Object.getOwnPropertyNames(prototype)) {
      const { value } = Object.getOwnPropertyDescriptor(prototype, method);
      if (method === "constructor" || typeof value !== "function") continue;
      for (const [kind, argument] of Object.entries(ARGUMENTS)) {
        for (const before of [[], ["a"], [{}]]) {
          const handle = make();
          await check(`${name}.${method}(${before.length > 0}, ${kind})`, () => handle[method](...before, argument()));
          handle.free?.();
        }
      }
    }
  }
});

test("the error names the path, and its cause is what was thrown", async () => {
  const failed = new Error("asked");
  const options = {
    get signal() {
      throw failed;
    },
  };
  for (const [path, run] of [
    ["options.signal", () => ctxweave.materializeWith(new ctxweave.CommitGraph(), { commit: "c" }, throws, options)],
    ["options.signal", () => ctxweave.assembleContextForTask({}, throws, options)],
    ["driver.signal", () => ctxweave.fitMessagesWith([message], { maxTokens: 9 }, throws, options)],
    [
      "plan",
      () =>
        new ctxweave.CommitGraph().materialize(
          {
            get commit() {
              throw failed;
            },
          },
          new Map(),
        ),
    ],
    [
      "options",
      () =>
        new ctxweave.Chat({
          get maxTokens() {
            throw failed;
          },
        }),
    ],
    [
      "message",
      () =>
        HANDLES.Checkpointer().push({
          get role() {
            throw failed;
          },
        }),
    ],
  ]) {
    const error = await thrownBy(run);
    assert.deepEqual([error.code, error.details, error.cause], ["invalid_input", { path }, failed], error.message);
    assert.equal(error.message, `\`${path}\` cannot be read: reading it threw: asked`);
  }
  const holes = await thrownBy(() => ctxweave.countTokensBatch(new Array(2)));
  assert.deepEqual([holes.code, holes.details], ["invalid_input", { path: "texts[0]" }]);
});

test("the drop-ins name what fails after it was read once", async () => {
  const [aiSdk, langchain] = await Promise.all(["ctxweave/ai-sdk", "ctxweave/langchain"].map(load));
  const tools = new Proxy(["search"], { get: (list, key) => (key === "includes" ? throws() : list[key]) });
  const messages = [
    { role: "user", content: "hi" },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "1", toolName: "search", input: {} }] },
    { role: "user", content: "and?" },
  ];
  const pruned = (tools) => aiSdk.pruneMessages({ messages, toolCalls: [{ type: "all", tools }] });
  assert.deepEqual(pruned(tools), pruned(["search"]));

  const options = { maxTokens: 4, tokenCounter: (list) => 3 * list.length, allowPartial: true };
  const list = ["one two", "three four", "five six"].map((text) => new HumanMessage(text));
  let failed = 0;
  for (let reads = 0; reads < 20; reads++) {
    let left = reads;
    const fails = (target, key) => (key === "getType" && left-- <= 0 ? throws() : Reflect.get(target, key));
    const hostile = list.map((message) => new Proxy(message, { get: fails }));
    const error = await thrownBy(() => langchain.trimMessages(hostile, options));
    if (error === undefined) continue;
    failed++;
    assert.ok(error instanceof ctxweave.CtxweaveError, error.stack);
  }
  assert.ok(failed > 3, `${failed} failed`);
});

test("a list that is sparse or too long is rejected by hooks at once", async () => {
  const [aiSdk, langchain, agents] = await Promise.all(
    ["ctxweave/ai-sdk", "ctxweave/langchain", "ctxweave/openai-agents"].map(load),
  );
  const sparse = [];
  sparse.length = 2 ** 32 - 1;
  const options = { maxTokens: 99 };
  const [wrapped, filter] = [langchain.fitMiddleware(options), agents.fitModelInput(options)];
  for (const [path, run] of [
    ["step.instructions", () => aiSdk.fitPrepareStep(options)({ messages: [message], instructions: sparse })],
    ["request.tools", () => wrapped.wrapModelCall({ messages: [new HumanMessage("hi")], tools: sparse }, throws)],
    ["call.agent.tools", () => filter({ modelData: { input: [message] }, agent: { tools: sparse } })],
  ]) {
    const error = await run().then(
      () => undefined,
      (thrown) => thrown,
    );
    assert.ok(error instanceof ctxweave.CtxweaveError, `${path}: ${error?.stack}`);
    assert.match(error.message, new RegExp(path.replaceAll(".", "\\.")));
  }
});

test("a run without its task is named", async () => {
  const options = { memory: throws, model: throws };
  for (const [path, input] of [
    ["input.run", { run: 5 }],
    ["input.run.task", { run: {} }],
    ["input.run.task", { run: { task: {} }, nested: { step: { run: {} } } }],
  ]) {
    await assert.rejects(ctxweave.runTask(input, options), { code: "invalid_input", details: { path } });
  }
});

test("a marker that changes between two reads is named", () => {
  let reads = 0;
  const options = {
    get marker() {
      return reads++ === 0 ? "…" : [];
    },
  };
  const expected = { code: "invalid_input", details: { path: "options.marker" } };
  assert.throws(() => ctxweave.truncateText("word ".repeat(50), 9, options), expected);
});
