/**
 * Every function that the packages export, with arguments that were spoiled somewhere: a result or a `CtxweaveError` that
 * names the mistake, and the next call works. Five cases of each by default, `CTXWEAVE_CASES=1x` for a hundred, or
 * `CTXWEAVE_CASES=1000`; `CTXWEAVE_SEED` repeats a run.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder, packages } from "../packaging/packed.mjs";
import { classSeedsOf, hooksOf, moduleOfVocabulary, seedsOf } from "./hostile-seeds.mjs";
import { Boom, copyOf, randomOf, spoil } from "./hostile-values.mjs";

const dir = folder("hostile");
const require = createRequire(join(dir, "x.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const FULL = 100;
const setting = process.env.CTXWEAVE_CASES ?? "5";
const CASES = setting.endsWith("x") ? Math.ceil(FULL * Number.parseFloat(setting)) : Number(setting);
const SEED = Number(process.env.CTXWEAVE_SEED ?? 1);
/** Milliseconds of one call, on a busy machine. */
const MAX_TIME = 20_000;

/** The entry points, from the packages' manifests. */
const entries = Object.keys(packages).flatMap((name) => {
  const { exports } = JSON.parse(readFileSync(require.resolve(`${name}/package.json`), "utf8"));
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [`${name}${path.slice(1)}`],
  );
});

const context = {};
const modules = new Map();
/** What was called, as `entry export`, `entry Class.method` or `entry hook()`. */
const reached = new Set();

before(async () => {
  for (const entry of entries) modules.set(entry, await load(entry));
  // They are tried before there is an instance, as they do nothing afterwards.
  for (const [entry, module] of modules) {
    for (const name of ["init", "initSync"]) if (name in module) await spoiled(entry, name, module[name]);
  }
  for (const module of modules.values()) {
    if (module !== modules.get("ctxweave/slim")) await module.init?.();
  }
  const wasm = readFileSync(require.resolve("ctxweave/ctxweave.wasm"));
  await modules.get("ctxweave/slim").init(wasm);
  for (const name of ["o200k_base", "cl100k_base"]) {
    for (const [entry, module] of modules) {
      if (entry !== "ctxweave-tiktoken") module.loadVocabulary?.(name, moduleOfVocabulary(name));
    }
  }
  context.all = modules.get("ctxweave");
  context.langchain = await load("@langchain/core/messages");
});

const unhandled = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, []));

/** Generators and streams do their work when they are read. */
async function consumed(result) {
  if (typeof result !== "object" || result === null) return;
  if (typeof result.done?.catch === "function") result.done.catch(() => undefined);
  if (result.stream instanceof ReadableStream) {
    const reader = result.stream.getReader();
    while (!(await reader.read()).done);
  } else if (typeof result.next === "function") {
    for (let reads = 0; reads < 5; reads += 1) if ((await result.next()).done) break;
  } else if (typeof result.free === "function") result.free();
}

/** What failed since the last look; a run goes on, so that it finds more than one defect. */
let failures = [];
function fail(what) {
  failures.push(what);
  trace(`FAILED ${what}`);
}
function stackOf(error) {
  return error instanceof Error ? error.stack : typeof error;
}
function assertNone() {
  const found = failures;
  failures = [];
  assert.equal(found.length, 0, found.slice(0, 20).join("\n"));
}

/** Errors of the caller's own code that the docs promise to pass on: of their functions, and the reason of a signal. */
function isCallers(error, what) {
  if (error instanceof Boom) return /abort|function that throws/.test(what + error.message);
  return (
    (/: a class /.test(what) && /Class constructor A/.test(error?.message)) ||
    (/: a revoked function /.test(what) && /Cannot perform 'apply'/.test(error?.message))
  );
}

async function settled(run, what) {
  const began = performance.now();
  const late = Symbol("late");
  let timer;
  const end = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late), MAX_TIME);
  });
  try {
    await Promise.race([(async () => consumed(await run()))(), end]);
  } catch (error) {
    const isOurs = error instanceof modules.get("ctxweave").CtxweaveError;
    if (error === late) fail(`${what}: does not settle`);
    else if (!isOurs && !isCallers(error, what)) fail(`${what}: ${stackOf(error)}`);
    else if (error.code === "internal_error") fail(`${what}: ${error.message}\n${stackOf(error.cause)}`);
  } finally {
    clearTimeout(timer);
  }
  const took = performance.now() - began;
  if (took > MAX_TIME) fail(`${what}: takes ${took} ms`);
}

function hashOf(text) {
  let hash = SEED;
  for (const char of text) hash = (Math.imul(hash, 31) + char.codePointAt(0)) | 0;
  return hash;
}

/** Functions whose arguments here are mistakes, as the valid ones would end the trial. */
const REFUSED = ["bytes", "indexedDbStore", "init", "initSync", "load", "loadVocabulary"];

