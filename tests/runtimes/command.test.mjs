/** The command `ctxweave`, from the packed and installed package. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { installed, root } from "../packaging/packed.mjs";
import { examplesIn, pageOf } from "./command/page.mjs";
import { chat, playground, tree } from "./command/play.mjs";

const ctxweave = createRequire(join(installed(), "package.json"))("ctxweave");
before(() => ctxweave.init());

const play = playground("command");
const { sh, read, write } = play;

/** Runs a line that has to succeed; returns its output and report. */
function done(line, options) {
  const { exit, stdout, stderr } = sh(line, options);
  assert.equal(exit, 0, `${line}\n${stderr}`);
  return { stdout, stderr };
}

/** The commands listed in the help. */
const names = [...done("ctxweave --help").stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}\S/gm)].map(
  ([, name]) => name,
);

test("no help is wider than 80 columns", () => {
  for (const help of Object.values(helps)) {
    for (const line of help.split("\n")) assert.ok(line.length <= 80, line);
  }
});

test("the help names every command", () => {
  const wanted = ["chat", "dialogue", "buffer", "body", "tokens", "folders", "workspace", "operators", "vocab"];
  wanted.push("folders convert", "folders lint");
  const sessions = ["import", "convert", "show"].map((name) => `session ${name}`);
  assert.deepEqual([...names].sort(), [...wanted, ...sessions].sort());
});

const helps = Object.fromEntries(
  ["", "session", ...names].map((name) => [name, done(`ctxweave ${name} --help`).stdout]),
);

for (const name of names) {
  test(`every example in the help of ${name} works`, () => {
    const examples = examplesIn(helps[name]);
    assert.ok(examples.length >= 2, helps[name]);
    for (const line of examples) {
      const { exit, stderr } = sh(line.replaceAll("npx ", ""));
      assert.equal(exit, 0, `${line}\n${stderr}`);
    }
  });
}

test("the general help repeats examples of the commands", () => {
  const all = names.flatMap((name) => examplesIn(helps[name]));
  for (const help of [helps[""], helps.session]) {
    for (const line of examplesIn(help)) assert.ok(all.includes(line), line);
  }
});

test("`npx` finds the command offline", () => {
  assert.match(done("npx --offline ctxweave --version").stdout, /^\d+\.\d+\.\d+\n$/);
});

test("every option of a help is accepted, and an unknown one is rejected with the nearest name", () => {
  for (const name of names) {
    const listed = [...helps[name].matchAll(/^ {2}(?:-h, )?(--[a-z-]+)( [A-Z]+)?/gm)];
    const options = new Map(listed.map(([, option, value]) => [option, value ? `${option}=1` : option]));
    // All at once, because each run starts Node, and again without one that is known but takes none of these values.
    for (let refused; ; options.delete(refused)) {
      const { stderr } = sh(`ctxweave ${name} ${[...options.values()].join(" ")} --help`);
      assert.doesNotMatch(stderr, /unknown option|missing value|takes no value/, name);
      refused = /`(--[a-z-]+)` does not take `1`/.exec(stderr)?.[1];
      if (refused === undefined) break;
      assert.ok(options.has(refused), stderr);
    }
  }
  for (const [line, message] of [
    ["chat --maxTokens 5", "unknown option `--maxTokens`; did you mean `--max-tokens`?"],
    ["folders --fro x", "unknown option `--fro`; did you mean `--for`?"],
    ["chat --max-tokens", "missing value of `--max-tokens`; write `--max-tokens N`"],
    ["chat --max-tokens --json", "missing value of `--max-tokens`; write `--max-tokens N`"],
    ["chat --max-tokens many", "`--max-tokens` takes a number, not `many`"],
    ["tokens notes.md --limit -1", "`--limit` takes a whole number, 0 or more, not `-1`"],
    ["tokens notes.md --limit 1.5", "`--limit` takes a whole number, 0 or more, not `1.5`"],
    ["workspace manta --notes-head -3", "`--notes-head` takes a whole number, 0 or more, not `-3`"],
    ["chat chat.json --model nope-1", "`--model` is `nope-1`, an unknown model"],
    ["chat --json=yes", "`--json` takes no value"],
    ["chat --to antropic", "`--to` does not take `antropic`; did you mean `anthropic`?"],
    ["tokens --tokenizer o200kbase notes.md", "unknown tokenizer `o200kbase`; did you mean `o200k_base`?"],
    ["cht", "unknown command `cht`; did you mean `chat`?"],
    ["session nope", "see `npx ctxweave session --help`"],
    ["session conv", "unknown command `session conv`; did you mean `session convert`?"],
    ["chat chat.json", "missing limit; give `--model NAME`"],
    ["chat chat.json tree.json", "unexpected argument `tree.json`; give one file"],
  ]) {
    const { exit, stdout, stderr } = sh(`ctxweave ${line}`);
    assert.equal(exit, 2, line);
    assert.equal(stdout, "");
    assert.ok(stderr.includes(message), `${line}\n${stderr}`);
  }
});

