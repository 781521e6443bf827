/** Folders through the package: compared with picomatch, over the sample vault, and in a separate program. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import picomatch from "picomatch";
import { folder, root } from "../packaging/packed.mjs";

const dir = folder("folders");
let ctxweave;
before(async () => {
  ctxweave = await import(pathToFileURL(createRequire(join(dir, "x.js")).resolve("ctxweave")).href);
  await ctxweave.init();
});

/** The same numbers each time: xorshift32. */
function random(seed) {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/**
 * Patterns of the supported syntax. Left out: extensions of picomatch (extglobs, ranges in braces, a leading `!`, POSIX
 * classes), braces with wildcards, where its rule for hidden folders does not apply, characters of two code units,
 * whose halves it counts, and `[!a]`, which it reads as a class with a `!`.
 */
function patternOf(next) {
  const parts = ["a", "b", "ab", "é", "日", "-", ".a", "*", "*", "?", "[ab]", "[a-c]", "[^a]", "{a,b}", "{ab,c}"];
  const segment = () => {
    if (next(6) === 0) return "**";
    return Array.from({ length: 1 + next(3) }, (_, at) => {
      const part = parts[next(parts.length)];
      // A dot is special at the start of a name; inside it is an ordinary character.
      return at > 0 && part.startsWith(".") ? "a" : part;
    })
      .join("")
      .replace(/\*{2,}/g, "*");
  };
  return Array.from({ length: 1 + next(4) }, segment).join("/");
}

function pathOf(next) {
  const names = ["a", "b", "c", "ab", "ac", "aé", "日", "bb", "abc", ".a", ".ab", "a-b"];
  return Array.from({ length: 1 + next(4) }, () => names[next(names.length)]).join("/");
}

test("watchersOf agrees with picomatch", () => {
  const next = random(20_250_106);
  let matches = 0;
  const differences = [];
  for (let round = 0; round < 400; round += 1) {
    const patterns = Array.from({ length: 10 }, () => patternOf(next));
    const files = patterns.map((watch, at) => ({
      path: `watchers/w${at}/AGENTS.md`,
      content: `---\nwatch: ${JSON.stringify(watch)}\n---\n`,
    }));
    for (let i = 0; i < 10; i += 1) {
      const changed = pathOf(next);
      const found = new Set(ctxweave.watchersOf(`${changed}/AGENTS.md`, files).map(({ path }) => path));
      for (const [at, pattern] of patterns.entries()) {
        // A pattern names folders, so it matches the file in them.
        const expected = picomatch(`${pattern}/AGENTS.md`)(`${changed}/AGENTS.md`);
        if (expected) matches += 1;
        if (found.has(`watchers/w${at}/AGENTS.md`) !== expected) differences.push({ pattern, changed, expected });
      }
    }
  }
  assert.deepEqual(differences.slice(0, 10), []);
  // Of 40,000 pairs; with a generator that matches nothing the test would be vacuous.
  assert.ok(matches > 1500, `${matches} matches`);
});

const vaultDir = join(root, "examples/vault");

function vault() {
  return readdirSync(vaultDir, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: path.slice(vaultDir.length + 1).replaceAll("\\", "/"), content: readFileSync(path) }));
}

test("the sample vault loads despite its errors", () => {
  const all = vault();
  const { folders, diagnostics } = ctxweave.discoverContextFolders(all.map(({ path }) => path));
  assert.deepEqual(diagnostics, []);
  assert.ok(folders.length >= 60, `${folders.length} folders`);
  const files = all.filter(({ path }) => /(AGENTS|CLAUDE)\.md$/.test(path));
  const chain = ctxweave.buildContextChain({ files, selected: folders.map(({ path }) => path) });
  assert.equal(chain.files.length, folders.length);
  assert.equal(
    chain.totalTokens,
    chain.files.reduce((sum, { content }) => sum + ctxweave.countTokens(content), 0),
  );
  assert.deepEqual([...new Set(chain.diagnostics.map(({ code }) => code))].sort(), [
    "front_matter_invalid",
    "invalid_utf8",
    "prompt_delimiter_in_file",
    "watch_rewritten",
  ]);
  const prompt = ctxweave.renderContextPrompt(chain);
  for (const heading of [
    "### Root Context (AGENTS.md)",
    "### Projects Overview (Projects/AGENTS.md)",
    "### 太極 Taiji ",
  ]) {
    assert.ok(prompt.includes(heading), heading);
  }
  // The root watches Projects/*, Inbox everything that is not hidden.
  const watchers = ctxweave.watchersOf("Projects/parachute/AGENTS.md", files).map(({ path }) => path);
  assert.deepEqual(
    watchers,
    [
      "AGENTS.md",
      "Inbox/AGENTS.md",
      "Projects/AGENTS.md",
      "Projects/parachute/chat/AGENTS.md",
      "Projects/parachute/base/AGENTS.md",
    ].sort(),
  );
  assert.deepEqual(ctxweave.watchersOf(".claude/CLAUDE.md", files), []);
  const told = ctxweave.bubble(["Areas/taiji/太極/AGENTS.md"], files);
  assert.equal(new Set(told.map(({ path }) => path)).size, told.length);
  // The rows of the table are equivalent to the files.
  const { records } = ctxweave.contextWatchRecords(files);
  assert.deepEqual(
    ctxweave.watchersOf("Projects/parachute/AGENTS.md", records),
    ctxweave.watchersOf("Projects/parachute/AGENTS.md", files),
  );
  assert.deepEqual(ctxweave.diffRecords(records, records), { insert: [], update: [], delete: [] });
});

