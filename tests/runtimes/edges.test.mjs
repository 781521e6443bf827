/** Mistakes of callers and hosts: each is a `CtxweaveError` that names what is wrong. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder } from "../packaging/packed.mjs";

const dir = folder("edges");
const urlOf = (name) => pathToFileURL(createRequire(join(dir, "x.js")).resolve(name)).href;

let ctxweave;
before(async () => {
  ctxweave = await import(urlOf("ctxweave"));
  await ctxweave.init();
});

const message = { role: "user", content: "hi" };

function thrownBy(run) {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ctxweave.CtxweaveError, error?.stack ?? String(error));
    assert.notEqual(error.code, "internal_error", error.message);
    return error;
  }
  return assert.fail("nothing was thrown");
}

test("a list whose length lies is too large, and is not visited", () => {
  const sparse = [];
  sparse.length = 2 ** 32 - 1;
  const liar = new Proxy([], { get: (list, key) => (key === "length" ? 2 ** 53 - 1 : list[key]) });
  const pinned = () => false;
  for (const list of [sparse, liar]) {
    for (const [name, run] of Object.entries({
      fitMessages: () => ctxweave.fitMessages(list, { maxTokens: 99 }),
      pinned: () => ctxweave.fitMessages(list, { maxTokens: 99, pinned }),
      convertMessages: () => ctxweave.convertMessages(list, { to: "openai" }),
      countChatTokens: () => ctxweave.countChatTokens(list),
      chatToLoomTree: () => ctxweave.chatToLoomTree(list),
      container: () => ctxweave.countChatTokens({ messages: list }),
      decodeTokens: () => ctxweave.decodeTokens(list, { tokenizer: "o200k_base" }),
    })) {
      const error = thrownBy(run);
      assert.equal(error.code, "limit_exceeded", `${name}: ${error.message}`);
    }
  }
});

test("a revoked source of a materialization is named", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const fetchBlob = () => undefined;
  const error = await ctxweave.materializeWith(proxy, { commit: "c" }, fetchBlob).catch((error) => error);
  assert.ok(error instanceof ctxweave.CtxweaveError, String(error));
  const streamed = thrownBy(() => ctxweave.materializeStream(proxy, { commit: "c" }, fetchBlob));
  assert.deepEqual([error.details, streamed.details], [{ path: "source" }, { path: "source" }]);
});

test("errors keep their message in JSON", () => {
  const error = thrownBy(() => ctxweave.fitMessages([message], { maxTokens: -1 }));
  const { name, code, message: text, details } = error;
  assert.deepEqual(JSON.parse(JSON.stringify(error)), { name, code, message: text, details });
});

test("an unbound method and a copy of a handle are told from a freed one", () => {
  for (const [handle, method] of [
    [new ctxweave.Chat({ maxTokens: 99 }), "append"],
    [new ctxweave.TokenCounter(), "append"],
    [new ctxweave.CommitGraph(), "commits"],
    [new ctxweave.LoomTree({ nodes: [], edges: [] }), "path"],
  ]) {
    const unbound = handle[method];
    const copy = Object.create(Object.getPrototypeOf(handle));
    for (const run of [() => unbound("a"), () => copy[method]("a"), () => copy.free()]) {
      const error = thrownBy(run);
      assert.deepEqual([error.code, error.details], ["invalid_input", { path: "this" }], error.message);
    }
    handle.free();
    handle.free();
    assert.equal(thrownBy(() => handle[method]("a")).code, "handle_freed");
  }
});

test("a list passed to `append` is named", () => {
  const chat = new ctxweave.Chat({ maxTokens: 99 });
  const error = thrownBy(() => chat.append([message]));
  assert.match(error.message, /^`messages\[0\]` must be a message, not a list; pass the messages/);
  assert.equal(chat.length, 0);
  chat.free();
});

test("`tokenizer_failed` has the cause", () => {
  const failed = new Error("asked");
  let fails = true;
  const tokenizer = {
    count: (text) => {
      if (fails) throw failed;
      return text.length;
    },
  };
  for (const run of [
    () => ctxweave.countTokens("a", { tokenizer }),
    () => ctxweave.countChatTokens([message], { tokenizer }),
    () => new ctxweave.Chat({ maxTokens: 99, tokenizer }).append(message),
  ]) {
    const error = thrownBy(run);
    assert.deepEqual([error.code, error.cause], ["tokenizer_failed", failed]);
  }
  const wrong = thrownBy(() => ctxweave.countTokens("a", { tokenizer: { count: () => -1 } }));
  assert.deepEqual([wrong.code, wrong.cause], ["tokenizer_failed", undefined]);
  fails = false;
  assert.equal(ctxweave.countTokens("abc", { tokenizer }), 3);
});

test("what JSON would lose is named", () => {
  const options = { principal: "p", format: "generic-v1", session_id: "s" };
  const cycle = {};
  cycle.self = cycle;
  for (const lost of [1n, NaN, Infinity, new Map(), new Set(), () => 1, Symbol("s"), new Uint8Array(2)]) {
    const checkpointer = new ctxweave.Checkpointer(options);
    const error = thrownBy(() => checkpointer.push({ role: "user", content: "a", more: [{ lost }] }));
    assert.deepEqual([error.code, error.details], ["invalid_input", { path: "message.more[0].lost" }], String(lost));
    assert.equal(checkpointer.position, 0);
    checkpointer.free();
    assert.equal(thrownBy(() => ctxweave.vocabularyOf({ model: lost })).details.path, "tokenizerJson.model");
    const target = { provider: "openai", model: "gpt-4o", metadata: { lost } };
    const chat = new ctxweave.Chat({ maxTokens: 99, target });
    chat.append(message);
    assert.equal(thrownBy(() => chat.requestBody()).details.path, "body.metadata.lost");
    chat.free();
  }
  const checkpointer = new ctxweave.Checkpointer(options);
  thrownBy(() => checkpointer.push(cycle));
  checkpointer.push({ role: "user", content: "a", at: new Date(0), none: undefined });
  checkpointer.free();
  const graph = new ctxweave.CommitGraph();
  assert.equal(thrownBy(() => graph.snapshot(undefined)).code, "invalid_input");
  for (const ids of [[1n], [NaN], [true], ["1"]]) {
    assert.equal(thrownBy(() => ctxweave.decodeTokens(ids, { tokenizer: "o200k_base" })).code, "invalid_input");
  }
  graph.free();
});

/** What `init` of a new process throws after `code` ran. */
function initAfter(code, entry = "ctxweave") {
  const program = `
    const { init } = await import(${JSON.stringify(urlOf(entry))});
    ${code}
    const error = await init().then(() => undefined, (error) => error);
    console.log(JSON.stringify({ code: error?.code, details: error?.details, message: error?.message }));`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }));
}