/** Calls a function of an entry point with spoiled arguments; its valid arguments work. */
async function spoiled(entry, name, call) {
  const seeds = seedsOf(name);
  if (!REFUSED.includes(name)) {
    const valid = copyOf(seeds[0]?.({ ...context, module: modules.get(entry) }) ?? []);
    if (seeds.length > 0)
      await (async () => consumed(await call(...valid)))().catch((error) =>
        fail(`${entry} ${name}, (valid): ${stackOf(error)}`),
      );
  }
  const random = randomOf(hashOf(`${entry} ${name}`));
  for (let at = 0; at < CASES && seeds.length > 0; at += 1) {
    const args = copyOf(seeds[random(seeds.length)]({ ...context, module: modules.get(entry) }));
    const what = `${entry} ${name}: ${spoil(args, random)} (case ${at}, seed ${SEED})`;
    trace(what);
    await settled(() => call(...args), what);
    reached.add(`${entry} ${name}`);
    const hooks = hooksOf(name);
    if (hooks) await spoiledHook(entry, name, call, random);
  }
}

/** Calls what a hook or a maker of stores returns. */
async function spoiledHook(entry, name, make, random) {
  const [valid] = seedsOf(name);
  const hook = make(...valid({ ...context, module: modules.get(entry) }));
  for (const [method, seed] of Object.entries(hooksOf(name)(hook))) {
    const args = copyOf(seed(context));
    const what = `${entry} ${name}().${method}: ${spoil(args, random)} (seed ${SEED})`;
    trace(what);
    await settled(() => (method === "" ? hook(...args) : hook[method](...args)), what);
    reached.add(`${entry} ${name}()`);
  }
}

const methodsOf = (Class) =>
  Object.getOwnPropertyNames(Class.prototype).filter((method) => method !== "constructor" && isMethod(Class, method));
const isMethod = (Class, name) => typeof Object.getOwnPropertyDescriptor(Class.prototype, name).value === "function";

/** Plain data: `Error` itself converts its message. */
const PLAIN = ["CtxweaveError"];

/** Makes instances with spoiled arguments, and calls each method of valid instances with spoiled arguments. */
async function spoiledClass(entry, name, Class) {
  const seeds = classSeedsOf(name);
  const random = randomOf(hashOf(`${entry} ${name}`));
  const given = { ...context, module: modules.get(entry) };
  if (PLAIN.includes(name)) reached.add(`${entry} ${name}`);
  for (let at = 0; at < CASES && !PLAIN.includes(name); at += 1) {
    const args = copyOf(seeds[random(seeds.length)].construct(given));
    const what = `${entry} new ${name}: ${spoil(args, random)} (case ${at}, seed ${SEED})`;
    trace(what);
    await settled(() => new Class(...args), what);
    reached.add(`${entry} ${name}`);
  }
  for (const method of methodsOf(Class)) {
    const having = seeds.filter(({ methods }) => method in methods);
    for (let at = 0; at < CASES && having.length > 0; at += 1) {
      const { construct, prepare, methods } = having[random(having.length)];
      const instance = new Class(...construct(given));
      await prepare(instance, given);
      const args = copyOf(methods[method](given));
      const what = `${entry} ${name}.${method}: ${spoil(args, random)} (case ${at}, seed ${SEED})`;
      trace(what);
      await settled(() => instance[method](...args), what);
      reached.add(`${entry} ${name}.${method}`);
      // The instance is still valid, or was freed.
      if (typeof instance.free === "function") instance.free();
    }
  }
}

/** Where a run hung: the last line. */
function trace(what) {
  if (process.env.CTXWEAVE_TRACE) process.stderr.write(`${what}\n`);
}

const isClass = (value) => /^class\b/.test(Function.prototype.toString.call(value));

/** Code that the entry points share; its types have `createVocabulary` alone. */
const INTERNAL = ["ctxweave/vocab"];

for (const entry of entries) {
  test(`${entry}: hostile arguments`, { timeout: 3_600_000 }, async () => {
    const module = modules.get(entry);
    const work = module.countTokens ? () => module.countTokens("It works.") : () => undefined;
    const before = work();
    for (const [name, value] of Object.entries(module)) {
      if (typeof value !== "function" || ["init", "initSync", "reset"].includes(name)) continue;
      if (INTERNAL.includes(entry) && seedsOf(name).length === 0) continue;
      if (isClass(value)) await spoiledClass(entry, name, value);
      else await spoiled(entry, name, value);
      assert.equal(work(), before, `after ${name}`);
    }
    await new Promise((resolve) => setTimeout(resolve));
    assertNone();
  });
}

test("each export was called", () => {
  assertNone();
  const expected = [...modules].flatMap(([entry, module]) =>
    Object.entries(module).flatMap(([name, value]) => {
      // It ends the instance that the other calls use.
      if (typeof value !== "function" || name === "reset") return [];
      if (INTERNAL.includes(entry) && seedsOf(name).length === 0) return [];
      if (!isClass(value)) return [`${entry} ${name}`, ...(hooksOf(name) ? [`${entry} ${name}()`] : [])];
      return [`${entry} ${name}`, ...methodsOf(value).map((method) => `${entry} ${name}.${method}`)];
    }),
  );
  assert.deepEqual(
    expected.filter((name) => !reached.has(name)),
    [],
  );
  assert.ok(expected.length > 500, `${expected.length}`);
});