test("the legacy contexts of the sample vault migrate", () => {
  const plan = ctxweave.migrateLegacyContexts({
    files: vault(),
    contexts: ["Chat/contexts/general-context.md", "Chat/contexts/parachute-context.md"],
  });
  assert.deepEqual(
    plan.moves.map(({ from, to, action }) => [from, to, action]),
    [
      ["Chat/contexts/general-context.md", "AGENTS.md", "merge"],
      ["Chat/contexts/parachute-context.md", "Projects/parachute/AGENTS.md", "merge"],
    ],
  );
  assert.deepEqual(plan.contextFolders, ["", "Projects/parachute"]);
  assert.deepEqual(
    plan.unresolved.map(({ from }) => from),
    ["Chat/contexts/sailing-context.md"],
  );
});

test("inputs are never mutated, and invalid arguments throw errors with a code", () => {
  const files = Object.freeze([Object.freeze({ path: "AGENTS.md", content: "---\nwatch: a\n---\nx \ud800" })]);
  const chain = ctxweave.buildContextChain(Object.freeze({ files, selected: Object.freeze([""]) }));
  assert.equal(chain.files[0].content, "x \ufffd");
  assert.deepEqual(
    chain.diagnostics.map(({ code, path }) => [code, path]),
    [["lone_surrogate_replaced", "files[0].content"]],
  );
  const code = (call) => {
    try {
      return call();
    } catch (error) {
      assert.ok(error instanceof ctxweave.CtxweaveError, String(error));
      return error.code;
    }
  };
  assert.equal(
    code(() => ctxweave.watchersOf(5, files)),
    "invalid_input",
  );
  assert.equal(
    code(() => ctxweave.buildContextChain(null)),
    "invalid_input",
  );
  assert.equal(
    code(() => ctxweave.buildContextChain({ files: [{ path: "AGENTS.md" }], selected: [] })),
    "invalid_input",
  );
  assert.equal(
    code(() => ctxweave.buildContextChain({ files, selected: [], maxTokens: NaN })),
    "invalid_input",
  );
  assert.equal(
    code(() => ctxweave.buildContextChain({ files, selected: [], maxTokens: 0.5 })),
    "invalid_budget",
  );
  assert.equal(
    code(() => ctxweave.editContextFile("## A\n\udc00", { type: "append", section: "A", content: "b" })),
    "invalid_edit",
  );
  assert.equal(
    code(() => ctxweave.bubble(["a"], files, { maxDepth: -1 })),
    "invalid_input",
  );
  const time = Date.UTC(2025, 0, 6, 12);
  for (const when of [time, new Date(time), new Date(time).toISOString()]) {
    const { text } = ctxweave.editContextFile("## History\n", { type: "addHistory", content: "x", time: when });
    assert.match(text, /on 2025-01-06 12:00 UTC/);
  }
  assert.equal(
    code(() => ctxweave.editContextFile("", { type: "addHistory", content: "x", time: new Date(NaN) })),
    "invalid_input",
  );
  const own = { name: "own", count: (text) => text.length };
  assert.equal(ctxweave.buildContextChain({ files, selected: [""], tokenizer: own }).totalTokens, 3);
});

test("the example prints the prompt of a real folder", () => {
  const examples = join(dir, "examples");
  mkdirSync(examples, { recursive: true });
  cpSync(join(root, "examples/agents.mjs"), join(examples, "agents.mjs"));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["agents.mjs", vaultDir, "Projects/parachute/base/db", "Odd/bad-yaml"],
    {
      cwd: examples,
      encoding: "utf8",
    },
  );
  assert.equal(status, 0, stderr);
  const expected = `## Project Knowledge

The following context has been loaded for your reference:

### Bad Yaml Odd (Odd/bad-yaml/AGENTS.md)
# Bad YAML

- An unquoted star is an alias

### Db Base (Projects/parachute/base/db/CLAUDE.md)
# Database

> Schema and migrations

---

## Facts
<!-- Key facts that can be updated by the curator -->
- One migration, one file
- session_contexts and context_watches
`;
  assert.equal(stdout, expected);
  assert.match(stderr, /warning: the front matter is not YAML.*\(Odd\/bad-yaml\/AGENTS\.md:2\)/);
});

test("what an agent reads is loaded by asking the host", async () => {
  const found = {
    "/r/.git": { entries: ["HEAD"] },
    "/r/AGENTS.md": new TextEncoder().encode("# Root"),
    "/r/CLAUDE.md": { content: "# Root", realPath: "/r/AGENTS.md" },
    "/r/a/AGENTS.md": Promise.resolve("# A"),
  };
  const asked = [];
  const read = (path) => {
    asked.push(path);
    if (path === "/r/a/CLAUDE.md") throw new Error("locked");
    return found[path];
  };
  const chain = await ctxweave.loadAgentFiles({ agent: "copilot-cli", cwd: "/r/a" }, read);
  assert.deepEqual(
    chain.pieces.map(({ path, text }) => [path, text]),
    [
      ["/r/AGENTS.md", "# Root"],
      ["/r/a/AGENTS.md", "# A"],
    ],
  );
  assert.deepEqual(
    chain.diagnostics.map(({ code }) => code),
    ["file_unreadable"],
  );
  assert.equal(new Set(asked).size, asked.length, "no path is asked for twice");
  // A custom tokenizer reaches the last step.
  const tokenizer = { count: () => 7 };
  const counted = await ctxweave.loadAgentFiles({ agent: "pi", cwd: "/r/a", tokenizer }, read);
  assert.equal(counted.totalTokens, 14);
  const signal = AbortSignal.abort(new Error("stop"));
  await assert.rejects(ctxweave.loadAgentFiles({ agent: "pi", cwd: "/r" }, read, { signal }), /stop/);
  await assert.rejects(ctxweave.loadAgentFiles({ agent: "pi", cwd: "/r" }), { code: "invalid_input" });
});
