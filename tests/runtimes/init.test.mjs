/**
 * Loading: the sources of `init`, the errors for invalid ones, and recovery after a trap. Each test loads a new copy of
 * the package, in a separate worker thread.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Worker } from "node:worker_threads";
import { installed } from "../packaging/packed.mjs";

const dir = installed();
const wasm = readFileSync(join(dir, "node_modules/ctxweave/dist/ctxweave.wasm"));
const vocabulary = readFileSync(join(dir, "node_modules/ctxweave/dist/vocab/o200k_base.bin"));
const html = "<!doctype html>\n<html><body>not found</body></html>\n";

/** Path to content type, body, status. */
const answers = {
  "/ctxweave.wasm": ["application/wasm", wasm],
  "/octets.wasm": ["application/octet-stream", wasm],
  "/html.wasm": ["text/html", html],
  "/lying.wasm": ["text/html", wasm],
  "/text.wasm": ["text/plain", "hello"],
  "/torn.wasm": ["application/wasm", wasm.subarray(0, wasm.length / 2)],
  "/o200k_base.bin": ["application/octet-stream", vocabulary],
  "/html.bin": ["text/html", html],
  "/torn.bin": ["application/octet-stream", vocabulary.subarray(0, vocabulary.length / 2)],
};
let server;
let base;