test("hosts without WebAssembly or DecompressionStream are named", () => {
  const none = initAfter("delete globalThis.WebAssembly;");
  assert.deepEqual([none.code, none.details], ["wasm_unavailable", { missing: "WebAssembly" }], none.message);
  const packed = initAfter(
    "delete globalThis.DecompressionStream; process.getBuiltinModule = undefined;",
    "ctxweave/inline",
  );
  assert.deepEqual([packed.code, packed.details], ["wasm_unavailable", { missing: "DecompressionStream" }]);
});

test("internals are not exported", async () => {
  for (const name of ["ctxweave", "ctxweave/chat", "ctxweave/tokens"]) {
    assert.ok(!("onlyTokenizer" in (await import(urlOf(name)))), name);
  }
});

test("accessors of a class are read", () => {
  class Row {
    #values;
    constructor(values) {
      this.#values = values;
    }
    get role() {
      return this.#values.role;
    }
    get content() {
      return this.#values.content;
    }
    get _previous() {
      throw new Error("asked");
    }
    save() {}
  }
  class Model extends Row {
    get $isNew() {
      throw new Error("asked");
    }
  }
  const rows = [message, { role: "assistant", content: "hello there" }, message];
  for (const Class of [Row, Model]) {
    const given = rows.map((row) => new Class(row));
    assert.equal(ctxweave.countChatTokens(given), ctxweave.countChatTokens(rows));
    const { messages } = ctxweave.fitMessages(given, { maxTokens: 99 });
    assert.ok(messages.every((row, at) => row === given[at]));
    const options = { to: "openai", from: "generic" };
    assert.deepEqual(ctxweave.convertMessages(given, options), ctxweave.convertMessages(rows, options));
  }
});

/** Runs the command in a shell. */
function shell(line, env = {}) {
  const command = `"${process.execPath}" "${join(dir, "../../node_modules/ctxweave/dist/cli/main.js")}"`;
  const options = { cwd: dir, encoding: "utf8", env: { ...process.env, ...env }, input: "" };
  const { status, stdout, stderr } = spawnSync("sh", ["-c", line.replace("ctxweave", () => command)], options);
  return { status, stdout, stderr };
}

test("the command counts what it can read, and names the rest", () => {
  writeFileSync(join(dir, "a.md"), "hello");
  const { status, stdout, stderr } = shell("ctxweave tokens a.md missing.md");
  assert.equal(status, 3);
  assert.match(stdout, /^ *\d+ a\.md$/m);
  assert.match(stderr, /cannot read `missing\.md`: no such file/);
});

