// Every state of every view that the other files do not cover: empty, loading, rejected, damaged, asked, pinned,
// converted. Each is reached once, and checked by axe in both themes, pane by pane, each at one size; at every size
// with `CTXWEAVE_LOOKS=all`.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { file as tokenizerFile } from "../runtimes/tokenizer-json.mjs";
import { inLooks } from "./axe.mjs";
import { agreeing, choose, chooseTab, drop, eventually, holds, openNothing, openPage, start } from "./harness.mjs";
import { anthropic } from "./requests.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const sessions = join(root, "examples", "sessions");

let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const field = (page, name) => page.getByLabel(name, { exact: true });
const chosen = (page) => page.locator(".said [data-role]").first().waitFor();
const dialog = (page) => page.getByRole("dialog").waitFor();
const never = (page, what) => page.route(what, () => {});
const nowhere = (page, what) => page.route(what, (route) => route.fulfill({ status: 404, body: "" }));
const goTo = (page, hash) => page.evaluate((hash) => (location.hash = hash), hash);

/** Opens a user's document, then a sample: the page asks. */
const asked = async (page, name, content, sample) => {
  await drop(page, name, content);
  await page.getByText("Kept in this browser").waitFor();
  await sample();
  await dialog(page);
};

/** A chat in the view Chats, on one tab of its result. */
const chat = async (page, request, tab) => {
  await drop(page, "request.json", JSON.stringify(request));
  await holds(field(page, "Chat messages, JSON"), JSON.stringify(request));
  await chooseTab(page, tab);
};