before(async () => {
  server = createServer(({ url }, response) => {
    const [type, body] = answers[url] ?? ["text/html", html];
    const length = url === "/html.bin" ? {} : { "content-length": Buffer.byteLength(body) };
    response.writeHead(url in answers ? 200 : 404, { "content-type": type, ...length }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${server.address().port}`;
});

after(() => server.close());

/** Runs the body of an async function in a new copy of the package; `say` collects its results. */
async function fresh(entry, body) {
  const code = `
    const { parentPort } = require("node:worker_threads");
    const { readFileSync } = require("node:fs");
    const base = ${JSON.stringify(base)};
    const wasmPath = ${JSON.stringify(join(dir, "node_modules/ctxweave/dist/ctxweave.wasm"))};
    const said = [];
    const say = (what) => said.push(what);
    const failure = async (action) => {
      try { await action(); } catch (error) {
        return { isOurs: error instanceof ctxweave.CtxweaveError && error instanceof Error, code: error.code, message: error.message, details: error.details };
      }
      return undefined;
    };
    const vocabPath = ${JSON.stringify(join(dir, "node_modules/ctxweave/dist/vocab/o200k_base.bin"))};
    const exactly = { tokenizer: "o200k_base" };
    let ctxweave, vocab;
    (async () => {
      ctxweave = await import(${JSON.stringify(`file://${dir}/node_modules/ctxweave/dist/${entry}.js`)});
      vocab = await import(${JSON.stringify(`file://${dir}/node_modules/ctxweave/dist/vocab/o200k_base.node.js`)});
      ${body}
      parentPort.postMessage(said);
    })();`;
  const worker = new Worker(code, { eval: true, stdout: true, stderr: true });
  let printed = "";
  for (const stream of [worker.stdout, worker.stderr]) stream.on("data", (data) => (printed += data));
  try {
    const said = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    assert.equal(printed, "", "the console is silent");
    return said;
  } finally {
    await worker.terminate();
  }
}

test("every kind of source works for the wasm", async () => {
  const sources = {
    address: "base + '/ctxweave.wasm'",
    URL: "new URL(base + '/ctxweave.wasm')",
    Request: "new Request(base + '/ctxweave.wasm')",
    Response: "await fetch(base + '/ctxweave.wasm')",
    "promise of a Response": "fetch(base + '/ctxweave.wasm')",
    "bytes with the wrong type": "base + '/octets.wasm'",
    "wasm called HTML": "base + '/lying.wasm'",
    "file address": "new URL('file://' + wasmPath)",
    Uint8Array: "readFileSync(wasmPath)",
    ArrayBuffer: "new Uint8Array(readFileSync(wasmPath)).buffer",
    DataView: "(() => { const b = new Uint8Array(readFileSync(wasmPath)); return new DataView(b.buffer); })()",
    Module: "new WebAssembly.Module(readFileSync(wasmPath))",
    nothing: "undefined",
  };
  for (const [name, source] of Object.entries(sources)) {
    const said = await fresh("node", `await ctxweave.init(${source}); say(ctxweave.countTokens("hello world") > 0);`);
    assert.deepEqual(said, [true], name);
  }
  for (const source of ["readFileSync(wasmPath)", "new WebAssembly.Module(readFileSync(wasmPath))"]) {
    assert.deepEqual(
      await fresh("slim", `ctxweave.initSync(${source}); say(ctxweave.countTokens("hello world") > 0);`),
      [true],
    );
  }
});

test("init is idempotent: concurrent calls share one load, later ones are no-ops", async () => {
  const said = await fresh(
    "node",
    `let instances = 0;
    const { Instance } = WebAssembly;
    WebAssembly.Instance = function (...args) { instances += 1; return new Instance(...args); };
    await Promise.all([ctxweave.init(), ctxweave.init(), ctxweave.init()]);
    await ctxweave.init("http://127.0.0.1:1/never-asked-for");
    ctxweave.initSync(readFileSync(wasmPath));
    say(instances);`,
  );
  assert.deepEqual(said, [1]);
});

test("importing does not throw if the runtime lacks a decoder, and Node's is used", () => {
  for (const entry of ["node.js", "node.cjs", "index.cjs", "tokens/node.js", "tokens/index.cjs"]) {
    const code = `for (const name of ["TextDecoder", "TextEncoder"]) delete globalThis[name];
      const { encodeTokens, decodeTokens, init } = await import(${JSON.stringify(`file://${dir}/node_modules/ctxweave/dist/${entry}`)});
      const folder = ${JSON.stringify(`file://${dir}/node_modules/ctxweave/dist/vocab/o200k_base.node.`)};
      await init();
      await (await import(folder + ${JSON.stringify(entry.split(".")[1])})).load();
      const tokenizer = "o200k_base";
      console.log(decodeTokens(encodeTokens("吾輩は猫である".repeat(20), { tokenizer }), { tokenizer }).length);`;
    const args = ["--input-type=module", "-e", code];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    assert.deepEqual([stdout, stderr], ["140\n", ""], entry);
  }
});

test("a call before init throws an error with the solution", async () => {
  for (const entry of ["node", "slim", "inline"]) {
    for (const call of [
      "assembleDialogue({})",
      "assembleBuffer({})",
      "countTokens('')",
      "countTokensBatch([])",
      "countTokensUpTo('', 1)",
      "countChatTokens([])",
      "modelInfo('gpt-4o')",
      "loadVocabulary('o200k_base', new Uint8Array())",
    ]) {
      const [error] = await fresh(entry, `say(await failure(() => ctxweave.${call}));`);
      assert.equal(error?.code, "not_initialized", `${entry}: ${call}`);
      assert.ok(error.isOurs);
      assert.match(error.message, /await init\(\)/);
    }
  }
});

test("an invalid source is named, and init can be tried again", async () => {
  const wrong = [
    ["base + '/html.wasm'", "html", /HTML page came.*optimizeDeps: \{ exclude: \["ctxweave"\] \}/],
    ["base + '/missing.wasm'", "http_status", /answered 404/],
    ["base + '/text.wasm'", "not_wasm", /does not begin with/],
    ["base + '/torn.wasm'", "not_compiled", /could not be compiled/],
    ["'http://127.0.0.1:1/ctxweave.wasm'", "not_fetched", /could not be fetched/],
    ["new URL('file:///nowhere/ctxweave.wasm')", "not_readable", /could not be read.*`ctxweave.inline`/],
    ["new TextEncoder().encode('<!DOCTYPE html>')", "html", /HTML page/],
    ["42", "no_source", /no source for/],
    ["new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))", "not_ctxweave", /is not ctxweave's/],
    ["stale()", "version_mismatch", /of version 0\.0\.9/],
  ];
  for (const [source, reason, message] of wrong) {
    const [error, works] = await fresh(
      "node",
      `// An empty module with the version section.
      const stale = () => new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 0, 14, 8, ...Buffer.from("ctxweave0.0.9")]);
      say(await failure(() => ctxweave.init(${source})));
      await ctxweave.init();
      say(ctxweave.countTokens("hello world") > 0);`,
    );
    assert.ok(error, `${source} must fail`);
    assert.ok(error.isOurs, `${source}: ${error.message}`);
    assert.deepEqual([error.code, error.details.reason], ["wasm_load_failed", reason], source);
    assert.match(error.message, message);
    assert.match(error.message, /^[a-z`].*[^.]$/i, "no period at the end");
    assert.equal(works, true, `${source}: the next init works`);
  }
  const [error] = await fresh("slim", "say(await failure(() => ctxweave.init()));");
  assert.deepEqual([error.code, error.details.reason], ["wasm_load_failed", "no_source"]);
});