test("the command names files that are not UTF-8", () => {
  writeFileSync(join(dir, "wide.txt"), "\ufeffhello", "utf16le");
  writeFileSync(join(dir, "latin.txt"), "d\xe9j\xe0", "latin1");
  writeFileSync(join(dir, "data.bin"), Uint8Array.of(1, 0, 2));
  const { status, stderr } = shell("ctxweave tokens wide.txt latin.txt data.bin");
  assert.equal(status, 0);
  assert.match(
    stderr,
    /wide\.txt is UTF-16;.*\n.*latin\.txt is no UTF-8, perhaps Latin-1;.*\n.*data\.bin is binary data;/,
  );
});

test("estimates are named, exact counts are not", () => {
  writeFileSync(join(dir, "a.md"), "hello");
  for (const [options, told] of [
    ["", /^estimated: heuristic\n$/],
    ["--tokenizer claude", /^estimated: claude\n$/],
    ["--model claude-sonnet-4-5", /^estimated: /],
    ["--tokenizer o200k_base", /^$/],
    ["--model gpt-4o", /^$/],
    ["--truncate 1", /\(estimated\)/],
    ["--split 1", /estimated/],
    ["--split 1 --tokenizer o200k_base", /^1 piece\n$/],
  ]) {
    assert.match(shell(`ctxweave tokens a.md ${options}`).stderr, told, options);
  }
});

test("diagnostics have the names of the command's options", () => {
  writeFileSync(join(dir, "chat.json"), JSON.stringify([message]));
  const { status, stderr } = shell("ctxweave chat chat.json --max-tokens 99 --model nope-1");
  assert.deepEqual([status, /\(--model\)/.test(stderr), stderr.includes("options.")], [0, true, false], stderr);
});

test("control characters of files are escaped on a terminal, and kept in a pipe", (t) => {
  if (!existsSync("/usr/bin/script")) return t.skip("needs `script`");
  writeFileSync(join(dir, "red.jsonl"), `${JSON.stringify({ role: "user", content: "\u001b[31mred\r\nand" })}\n`);
  const line = "ctxweave session show red.jsonl";
  assert.ok(shell(line).stdout.includes("\u001b[31mred"));
  const command = `"${process.execPath}" "${join(dir, "../../node_modules/ctxweave/dist/cli/main.js")}"`;
  const shown = spawnSync("script", ["-qec", line.replace("ctxweave", () => command), "/dev/null"], {
    cwd: dir,
    encoding: "utf8",
  });
  assert.ok(shown.stdout.includes("\\x1b[31mred\r"), JSON.stringify(shown.stdout));
  assert.ok(!shown.stdout.includes("\u001b[31m") && !shown.stdout.includes("\\x0d"), JSON.stringify(shown.stdout));
});

test("help fits in 80 columns", () => {
  const { stdout } = shell("ctxweave --help");
  const names = [...stdout.matchAll(/^ {2}(\w+(?: \w+)?) {2,}\w/gm)].map(([, name]) => name);
  assert.ok(names.length >= 12, names.join());
  for (const name of names.filter((name) => !/^\d$/.test(name))) {
    for (const line of shell(`ctxweave ${name} --help`).stdout.split("\n")) assert.ok(line.length <= 80, line);
  }
});

test("help and failures of the command", () => {
  assert.deepEqual(shell("ctxweave help tokens"), shell("ctxweave tokens --help"));
  assert.match(shell("ctxweave tokens --nonsense").stderr, /see `npx ctxweave tokens --help`/);
  assert.match(shell("ctxweave nonsense").stderr, /see `npx ctxweave --help`/);
  assert.match(shell("ctxweave tokens missing.md", { FORCE_COLOR: "1", NO_COLOR: "" }).stderr, /^\u001B\[31merror/);
  if (existsSync("/dev/full")) {
    const full = shell("ctxweave tokens a.md > /dev/full");
    assert.deepEqual([full.status, full.stderr.includes("no space left on the device")], [3, true], full.stderr);
  }
  symlinkSync("loop.md", join(dir, "loop.md"));
  for (const line of ["ctxweave tokens loop.md", "ctxweave folders loop.md"]) {
    const { status, stderr } = shell(line);
    assert.equal(status, line.includes("tokens") ? 3 : status, stderr);
    assert.ok(!stderr.includes("    at "), stderr);
  }
  // Longer than a string of the engine may be; the file takes no space.
  writeFileSync(join(dir, "huge.md"), "");
  truncateSync(join(dir, "huge.md"), 600_000_000);
  const huge = shell("ctxweave tokens huge.md");
  assert.deepEqual([huge.status, huge.stderr], [1, "error: huge.md is too large: 600000000 bytes; split it\n"]);
  writeFileSync(join(dir, "crlf.md"), "a\r\nb\r\n");
  assert.equal(shell("ctxweave tokens crlf.md --truncate 3").stdout, "a\r\n");
});