/** Each: its view, the steps to reach it, and whether the browser logs missing files. */
const STATES = {
  "start, its whole conversation fits": [
    "",
    async (page) => {
      await page.getByLabel("Clear old tool results first").check();
      await page.getByLabel("Window").fill("100000");
      await eventually(async () => assert.equal(await page.locator('[data-message][data-fate="cut"]').count(), 0));
    },
  ],
  "start, the install line copied": [
    "",
    async (page) => {
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
    },
  ],
  "a view on its way": [
    "",
    async (page) => {
      await never(page, /\.(js|wasm)$/);
      await goTo(page, "#/commits");
      await page.locator(".loading").waitFor();
    },
  ],
  "a view that cannot be loaded, and the skip link leads to it": [
    "",
    async (page) => {
      await nowhere(page, /\.(js|wasm)$/);
      await goTo(page, "#/commits");
      await page.locator(".fatal").waitFor();
      await page.locator(".skip").focus();
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.activeElement?.id === "main");
    },
    "noisy",
  ],
  "dropped, an export with several trees": [
    "",
    async (page) => {
      const conversation = (uuid) => ({
        uuid,
        name: `About ${uuid}`,
        created_at: "2025-08-01T00:00:00Z",
        updated_at: "2025-08-01T00:00:00Z",
        chat_messages: [{ uuid: `${uuid}1`, sender: "human", text: "Words", created_at: "2025-08-01T00:00:00Z" }],
      });
      await drop(page, "two.json", JSON.stringify([conversation("a"), conversation("b")]));
      await page.locator(".dropped").getByLabel("Tree", { exact: true }).waitFor();
    },
  ],
  "dropped, damaged JSON": [
    "",
    async (page) => {
      await drop(page, "torn.json", '{"messages": [{"role"');
      await page
        .getByRole("alert")
        .getByText(/damaged JSON/)
        .waitFor();
    },
  ],

  "loom, a tree without nodes": [
    "#/loom",
    async (page) => {
      await page.locator("[data-node]").first().waitFor();
      await drop(page, "empty.json", '{"nodes":[],"edges":[]}');
      await page.getByText("The tree has no nodes.").waitFor({ state: "attached" });
    },
  ],
  "loom, a search without matches": [
    "#/loom?tree=agent",
    async (page) => {
      await page.getByRole("tab", { name: "List" }).click();
      await page.getByRole("searchbox").fill("nothing is called this");
      await eventually(async () => assert.equal(await page.locator("[data-row]").count(), 0));
    },
  ],
  "loom, a missing node": [
    "#/loom?tree=agent&tip=nobody",
    (page) => page.locator("[data-error-code]").getByText("node_not_found").waitFor({ state: "attached" }),
  ],
  "loom, a missing sample": ["#/loom?tree=nonesuch", (page) => page.getByRole("alert").waitFor()],
  "loom, another user's file": ["#/loom?tree=file&tip=b", (page) => page.getByRole("alert").waitFor()],
  "loom, a tokenizer on its way": [
    "#/loom?tree=agent",
    async (page) => {
      await never(page, /cl100k_base.*\.bin$/);
      await page.getByLabel("Tokens", { exact: true }).selectOption("cl100k_base");
      await page.getByRole("progressbar", { name: "Loading cl100k_base" }).waitFor();
    },
  ],
  "loom, asked before a sample replaces a user's document": [
    "#/loom",
    (page) =>
      asked(page, "mine.json", '{"nodes":[{"id":"a","content":"Mine","authorType":"human"}],"edges":[]}', () =>
        page.getByRole("radio", { name: "Agent" }).click({ force: true }),
      ),
  ],
  "loom, as code": [
    "#/loom?tree=agent",
    async (page) => {
      await page.getByRole("button", { name: "Copy as code" }).click();
      await dialog(page);
    },
  ],

  "chats, no messages": [
    "#/chats",
    async (page) => {
      await field(page, "Chat messages, JSON").fill("[]");
      await chooseTab(page, "Messages");
      await page.getByText("No messages.").waitFor();
    },
  ],
  "chats, a result pinned and compared": [
    "#/chats",
    async (page) => {
      await chat(page, anthropic(), "Compare");
      await field(page, "Limit in tokens").fill("2500");
      await page.getByRole("button", { name: "Pin this result" }).click();
      await page.getByText("1 result pinned").waitFor();
      await field(page, "Strategy").selectOption("keepStart");
      await page.locator('[data-difference="right"]').first().waitFor();
    },
  ],
  "chats, no differences": [
    "#/chats",
    async (page) => {
      await chat(page, anthropic(), "Compare");
      await page.locator("[data-differences]").waitFor();
      await page.getByLabel("Only differences").uncheck();
      await page.locator('[data-difference="same"]').first().waitFor();
    },
  ],
  "chats, turns that cannot be followed": [
    "#/chats",
    async (page) => {
      await chat(page, anthropic(), "Cache");
      await page.locator(".cache").waitFor();
      await field(page, "Chat messages, JSON").fill('[{ "role": "user", ');
      await page.getByRole("alert").first().waitFor();
    },
  ],
  "chats, too much for a link": [
    "#/chats",
    async (page) => {
      let seed = 1;
      const noise = Array.from({ length: 40_000 }, () => (seed = (seed * 48_271) % 2_147_483_647).toString(36)).join(
        " ",
      );
      await chat(page, [{ role: "user", content: noise }], "Window");
      await page.getByRole("button", { name: "Copy link" }).click();
      await page
        .getByText(/Too large for a link/)
        .first()
        .waitFor();
    },
  ],
  "chats, asked before a sample replaces a user's document": [
    "#/chats",
    (page) =>
      asked(page, "mine.json", '[{ "role": "user", "content": "Mine" }]', () =>
        page.getByRole("radio", { name: "Anthropic" }).click({ force: true }),
      ),
  ],

  "tokens, no text": [
    "#/tokens",
    async (page) => {
      const text = page.getByRole("textbox", { name: "Text" });
      // Before the view has begun it is empty, and text deleted then would be filled again.
      await eventually(async () => assert.notEqual(await text.inputValue(), ""));
      await text.fill("");
      await page.getByText("No text.").waitFor();
    },
  ],
  "tokens, an estimate": ["#/tokens?tokenizer=claude", (page) => page.getByText("Estimates have no tokens").waitFor()],
  "tokens, a tokenizer that this browser does not have": [
    "#/tokens?tokenizer=somebody-elses",
    (page) => page.getByText("This browser does not have somebody-elses").waitFor(),
  ],
  "tokens, a vocabulary on its way": [
    "#/tokens",
    async (page) => {
      await never(page, /cl100k_base.*\.bin$/);
      await field(page, "Tokenizer").selectOption("cl100k_base");
      await page.getByRole("progressbar", { name: "Loading cl100k_base" }).waitFor();
    },
  ],
  "tokens, a vocabulary that cannot be loaded": [
    "#/tokens",
    async (page) => {
      await page.route(/cl100k_base.*\.bin$/, (route) => route.fulfill({ contentType: "text/html", body: "<p>" }));
      await field(page, "Tokenizer").selectOption("cl100k_base");
      await page.getByRole("alert").waitFor();
    },
  ],
  "tokens, a user's vocabulary, and an invalid file": [
    "#/tokens",
    async (page) => {
      await drop(page, "mine.json", JSON.stringify(tokenizerFile));
      await page.getByRole("button", { name: "Remove", exact: true }).waitFor();
      const { model, ...rest } = tokenizerFile;
      await drop(page, "unigram.json", JSON.stringify({ ...rest, model: { ...model, type: "Unigram" } }));
      await page
        .getByRole("alert")
        .getByText(/Unigram/)
        .waitFor();
    },
  ],
  "tokens, asked before a sample replaces a user's document": [
    "#/tokens",
    (page) =>
      asked(page, "mine.txt", "Words of mine", () => page.getByRole("radio", { name: "Code" }).click({ force: true })),
  ],

  "workspace, a single user file, and a folder without files": [
    "#/workspace",
    async (page) => {
      await agreeing(page);
      await drop(page, "brief.md", "A brief of mine");
      await page.locator(".result-pane").getByText("A brief of mine").waitFor({ state: "attached" });
      await openNothing(page);
    },
  ],
  "workspace, limits that are refused": [
    "#/workspace",
    async (page) => {
      await page.getByRole("tab", { name: "Limits", exact: true }).click();
      await page.getByLabel("Log entries").fill("0.5");
      await page.locator("[data-error-code]").waitFor({ state: "attached" });
    },
  ],
  "workspace, asked before the sample replaces a user's document": [
    "#/workspace",
    (page) => asked(page, "brief.md", "Mine", () => page.getByRole("button", { name: "Sample" }).click()),
  ],
  "workspace, a sample that cannot be fetched": [
    "",
    async (page) => {
      await nowhere(page, /workspace-[^/]+\.json$/);
      await goTo(page, "#/workspace");
      await page.getByRole("alert").first().waitFor();
      await page.getByText("No document is open.").waitFor();
    },
    "noisy",
  ],

  "folders, none chosen, and a folder without any": [
    "#/folders?select=+",
    async (page) => {
      await page.locator(".empty").waitFor({ state: "attached" });
      await openNothing(page);
    },
  ],
  "folders, findings in the chain": [
    "#/folders?select=Odd%2Fbad-yaml&select=Odd%2Flatin-1&select=Odd%2Fdelimiters",
    async (page) => {
      await page.getByRole("tab", { name: /^Chain/ }).click();
      await page.locator(".result-pane [data-finding]").first().waitFor({ state: "attached" });
    },
  ],
  "folders, asked before the sample replaces a user's document": [
    "#/folders",
    (page) => asked(page, "AGENTS.md", "Mine", () => page.getByRole("button", { name: "Sample vault" }).click()),
  ],
  "folders, a sample that cannot be fetched": [
    "",
    async (page) => {
      await nowhere(page, /vault-[^/]+\.json$/);
      await goTo(page, "#/folders");
      await page.getByRole("alert").first().waitFor();
      await page.getByText("No document is open.").waitFor();
    },
    "noisy",
  ],

  "operators, broken XML": [
    "#/operators",
    async (page) => {
      await field(page, "Task template, XML").fill('<task type="atomic">\n  <description>a</descriptiom>\n</task>');
      await page.locator("[data-no-tree]").waitFor({ state: "attached" });
    },
  ],
  "operators, empty template": [
    "#/operators",
    async (page) => {
      await field(page, "Task template, XML").fill("");
      await page.locator("[data-no-tree]").waitFor({ state: "attached" });
    },
  ],
  "operators, an unknown type": [
    "#/operators",
    async (page) => {
      await choose(page.getByRole("radio", { name: "Mistakes" }));
      await page.locator('[data-operator="task.steps[1]"] > button').click();
      await page.locator("[data-error-code]").waitFor({ state: "attached" });
    },
  ],
  "operators, asked before a sample replaces a user's document": [
    "#/operators",
    (page) =>
      asked(page, "mine.xml", '<task type="atomic"/>', () =>
        page.getByRole("radio", { name: "Reduce" }).click({ force: true }),
      ),
  ],

  "commits, as a narrative for another agent, with losses": [
    "#/commits",
    async (page) => {
      await chosen(page);
      await field(page, "As").selectOption("codex-v1");
      await field(page, "From another agent").selectOption("render");
      await page.locator('[data-tier="rendering"]').waitFor();
      const notes = page.locator("details.lost summary");
      if (await notes.count()) await notes.click();
    },
  ],
  "commits, turn by turn for another agent": [
    "#/commits",
    async (page) => {
      await chosen(page);
      await field(page, "As").selectOption("codex-v1");
      await field(page, "From another agent").selectOption("transcode");
      await page.locator('[data-tier="transcode"]').waitFor();
    },
  ],
  "commits, binary content": [
    "#/commits",
    async (page) => {
      await chosen(page);
      await page.locator("#session-file").setInputFiles(join(sessions, "bureau-agent.cbor"));
      await page.locator(".about strong").getByText("bureau-agent.cbor").waitFor();
      await page.getByRole("tab", { name: "Bytes" }).click();
      await page.locator("pre.bytes").waitFor();
    },
  ],
  "commits, notes of a damaged session": [
    "#/commits",
    async (page) => {
      await chosen(page);
      const text = await readFile(join(sessions, "claude-code.jsonl"), "utf8");
      await drop(page, "damaged.jsonl", `${text}\nno record\n${text.slice(0, 80)}`);
      await page.locator(".notice.notes summary").click();
      await page.locator(".notice.notes li").first().waitFor();
    },
  ],
  "commits, a long session": [
    "#/commits",
    async (page) => {
      await chosen(page);
      const lines = Array.from({ length: 2000 }, (_, at) =>
        JSON.stringify({ role: at % 2 ? "assistant" : "user", content: `Turn ${at}` }),
      );
      await drop(page, "long.jsonl", lines.join("\n"));
      await page.locator(".about").getByText("1,000 commits").waitFor();
    },
  ],
  "commits, an invalid session": [
    "#/commits",
    async (page) => {
      await chosen(page);
      const none = { name: "none.jsonl", mimeType: "application/jsonl", buffer: Buffer.from("no session") };
      await page.locator("#session-file").setInputFiles(none);
      await page.getByRole("alert").waitFor();
    },
  ],
  "commits, a sample that cannot be fetched": [
    "",
    async (page) => {
      await nowhere(page, /claude-code.*\.jsonl/);
      await goTo(page, "#/commits");
      await page.getByText("No document is open.").waitFor();
    },
    "noisy",
  ],
  "commits, asked before the sample replaces a user's document": [
    "#/commits",
    async (page) => {
      await chosen(page);
      await page.locator("#session-file").setInputFiles(join(sessions, "codex-v1.jsonl"));
      await page.locator(".about strong").getByText("codex-v1.jsonl").waitFor();
      await page.getByText("Kept in this browser").waitFor();
      await page.getByRole("button", { name: "Sample" }).click();
      await dialog(page);
    },
  ],
};

describe("states", () => {
  for (const [name, [hash, steps, noisy]] of Object.entries(STATES)) {
    it(name, async () => {
      const { page, close } = await openPage(site, hash);
      await steps(page);
      await inLooks(page, `state-${name.replaceAll(/[^a-z]+/g, "-")}`);
      await (noisy ? page.close() : close());
    });
  }
});