/** The module does not trap, so one of its functions is replaced by one that does, in the first instance only. */
const trapOnce = `
  const trap = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 116, 0, 0, 10, 5, 1, 3, 0, 0, 11]));
  const { Instance } = WebAssembly;
  const { t: unreachable } = new Instance(trap).exports;
  let instances = 0;
  WebAssembly.Instance = function (...args) {
    instances += 1;
    const { exports } = new Instance(...args);
    return { exports: instances > 1 ? exports : { ...exports, countTokens: unreachable } };
  };`;

test("after a trap the next call works, in a new instance", async () => {
  const [first, second, instances] = await fresh(
    "node",
    `${trapOnce}
    await ctxweave.init();
    say(await failure(() => ctxweave.countTokens("hello world")));
    say(ctxweave.countTokens("hello world") > 0);
    say(instances);`,
  );
  assert.ok(first?.isOurs, JSON.stringify(first));
  assert.equal(first.code, "internal_error");
  assert.match(first.message, /unreachable.*restarted/);
  assert.equal(second, true);
  assert.equal(instances, 2);
});

test("models are found by name, and a chat is counted with its overhead", async () => {
  const [known, unknown, counts] = await fresh(
    "node",
    `await Promise.all([ctxweave.init(), vocab.load()]);
    say(ctxweave.modelInfo("gpt-4o-2024-08-06"));
    say(ctxweave.modelInfo("no-such-model"));
    const count = (messages, options) => ctxweave.countChatTokens(messages, { ...exactly, ...options });
    const [hello, named] = [{ role: "user", content: "Hello, world!" }, { role: "user", content: "", name: "a" }];
    say([count([]), count([hello]), count([hello, named]), count([hello, named], { perMessage: 0, perName: 0, perRequest: 0 })]);`,
  );
  const { source, date } = known.price;
  assert.match(`${source}, ${date}`, /^LiteLLM [\d.]+, \d{4}-\d\d-\d\d$/);
  assert.deepEqual(known, {
    family: "openai",
    tokenizer: "o200k_base",
    contextWindow: 128_000,
    outputLimit: 16_384,
    preservedThinking: false,
    price: { input: 2.5, output: 10, cacheRead: 1.25, source, date },
  });
  assert.equal(unknown, undefined);
  assert.deepEqual(counts, [3, 3 + 3 + 1 + 4, 11 + 3 + 1 + 1 + 1, 7]);
});

test("a custom tokenizer counts in every function that counts", async () => {
  const [counts, thrown, wrong] = await fresh(
    "node",
    `await ctxweave.init();
    const tokenizer = { name: "words", count: (text) => text.split(" ").length };
    const { countTokens, countTokensBatch, countTokensUpTo, countChatTokens } = ctxweave;
    say([countTokens("a b c", { tokenizer }), [...countTokensBatch(["a", "b c"], { tokenizer })], countTokensUpTo("a b c", 2, { tokenizer }),
      countTokensUpTo("a b c", 3, { tokenizer }), countChatTokens([{ role: "user", content: "a b" }], { tokenizer })]);
    say(await failure(() => countTokens("a", { tokenizer: { count() { throw new Error("no") } } })));
    say(await failure(() => countTokens("a", { tokenizer: { count: () => 0.5 } })));`,
  );
  assert.deepEqual(counts, [3, [1, 2], null, 3, 3 + 3 + 1 + 2]);
  assert.equal(thrown.code, "tokenizer_failed");
  assert.match(thrown.message, /threw: no/);
  assert.equal(wrong.code, "tokenizer_failed");
});