test("exit codes and `--json` describe failures", () => {
  for (const [line, exit, code] of [
    ["chat chat.json --max-tokens 3", 1, "system_context_too_long"],
    ["chat notes.md --max-tokens 3", 1],
    ["chat claude.jsonl --max-tokens 3", 1],
    ["session show chat.json", 1],
    ["tokens notes.md --limit 3", 5],
    ["tokens gone.md --limit 3", 3],
    ["tokens notes.md --model nope-1", 2],
    ["chat chat.json --model nope-1", 2, "unknown_value"],
    ["body chat.json --provider openai --model nope-1", 2, "unknown_value"],
    ["chat chat.json --max-tokens 0", 2, "invalid_budget"],
    ["vocab nope", 2],
    ["workspace notes.md", 3],
    ["chat --nope", 2],
    ["chat gone.json --max-tokens 3", 3],
    ["tokens notes.md --out no/such/folder", 3],
    ["folders --for src/main.rs --root gone", 2],
  ]) {
    assert.equal(sh(`ctxweave ${line}`).exit, exit, line);
    if (exit === 5) continue;
    const { error } = JSON.parse(sh(`ctxweave ${line} --json`).stderr);
    assert.equal(error.exit, exit, line);
    assert.equal(error.code, code, line);
    assert.ok(error.message.length > 0);
  }
  // Names of the library's options are names of the command's.
  assert.match(
    sh("ctxweave chat chat.json --model nope-1").stderr,
    /`--model` is `nope-1`, .* pass `--context-window`/,
  );
  assert.match(
    sh("ctxweave chat claude.jsonl --max-tokens 9").stderr,
    /session file \(claude-code-v1\); use `ctxweave session/,
  );
});

test("a chat equals the result of `fitMessages`, from a file and from a pipe", () => {
  const { messages, report } = ctxweave.fitMessages(chat, { maxTokens: 100 });
  const { stdout, stderr } = done("ctxweave chat chat.json --max-tokens 100");
  assert.deepEqual(JSON.parse(stdout), messages);
  assert.match(stderr, /^openai: 6 messages, 5 kept, 1 changed\n/);
  assert.ok(stderr.includes(`${report.tokens.total} of 100 tokens`));
  assert.match(stderr, /message 1 changed \(shortened\), 252 tokens before, \d+ after/);
  const piped = done("ctxweave chat --max-tokens 100 --json", { input: read("chat.json") });
  assert.deepEqual(JSON.parse(piped.stdout), JSON.parse(JSON.stringify({ messages, report })));
  assert.equal(piped.stderr, "");
  assert.equal(done("ctxweave chat chat.json --max-tokens 100 --quiet").stderr, "");
});

test("with `--out` the result is in the file, and `--json` has the report alone", () => {
  const { stdout } = done("ctxweave chat chat.json --max-tokens 100 --out out.json --json");
  assert.deepEqual(Object.keys(JSON.parse(stdout)), ["report"]);
  assert.deepEqual(JSON.parse(read("out.json")), ctxweave.fitMessages(chat, { maxTokens: 100 }).messages);
});

test("every option of a chat reaches the library", () => {
  write("tools.json", [{ type: "function", function: { name: "stock", parameters: {} } }]);
  write("system.txt", "You are a weaver of few words.");
  for (const [line, options] of [
    ["--context-window 300 --token-buffer 100", { contextWindow: 300, tokenBuffer: 100 }],
    ["--max-tokens 60 --strategy rollingWindow", { maxTokens: 60, truncationStrategy: "rollingWindow" }],
    [
      "--max-tokens 60 --keep-last 1 --marker '[{count} gone]'",
      { maxTokens: 60, keepLast: 1, truncationMarker: "[{count} gone]" },
    ],
    ["--max-tokens 60 --marker ''", { maxTokens: 60, truncationMarker: "" }],
    ["--max-tokens 400 --keep-first 1", { maxTokens: 400, keepFirst: 1 }],
    [
      "--max-tokens 90 --tools tools.json",
      { maxTokens: 90, tools: [{ type: "function", function: { name: "stock", parameters: {} } }] },
    ],
    ["--max-tokens 90 --system @system.txt", { maxTokens: 90, system: "You are a weaver of few words." }],
    [
      "--max-tokens 60 --start-on user --end-on user --end-on assistant",
      { maxTokens: 60, startOn: ["user"], endOn: ["user", "assistant"] },
    ],
    ["--max-tokens 60 --format openai", { maxTokens: 60, format: "openai" }],
  ]) {
    const { report } = JSON.parse(done(`ctxweave chat chat.json ${line} --json`).stdout);
    assert.deepEqual(report, JSON.parse(JSON.stringify(ctxweave.fitMessages(chat, options).report)), line);
  }
  const run = JSON.parse(read("run.json"));
  for (const [line, edits] of [
    ["--keep-tool-results 1", { toolResults: { keepLast: 1 } }],
    ["--keep-images 0 --drop-reasoning", { images: { keepLast: 0 }, reasoning: { remove: "all" } }],
  ]) {
    const { report } = JSON.parse(done(`ctxweave chat run.json --max-tokens 400 ${line} --json`).stdout);
    assert.deepEqual(
      report,
      JSON.parse(JSON.stringify(ctxweave.fitMessages(run, { maxTokens: 400, edits }).report)),
      line,
    );
  }
});

test("with `--state` a chat continues its last fit", () => {
  const turns = [...chat];
  const line = "ctxweave chat turns.json --max-tokens 200 --state turns.state.json --cut-to 0.5 --json";
  let previous = null;
  for (let turn = 0; turn < 6; turn += 1) {
    write("turns.json", turns);
    const fitted = ctxweave.fitMessages(turns, { maxTokens: 200, cutTo: 0.5, previous });
    const { messages, report } = JSON.parse(done(line).stdout);
    assert.deepEqual(
      { messages, report },
      JSON.parse(JSON.stringify({ messages: fitted.messages, report: fitted.report })),
    );
    assert.deepEqual(JSON.parse(read("turns.state.json")), fitted.state);
    previous = fitted.state;
    turns.push(
      { role: "assistant", content: `Thread ${turn}.` },
      { role: "user", content: "And the next one? ".repeat(6) },
    );
  }
  // An unusable state starts afresh and is reported; a value that is not an object is rejected.
  write("turns.state.json", { version: "from the future" });
  assert.equal(JSON.parse(done(line).stdout).report.prefix.reason, "state_unusable");
  write("turns.state.json", [1]);
  const { exit, stderr } = sh(line.replace(" --json", ""));
  assert.equal(exit, 1, stderr);
  assert.match(stderr, /turns\.state\.json is not the state of a fit/);
});

test("a model selects its tokenizer, and a request its model", () => {
  write("request.json", { model: "gpt-4o", messages: chat, temperature: 0 });
  const { messages, report } = JSON.parse(done("ctxweave chat request.json --json").stdout);
  assert.equal(report.tokens.tokenizer, "o200k_base");
  assert.deepEqual(messages, { model: "gpt-4o", messages: chat, temperature: 0 });
});

test("converts a chat, with its system prompt in the vendor's place", () => {
  const { messages, system } = ctxweave.convertMessages(chat, { to: "anthropic" });
  assert.deepEqual(JSON.parse(done("ctxweave chat chat.json --to anthropic").stdout), { system, messages });
  const gemini = JSON.parse(done("ctxweave chat chat.json --to gemini").stdout);
  assert.deepEqual(gemini.systemInstruction, { parts: [{ text: "You are a weaver." }] });
});

test("JSONL is a list of messages, and a line that is not JSON is reported with its number", () => {
  write("chat.jsonl", chat.map((message) => JSON.stringify(message)).join("\n"));
  assert.deepEqual(
    JSON.parse(done("ctxweave chat chat.jsonl --max-tokens 100").stdout),
    ctxweave.fitMessages(chat, { maxTokens: 100 }).messages,
  );
  write("torn.jsonl", '{"role":"user","content":"a"}\n{"role":"us');
  assert.match(sh("ctxweave chat torn.jsonl --max-tokens 9").stderr, /torn\.jsonl, line 2 is not JSON/);
});

test("trees: dialogue, buffer and body equal the results of the library", () => {
  const request = { tree, tip: "q2", contextWindow: 4000 };
  const { messages } = ctxweave.assembleDialogue(request);
  assert.deepEqual(
    JSON.parse(done("ctxweave dialogue tree.json --context-window 4000").stdout),
    JSON.parse(JSON.stringify({ messages })),
  );
  assert.match(
    done("ctxweave dialogue tree.json --context-window 4000 --text").stdout,
    /^── user\nTell me about the loom\./,
  );
  assert.equal(
    done('ctxweave buffer tree.json --context-window 4000 --working-buffer " And then"').stdout,
    ctxweave.assembleBuffer({ ...request, workingBuffer: " And then" }).document,
  );
  const target = { provider: "openai", model: "gpt-4o", maxTokens: 9 };
  assert.equal(
    done("ctxweave body tree.json --context-window 4000 --provider openai --model gpt-4o --answer-tokens 9").stdout,
    new TextDecoder().decode(ctxweave.requestBody({ ...request, target })),
  );
  // A request instead of a tree; options override it.
  write("request.json", { ...request, tip: "a1", contextWindow: 9000 });
  assert.equal(JSON.parse(done("ctxweave dialogue request.json --json").stdout).report.limit, 9000 - 1024);
  const forked = { ...tree, nodes: [...tree.nodes, { id: "q3", authorType: "human", content: "Or so?" }] };
  forked.edges = [...tree.edges, { id: "e3", sources: [{ nodeId: "a1" }], targetNodeId: "q3" }];
  write("forked.json", forked);
  const { exit, stderr } = sh("ctxweave dialogue forked.json --context-window 4000");
  assert.equal(exit, 2);
  assert.match(stderr, /the tree has 2 leaves; select one with `--tip ID`: `q2`, `q3`/);
});

test("a chat becomes the body of another provider's request", () => {
  const body = JSON.parse(
    done("ctxweave body chat.json --provider anthropic --model claude-sonnet-4-5 --answer-tokens 500").stdout,
  );
  assert.equal(body.max_tokens, 500);
  assert.equal(body.system, "You are a weaver.");
  assert.equal(body.messages[1].content[0].type, "tool_use");
});

test("tokens equal the counts of the library, and a check fails above its limit", async () => {
  const text = read("notes.md");
  assert.equal(done("ctxweave tokens notes.md").stdout, `${ctxweave.countTokens(text)}\n`);
  await createRequire(join(installed(), "package.json"))("ctxweave/vocab/o200k_base").load();
  const [notes, chatText] = [text, read("chat.json")].map((text) =>
    ctxweave.countTokens(text, { tokenizer: "o200k_base" }),
  );
  assert.deepEqual(
    done("ctxweave tokens notes.md chat.json --model gpt-4o").stdout.trim().split(/\s+/),
    [notes, "notes.md", chatText, "chat.json", notes + chatText, "total"].map(String),
  );
  assert.equal(
    done("ctxweave tokens --chat chat.json --model gpt-4o").stdout,
    `${ctxweave.countChatTokens(chat, { model: "gpt-4o" })}\n`,
  );
  assert.deepEqual(JSON.parse(done("ctxweave tokens --ids", { input: text }).stdout), [
    ...ctxweave.encodeTokens(text, { tokenizer: "o200k_base" }),
  ]);
  assert.equal(done("ctxweave tokens --truncate 5 notes.md").stdout, ctxweave.truncateText(text, 5).text);
  assert.deepEqual(
    JSON.parse(done("ctxweave tokens --split 10 notes.md").stdout),
    ctxweave.splitText(text, { maxTokens: 10, markdown: true }),
  );
  const { exit, stdout, stderr } = sh("ctxweave tokens notes.md --limit 3");
  assert.deepEqual([exit, stdout], [5, `${ctxweave.countTokens(text)}\n`]);
  assert.match(stderr, /^estimated: heuristic\nnotes\.md has \d+ tokens \(estimated\), \d+ more than 3\n$/);
});

test("a vocabulary of an open model counts, as an asset and as its `tokenizer.json`", () => {
  done("ctxweave vocab tokenizer.json --out model.bin");
  assert.deepEqual(
    new Uint8Array(readFileSync(join(play.dir, "model.bin"))),
    ctxweave.vocabularyOf(read("tokenizer.json")),
  );
  const input = "the abc the";
  const counts = ["tokenizer.json", "./model.bin"].map(
    (tokenizer) => done(`ctxweave tokens --tokenizer ${tokenizer}`, { input }).stdout,
  );
  ctxweave.loadVocabulary("mine", ctxweave.vocabularyOf(read("tokenizer.json")));
  assert.deepEqual(counts, Array(2).fill(`${ctxweave.countTokens(input, { tokenizer: "mine" })}\n`));
  // The area alone does not support it; another command counts with it, too.
  const { report } = JSON.parse(done("ctxweave chat chat.json --max-tokens 5000 --tokenizer model.bin --json").stdout);
  assert.equal(report.tokens.tokenizer, "model.bin");
});

test("folders: the chain of a file, in which the nearest file is cut last", () => {
  const files = ["AGENTS.md", "src/AGENTS.md"].map((path) => ({ path, content: read(path) }));
  const chain = ctxweave.buildContextChain({ files, selected: ["src"], parentChain: true });
  const { stdout, stderr } = done("ctxweave folders --for src/main.rs");
  assert.equal(stdout, ctxweave.renderContextPrompt(chain));
  assert.match(
    stderr,
    /2 files below .*\n +\d+ {2}AGENTS\.md \(root, ancestor\)\n +\d+ {2}src\/AGENTS\.md \(selected\)\n/,
  );
  assert.ok(stderr.includes(`${chain.totalTokens} tokens`));
  // From a subfolder, and for a folder that does not exist yet: the same chain.
  assert.equal(done("cd docs && ctxweave folders --for ../src/deep/er/new.rs").stdout, stdout);
  const small = done("ctxweave folders --for src/main.rs --max-tokens 20");
  assert.match(small.stdout, /No panics/);
  assert.doesNotMatch(small.stdout, /Run the tests/);
  assert.match(small.stderr, /AGENTS\.md omitted: no line of it fits/);
  assert.match(small.stderr, /\d+ of 20 tokens/);
  const tight = done("ctxweave folders --for src/main.rs --max-tokens 26");
  assert.match(tight.stderr, /AGENTS\.md \(root, ancestor\) truncated/);
  assert.match(tight.stdout, /\[… \d+ more lines? omitted …\]/);
});

test("folders: the root of a chain", () => {
  assert.match(done("ctxweave folders --for docs/index.md --root docs").stdout, /Plain English/);
  assert.doesNotMatch(done("ctxweave folders --for docs/index.md --root docs").stdout, /Run the tests/);
  assert.match(done("ctxweave folders --for docs/index.md").stdout, /Run the tests[\s\S]*Plain English/);
  assert.match(sh("ctxweave folders --for chat.json --root docs").stderr, /is outside .*; give the root of the chain/);
  // A folder within that is a repository of its own begins its own chain.
  write("vendor/lib/.git/HEAD", "ref: refs/heads/main\n");
  const { exit, stderr } = sh("ctxweave folders --for vendor/lib/a.rs");
  assert.equal(exit, 1);
  assert.match(stderr, /no AGENTS\.md and no CLAUDE\.md between .*lib` and .*lib`/);
});

test("folders: what an agent reads", () => {
  const one = done("ctxweave folders --for src/main.rs --agent codex");
  assert.match(one.stdout, /^# AGENTS\.md instructions for [\s\S]*Run the tests/);
  assert.match(one.stderr, /codex@[\d.]+ reads/);
  const { agents } = JSON.parse(done("ctxweave folders --for src/main.rs --agent all --json").stdout);
  assert.deepEqual(
    agents.map(({ agent }) => agent),
    ctxweave.agentPresets().map(({ name, version }) => `${name}@${version}`),
  );
  const opencode = done("ctxweave folders --for src/main.rs --agent opencode --explain").stdout;
  assert.match(opencode, /^src\/main\.rs\tloaded\tsrc\/AGENTS\.md\tloaded after access 1$/m);
  assert.match(sh("ctxweave folders --agent codex src").stderr, /give exactly one|needs `--for PATH`/);
  assert.match(sh("ctxweave folders --for a --explain").stderr, /`--explain` needs `--agent NAME`/);
  assert.match(sh("ctxweave folders --for a --agent nobody").stderr, /unknown agent `nobody`/);
});

test("folders convert: rules for another agent, on stdout or in a folder", () => {
  const line = "ctxweave folders convert --from cursor --to claude-code";
  const { stdout, stderr } = done(line);
  const content = '---\npaths:\n  - "src/**"\n---\nReturn errors.\n';
  assert.deepEqual(JSON.parse(stdout), [{ path: ".claude/rules/errors.md", content }]);
  assert.match(stderr, /cursor → claude-code: 1 file, 1 unchanged in meaning/);
  assert.equal(done(`${line} --out converted-rules/deep`).stdout, "");
  assert.equal(read("converted-rules/deep/.claude/rules/errors.md"), content);
  // What was written is rules of the target.
  const back = "ctxweave folders convert converted-rules/deep --from claude-code --to cline-cli";
  assert.match(done(back).stderr, /warning: the rule loaded on a matching path and now loads always/);
  const { rules } = JSON.parse(done(`${back} --json`).stdout);
  assert.deepEqual(
    rules[0].changes.map(({ code }) => code),
    ["activation"],
  );
  const failed = (line) => {
    const { exit, stderr } = sh(`ctxweave folders convert ${line}`);
    return `${exit} ${stderr}`;
  };
  assert.match(failed("--from cursor"), /^2 [\s\S]*give both agents/);
  assert.match(failed("--from nobody --to cursor"), /^1 [\s\S]*unknown agent `nobody`/);
  assert.match(failed("--from kiro --to cursor"), /^1 [\s\S]*no rules of `kiro` below/);
});

test("folders lint: the exit code is for CI", () => {
  write("../linted/.git/HEAD", "");
  write("../linted/CLAUDE.md", "# Rules\n\nSee @docs/gone.md\n");
  write("../linted/.claude/rules/a.md", "---\npaths: lib/**\n---\nText\n");
  write("../linted/src/main.ts", "");
  const lint = (options) => sh(`ctxweave folders lint ../linted --agent claude-code ${options}`);
  const failing = lint("");
  assert.equal(failing.exit, 1, failing.stderr);
  assert.match(failing.stdout, /^CLAUDE\.md:3: error agent_import_missing: `@docs\/gone\.md`/m);
  assert.match(failing.stdout, /^\.claude\/rules\/a\.md:2: warning agent_rule_matches_no_file: /m);
  assert.match(failing.stderr, /1 error, 1 warning in \d files/);
  write("../linted/docs/gone.md", "Here.\n");
  assert.equal(lint("").exit, 0);
  assert.equal(lint("--strict").exit, 1);
  assert.equal(JSON.parse(lint("--json").stdout).findings.length, 1);
  write("../linted/lib/a.ts", "");
  assert.deepEqual([lint("--strict").exit, lint("--strict").stdout], [0, ""]);
  assert.equal(sh("ctxweave folders lint ../linted --agent nobody").exit, 1);
});

test("folders: named folders, watched files, watchers, the list", () => {
  const { stdout } = done("ctxweave folders src --watched all");
  assert.match(stdout, /No panics[\s\S]*|Plain English/);
  assert.match(stdout, /Plain English/);
  assert.doesNotMatch(done("ctxweave folders src").stdout, /Run the tests/);
  assert.equal(done("ctxweave folders --changed docs/CLAUDE.md").stdout, "1\tsrc/AGENTS.md\n");
  assert.equal(done("ctxweave folders --list").stdout, ".\tAGENTS.md\ndocs\tdocs/CLAUDE.md\nsrc\tsrc/AGENTS.md\n");
});

const sessions = {
  "claude-code.jsonl": "claude-code-v1",
  "codex-v1.jsonl": "codex-v1",
  "codex-v0.jsonl": "codex-v0",
  "gemini-lines.jsonl": "gemini-v1",
  "gemini-object.json": "gemini-v1",
  "generic.jsonl": "generic-v1",
  "bureau-agent.cbor": "bureau-agent-v1",
};

for (const [file, format] of Object.entries(sessions)) {
  test(`session: ${file} is detected, and equals the result of the library`, () => {
    const path = join(root, "examples/sessions", file);
    const bytes = readFileSync(path);
    const { report, messages, ...shown } = JSON.parse(done(`ctxweave session show ${path} --json`).stdout);
    assert.equal(shown.format, format);
    const expected = ctxweave.transcriptToMessages(format, bytes);
    assert.deepEqual(messages, JSON.parse(JSON.stringify(expected.messages)));
    for (const to of ["claude", "codex", "gemini", "markdown"]) {
      done(`ctxweave session convert ${path} --to ${to} --out converted`);
      const names = { claude: "claude-code-v1", codex: "codex-v1", gemini: "gemini-v1", markdown: "markdown" };
      const translated = ctxweave.translateTranscript({
        parts: [{ format, bytes }],
        format: names[to],
        crossFamily: "transcode",
      });
      assert.deepEqual(new Uint8Array(readFileSync(join(play.dir, "converted"))), translated.bytes, to);
    }
  });
}

test("session: losses are reported", () => {
  const { stdout, stderr } = done("ctxweave session convert --to codex claude.jsonl");
  assert.ok(stdout.includes('"type":"session_meta"'));
  assert.match(stderr, /^claude-code-v1 → codex-v1: 5 messages, turn by turn\nnot converted:\n/);
  assert.match(stderr, /the signature of another vendor's reasoning/);
  assert.match(stderr, /`--through-compactions` adds 8 messages/);
  assert.match(stderr, /abandoned: 1 branch/);
  assert.match(stderr, /work of 1 other agent/);
  const { lost } = JSON.parse(done("ctxweave session convert --to codex claude.jsonl --json").stdout);
  assert.equal(lost.length, 4);
  const whole = done("ctxweave session convert --to codex --through-compactions claude.jsonl");
  assert.doesNotMatch(whole.stderr, /--through-compactions/);
  done("ctxweave session convert --to codex claude.jsonl --out there.jsonl");
  assert.match(done("ctxweave session convert --to claude there.jsonl").stderr, /no losses/);
  assert.match(done("ctxweave session convert --to codex there.jsonl").stderr, /unchanged, already in this format/);
  assert.match(
    done("ctxweave session convert --to codex --narrative claude.jsonl").stderr,
    /as a narrative in one message/,
  );
});

test("session: an import writes records and their blobs", () => {
  done("ctxweave session import claude.jsonl --blobs kept --out records.jsonl");
  const records = read("records.jsonl").trim().split("\n").map(JSON.parse);
  const graph = new ctxweave.CommitGraph();
  graph.importJsonl(read("records.jsonl"));
  const blobs = new Map(
    readdirSync(join(play.dir, "kept")).map((name) => [
      name.replace("-", ":"),
      readFileSync(join(play.dir, "kept", name)),
    ]),
  );
  for (const { artifact_ref } of records) assert.equal(ctxweave.artifactRef(blobs.get(artifact_ref)), artifact_ref);
  const { tip } = JSON.parse(done("ctxweave session import claude.jsonl --json").stdout);
  assert.equal(graph.materialize({ commit: tip }, blobs).tier, "native");
  graph.free();
});

test("the first turn of a workspace, and the diagnostics of a template", () => {
  const { context, tokens } = JSON.parse(done("ctxweave workspace manta --tastes tastes --json").stdout);
  assert.match(context.brief.raw, /manta/i);
  assert.ok(tokens.total > 0);
  assert.equal(sh("ctxweave workspace gone").exit, 3);
  assert.match(
    done("ctxweave operators task.xml").stdout,
    /^operator +parent's context +earlier steps +memory\ntask \(sequential\)/,
  );
  write("wrong.xml", read("task.xml").replace("disabled", "off"));
  const { exit, stderr } = sh("ctxweave operators wrong.xml");
  assert.equal(exit, 1);
  assert.match(stderr, /`fresh_context` is `off`.* \(wrong\.xml:7:24\)/);
  assert.equal(
    done("ctxweave operators task.xml --write").stdout,
    ctxweave.writeTask(ctxweave.parseTask(read("task.xml")).task),
  );
});

/** Runs a line in a pseudo terminal; returns the output. */
function onTerminal(line, env = {}) {
  const { status, stdout } = spawnSync("script", ["-qec", line, "/dev/null"], {
    cwd: play.dir,
    encoding: "utf8",
    timeout: 60_000,
    env: {
      ...process.env,
      NO_COLOR: "",
      TERM: "xterm",
      PATH: `${join(installed(), "node_modules/.bin")}:${process.env.PATH}`,
      ...env,
    },
  });
  return { status, shown: stdout };
}

const hasScript = spawnSync("script", ["--version"]).status === 0;

test("colors are for terminals, and NO_COLOR turns them off", { skip: !hasScript }, () => {
  const line = "ctxweave chat chat.json --max-tokens 100 > fitted.json";
  assert.match(onTerminal(line).shown, /\u001B\[1m/);
  assert.doesNotMatch(onTerminal(line, { NO_COLOR: "1" }).shown, /\u001B/);
  assert.doesNotMatch(onTerminal(line, { TERM: "dumb" }).shown, /\u001B/);
  assert.doesNotMatch(done("ctxweave chat chat.json --max-tokens 100").stderr, /\u001B/);
  assert.doesNotMatch(done("ctxweave --help").stdout, /\u001B/);
});

test("progress is for terminals, and is cleared", { skip: !hasScript }, () => {
  write("long.jsonl", `${JSON.stringify({ role: "user", content: "word ".repeat(1_000_000) })}\n`);
  const line = "ctxweave session convert long.jsonl --to codex --out long.out";
  const { shown } = onTerminal(line);
  assert.match(shown, /converting 5,\d{3},\d{3} bytes of long\.jsonl …\r\u001B\[K/);
  assert.doesNotMatch(onTerminal(`${line} --quiet`).shown, /converting/);
  assert.doesNotMatch(done(line).stderr, /converting/);
});

test("binary output is not written to a terminal", { skip: !hasScript }, () => {
  const { status, shown } = onTerminal("ctxweave vocab cl100k_base");
  assert.equal(status, 2);
  assert.match(shown, /the result is binary; give `--out FILE`/);
});

test("a reader that closes the pipe early is not a failure", () => {
  assert.equal(done("ctxweave session convert --to codex long.jsonl 2> /dev/null | head -c 10 > few").stdout, "");
  assert.equal(statSync(join(play.dir, "few")).size, 10);
});

const main = join(installed(), "node_modules/ctxweave/dist/cli/main.js");
const bun = `node_modules/@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : "x64"}/bin/bun`;
for (const [name, start] of [
  ["Bun", join(root, bun)],
  ["Deno", `${join(root, "node_modules/.bin/deno")} run --no-remote --allow-read --allow-env --allow-write`],
]) {
  test(`${name} runs it`, () => {
    const env = { DENO_NO_UPDATE_CHECK: "1" };
    for (const line of [
      "folders --for src/main.rs",
      "session convert --to codex claude.jsonl",
      "chat --max-tokens 100",
      "tokens notes.md --tokenizer o200k_base",
    ]) {
      const input = line.startsWith("chat") ? read("chat.json") : "";
      const { exit, stdout, stderr } = sh(`${start} ${main} ${line}`, { input, env });
      assert.deepEqual({ exit, stdout, stderr }, sh(`ctxweave ${line}`, { input }), `${line}\n${stderr}`);
    }
    assert.equal(sh(`${start} ${main} chat --nope`, { env }).exit, 2);
  });
}

const ofRules = (name) => name.startsWith("folders ");
for (const [file, documented] of [
  ["docs/command.md", names.filter((name) => !ofRules(name))],
  ["docs/rules.md", names.filter(ofRules)],
]) {
  test(`${file} has the commands and options of the help`, () => {
    const doc = join(root, file);
    const text = readFileSync(doc, "utf8");
    const start = "<!-- help:start -->\n";
    const page = pageOf(Object.fromEntries(documented.map((name) => [name, helps[name]])));
    const written = `${text.slice(0, text.indexOf(start) + start.length)}\n${page}\n<!-- help:end -->\n`;
    if (process.env.CTXWEAVE_BLESS && text !== written) writeFileSync(doc, written);
    assert.equal(readFileSync(doc, "utf8"), written, "CTXWEAVE_BLESS=1 writes it");
  });
}