test("a value other than a string throws an error that names it, without a trap", async () => {
  const calls = {
    "countTokens(42)": "text",
    "countTokens()": "text",
    "countTokensBatch('text')": "texts",
    "countTokensBatch(['a', 1])": "texts[1]",
    "countTokensUpTo({}, 1)": "text",
    "countTokensUpTo('a', -1)": "limit",
    "countTokensUpTo('a', NaN)": "limit",
    "modelInfo(4)": "name",
    "loadVocabulary(1, new Uint8Array())": "name",
    "loadVocabulary('o200k_base', 'bytes')": "asset",
  };
  for (const [call, path] of Object.entries(calls)) {
    const [error] = await fresh("node", `await ctxweave.init(); say(await failure(() => ctxweave.${call}));`);
    assert.ok(error?.isOurs, call);
    assert.deepEqual([error.code, error.details], ["invalid_input", { path }], call);
  }
  const limits = "[0, 0.5, 1e6, 2 ** 40, Infinity].map((limit) => ctxweave.countTokensUpTo('hello', limit))";
  const [counts] = await fresh("node", `await ctxweave.init(); say(${limits});`);
  assert.deepEqual(counts.slice(0, 2), [null, null]);
  assert.ok(counts[2] > 0);
  assert.deepEqual(counts.slice(3), [counts[2], counts[2]]);
});

test("unreadable options of a count throw an error, without a trap", async () => {
  const wrong = {
    "{ tokenizer: 5 }": [{ path: "options.tokenizer" }, /must be a tokenizer's name/],
    "{ get tokenizer() { throw new Error('not now'); } }": [{ path: "options.tokenizer" }, /reading it threw: not now/],
    "new Proxy({}, { get() { throw new Error('not now'); } })": [{ path: "options" }, /threw: not now/],
    "'heuristic'": [{ path: "options" }, /must be options, an object/],
  };
  for (const [options, [details, message]] of Object.entries(wrong)) {
    for (const call of ["countTokens('a',", "countTokensBatch(['a'],", "countTokensUpTo('a', 1,"]) {
      const [error, count] = await fresh(
        "node",
        `await ctxweave.init();
        say(await failure(() => ctxweave.${call} ${options})));
        say(ctxweave.countTokens("hello", { tokenizer: "heuristic" }) === ctxweave.countTokens("hello", null));`,
      );
      assert.ok(error?.isOurs, options);
      assert.deepEqual([error.code, error.details], ["invalid_input", details], options);
      assert.match(error.message, message);
      assert.equal(count, true);
    }
  }
});

test("every kind of source works for a vocabulary, with progress", async () => {
  const total = vocabulary.length;
  const sources = {
    nothing: "undefined",
    address: "base + '/o200k_base.bin'",
    URL: "new URL(base + '/o200k_base.bin')",
    Request: "new Request(base + '/o200k_base.bin')",
    Response: "await fetch(base + '/o200k_base.bin')",
    "promise of a Response": "fetch(base + '/o200k_base.bin')",
    "file address": "new URL('file://' + vocabPath)",
    bytes: "readFileSync(vocabPath)",
    ArrayBuffer: "new Uint8Array(readFileSync(vocabPath)).buffer",
  };
  for (const [name, source] of Object.entries(sources)) {
    const [count, seen] = await fresh(
      "node",
      `const seen = [];
      await ctxweave.init();
      await vocab.load({ source: ${source}, onProgress: (...sizes) => seen.push(sizes) });
      say(ctxweave.countTokens("<|endoftext|>", exactly));
      say(seen);`,
    );
    assert.equal(count, 7, name);
    assert.deepEqual(seen.at(-1), [total, total], name);
    assert.ok(
      seen.every(([, stated]) => stated === total),
      name,
    );
    if (/address|URL|Re/.test(name) && name !== "file address")
      assert.ok(seen.length > 1, `${name}: it arrives in pieces`);
  }
});

test("a vocabulary may be loaded while init is pending, not without it", async () => {
  for (const start of ["[ctxweave.init(), vocab.load()]", "[vocab.load(), ctxweave.init()]"]) {
    const body = `await Promise.all(${start}); say(ctxweave.countTokens("<|endoftext|>", exactly));`;
    assert.deepEqual(await fresh("node", body), [7], start);
  }
  const [error, byHand, count] = await fresh(
    "node",
    `say(await failure(() => vocab.load()));
    say(await failure(() => ctxweave.loadVocabulary("o200k_base", readFileSync(vocabPath))));
    await ctxweave.init();
    await vocab.load();
    say(ctxweave.countTokens("<|endoftext|>", exactly));`,
  );
  assert.equal(error.code, "not_initialized");
  assert.match(error.message, /await init\(\)/);
  assert.equal(byHand.code, "not_initialized");
  assert.equal(count, 7, "the next load works");
});

test("loading a vocabulary is idempotent, and a no-op after loadVocabulary", async () => {
  const [loads, count] = await fresh(
    "node",
    `await ctxweave.init();
    let loads = 0;
    const source = () => ({ then(resolve) { loads += 1; resolve(readFileSync(vocabPath)); } });
    await Promise.all([vocab.load({ source: source() }), vocab.load({ source: source() })]);
    await vocab.load({ source: source() });
    say(loads);
    say(ctxweave.countTokens("<|endoftext|>", exactly));`,
  );
  assert.deepEqual([loads, count], [1, 7]);
  const body = `await ctxweave.init();
    ctxweave.loadVocabulary("o200k_base", readFileSync(vocabPath));
    await vocab.load({ source: "http://127.0.0.1:1/never-asked-for" });
    say((await vocab.bytes()).length);`;
  assert.deepEqual(await fresh("node", body), [vocabulary.length]);
});

test("an invalid vocabulary is named, and load can be tried again", async () => {
  const wrong = [
    ["base + '/html.bin'", "invalid_vocabulary", "html", /HTML page came.*optimizeDeps: \{ exclude: \["ctxweave"\] \}/],
    ["base + '/missing.bin'", "vocabulary_not_loaded", "http_status", /answered 404/],
    ["'http://127.0.0.1:1/o200k_base.bin'", "vocabulary_not_loaded", "not_fetched", /could not be fetched/],
    ["new URL('file:///nowhere/o200k_base.bin')", "vocabulary_not_loaded", "not_readable", /could not be read/],
    ["42", "vocabulary_not_loaded", "no_source", /no source for/],
    ["base + '/torn.bin'", "invalid_vocabulary", undefined, /o200k_base/],
    ["readFileSync(wasmPath)", "invalid_vocabulary", undefined, /o200k_base/],
  ];
  for (const [source, code, reason, message] of wrong) {
    const [error, count] = await fresh(
      "node",
      `await ctxweave.init();
      say(await failure(() => vocab.load({ source: ${source} })));
      await vocab.load();
      say(ctxweave.countTokens("<|endoftext|>", exactly));`,
    );
    assert.ok(error?.isOurs, `${source}: ${error?.message}`);
    assert.equal(error.code, code, source);
    if (reason) assert.equal(error.details.reason, reason, source);
    assert.equal(error.details.tokenizer, "o200k_base");
    assert.match(error.message, message);
    assert.match(error.message, /^[a-z`].*[^.]$/i, "no period at the end");
    assert.equal(count, 7, `${source}: the next load works`);
  }
});

test("a loaded vocabulary survives a trap", async () => {
  const [first, second, ...counts] = await fresh(
    "node",
    `${trapOnce}
    await ctxweave.init();
    const bytes = new Uint8Array(readFileSync(vocabPath));
    ctxweave.loadVocabulary("o200k_base", bytes);
    bytes.fill(0);
    say((await failure(() => ctxweave.countTokens("hello world", exactly))).code);
    say(instances);
    say(ctxweave.countTokens("<|endoftext|>", exactly));`,
  );
  assert.deepEqual([first, second, ...counts], ["internal_error", 2, 7]);
});
