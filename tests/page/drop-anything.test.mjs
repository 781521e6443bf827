// Dropping and pasting anything anywhere: the kind is detected and shown, its view opens it, and a wrong guess can be
// corrected.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { findings } from "./axe.mjs";
import { agreeing, drop, eventually, fitsAcross, screenshots, start, visit } from "./harness.mjs";
import { anthropic, gemini, openai, responses } from "./requests.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const text = (...path) => readFile(join(root, ...path), "utf8");
const golden = async (name) => {
  const { args, request } = JSON.parse(await text("tests", "golden", "import", `${name}.json`));
  const [file] = args ?? [request];
  const content = file.file ?? file;
  return typeof content === "string" ? content : (content.$text ?? JSON.stringify(content));
};

const said = (page) => page.locator(".dropped p").textContent();
const view = (page) => page.evaluate(() => /^#\/([a-z]+)/.exec(location.hash)?.[1]);

const TEMPLATE = `<task type="atomic" id="mine"><description>Mine</description></task>`;

/** Cases: name, content, the kind shown, the view that opens, and its content. */
const THINGS = [
  {
    name: "anthropic.json",
    content: () => JSON.stringify(anthropic()),
    said: /a request body of Anthropic/,
    opens: "chats",
    seen: (page) => page.locator('[data-format]:text("anthropic")'),
  },
  {
    name: "openai.json",
    content: () => JSON.stringify(openai()),
    said: /a request body of OpenAI \(Chat Completions\)/,
    opens: "chats",
    seen: (page) => page.locator('[data-format]:text("openai")'),
  },
  {
    name: "responses.json",
    content: () => JSON.stringify(responses()),
    said: /a request body of OpenAI \(Responses\)/,
    opens: "chats",
    seen: (page) => page.locator('[data-format]:text("openai-responses")'),
  },
  {
    name: "gemini.json",
    content: () => JSON.stringify(gemini()),
    said: /a request body of Gemini/,
    opens: "chats",
    seen: (page) => page.locator('[data-format]:text("gemini")'),
  },
  {
    name: "messages.json",
    content: () => JSON.stringify(openai().messages),
    said: /an array of 22 chat messages/,
    opens: "chats",
    seen: (page) => page.locator('[data-format]:text("openai")'),
  },
  ...[
    ["claude-code.jsonl", /a session of Claude Code/],
    ["codex-v1.jsonl", /a session of Codex/],
    ["codex-v0.jsonl", /a session of Codex/],
    ["gemini-lines.jsonl", /a session of Gemini CLI/],
    ["gemini-object.json", /a session of Gemini CLI/],
    ["generic.jsonl", /a session, one message per line/],
  ].map(([name, said]) => ({
    name,
    content: () => text("examples", "sessions", name),
    said,
    opens: "commits",
    seen: (page) => page.locator(".about strong").getByText(name, { exact: true }),
  })),
  {
    name: "tree.json",
    content: () => text("examples", "trees", "agent.json"),
    said: /a Loom tree/,
    opens: "loom",
    seen: (page) => page.locator('[data-node="agent-36"]').first(),
  },
  ...[
    ["chatgpt-one-system", /a file of ChatGPT/],
    ["claude", /a file of Claude/],
    ["pyloom-bare", /a file of pyloom/],
    ["koboldai", /a file of koboldai/],
    ["loomsidian", /a file of loomsidian/],
    ["sillytavern", /a file of sillytavern/],
    ["librechat", /a file of librechat/],
    ["exoloom", /a file of exoloom/],
    ["miniloom", /a file of miniloom/],
    ["open-webui", /a file of Open WebUI/],
    ["llama-cpp", /a file of llama\.cpp/],
    ["pyloom-lines", /a file of pyloom/],
  ].map(([name, said]) => ({
    name: name.includes("lines") || name === "sillytavern" ? `${name}.jsonl` : `${name}.json`,
    content: () => golden(name),
    said,
    opens: "loom",
    seen: (page) => page.locator("[data-node]").first(),
  })),
  {
    name: "AGENTS.md",
    content: () => "Instructions of mine",
    said: /a context file/,
    opens: "folders",
    seen: (page) => page.locator(".result-pane").getByText("Instructions of mine"),
  },
  {
    name: "brief.md",
    content: () => "A brief of mine",
    said: /a file of a workspace/,
    opens: "workspace",
    seen: (page) => page.locator(".result-pane").getByText("A brief of mine"),
  },
  {
    name: "task.xml",
    content: () => TEMPLATE,
    said: /a task template/,
    opens: "operators",
    seen: (page) => page.locator('[data-operator="task"]').getByText("Mine", { exact: true }),
  },
  {
    name: "letter.txt",
    content: () => "Dear weavers, the wool is late.",
    said: /a text/,
    opens: "tokens",
    seen: (page) => page.locator('[data-figure="characters"]:text("31")'),
  },
];

describe("dropped on the start view", () => {
  for (const { name, content, said: expected, opens, seen } of THINGS) {
    it(`${name} opens in ${opens}`, async () => {
      const given = await content();
      await visit(site, "", async (page) => {
        assert.ok(await drop(page, name, given), "the browser does not leave the page");
        await seen(page).waitFor();
        await eventually(async () => {
          assert.match(await said(page), expected);
          assert.equal(await view(page), opens);
          assert.equal(await page.locator("#open-as").inputValue(), opens);
        });
        // The document remains.
        await page.waitForTimeout(150);
        await seen(page).waitFor();
      });
    });
  }

  it("distinguishes CBOR from text", async () => {
    const bytes = [...(await readFile(join(root, "examples", "sessions", "bureau-agent.cbor")))];
    await visit(site, "", async (page) => {
      await page.evaluate((bytes) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([Uint8Array.from(bytes)], "session.cbor"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      }, bytes);
      await page.locator(".about strong").getByText("session.cbor", { exact: true }).waitFor();
    });
  });

  it("several files with an AGENTS.md are a folder", async () => {
    await visit(site, "", async (page) => {
      await page.evaluate(() => {
        const dataTransfer = new DataTransfer();
        for (const name of ["notes.txt", "AGENTS.md"]) dataTransfer.items.add(new File(["Of mine"], name));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
      });
      await page.locator(".result-pane").getByText("Of mine").waitFor();
      await eventually(async () => assert.equal(await view(page), "folders"));
    });
  });

  it("each tree of an export can be opened", async () => {
    const conversation = (uuid, text) => ({
      uuid,
      name: `About ${uuid}`,
      created_at: "2025-08-01T00:00:00Z",
      updated_at: "2025-08-01T00:00:00Z",
      chat_messages: [{ uuid: `${uuid}1`, sender: "human", text, created_at: "2025-08-01T00:00:00Z" }],
    });
    const trees = JSON.stringify([conversation("a", "The first"), conversation("b", "The second")]);
    await visit(site, "", async (page) => {
      await agreeing(page);
      await drop(page, "two.json", trees);
      await page.locator(".result-pane").getByText("The first", { exact: true }).waitFor();
      await page.locator(".dropped").getByLabel("Tree", { exact: true }).selectOption({ label: "About b" });
      await page.locator(".result-pane").getByText("The second", { exact: true }).waitFor();
    });
  });
});

describe("in any view", () => {
  it("files for another view open there, from any view", async () => {
    await visit(site, "#/operators", async (page) => {
      await drop(page, "request.json", JSON.stringify(anthropic()));
      await page.locator('[data-format]:text("anthropic")').waitFor();
      await drop(page, "task.xml", TEMPLATE);
      await page.locator('[data-operator="task"]').getByText("Mine", { exact: true }).waitFor();
      await page.goBack();
      await page.locator('[data-format]:text("anthropic")').waitFor();
    });
  });

  it("a user's document there is replaced only after confirmation", async () => {
    await visit(site, "#/chats", async (page) => {
      await drop(page, "mine.json", JSON.stringify([{ role: "user", content: "A chat of mine" }]));
      await page.getByText("Kept in this browser").waitFor();
      // Regardless of how long the browser's database takes.
      await page.addInitScript(() => {
        for (const [{ prototype }, name] of [
          [IDBRequest, "success"],
          [IDBTransaction, "complete"],
        ]) {
          Object.defineProperty(prototype, `on${name}`, {
            set(listener) {
              this.addEventListener(name, (event) => setTimeout(() => listener.call(this, event), 200));
            },
          });
        }
      });
      await page.goto(`${site.url}#/operators`);
      await page.reload();
      await page.locator('[data-operator="task"]').waitFor();
      await drop(page, "request.json", JSON.stringify(anthropic()));
      await page.getByRole("button", { name: "Keep mine" }).click();
      await eventually(async () =>
        assert.match(await page.getByLabel("Chat messages, JSON").inputValue(), /A chat of mine/),
      );
    });
  });

  it("a text can be pasted outside of fields, and by keyboard into the field of the start view", async () => {
    await visit(site, "#/loom?tree=agent", async (page) => {
      await page.locator('[data-node="agent-36"]').first().waitFor();
      await page.evaluate((json) => navigator.clipboard.writeText(json), JSON.stringify(gemini()));
      await page.locator(".brand").focus();
      await page.keyboard.press("Control+V");
      await page.locator('[data-format]:text("gemini")').waitFor();
      await eventually(async () => assert.match(await said(page), /^Pasted looks like a request body of Gemini/));
      await page.getByRole("button", { name: "Dismiss" }).press("Enter");
      await eventually(async () => assert.equal(await page.locator(".dropped").count(), 0));
    });
    await visit(site, "", async (page) => {
      await page.evaluate((xml) => navigator.clipboard.writeText(xml), TEMPLATE);
      for (let i = 0; i < 30; i++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate(() => document.activeElement.id === "bring-text")) break;
      }
      await page.keyboard.press("Control+V");
      await page.locator('[data-operator="task"]').getByText("Mine", { exact: true }).waitFor();
    });
    await visit(site, "", async (page) => {
      await page.getByLabel("Drop anything here, or paste it").fill("Only words");
      await page.getByRole("button", { name: "Open", exact: true }).press("Enter");
      await page.locator('[data-figure="characters"]:text("10")').waitFor();
    });
  });

  it("text pasted into a field stays in the field", async () => {
    await visit(site, "#/chats", async (page) => {
      await page.evaluate((xml) => navigator.clipboard.writeText(xml), TEMPLATE);
      await page.getByLabel("Chat messages, JSON").focus();
      await page.keyboard.press("Control+A");
      await page.keyboard.press("Control+V");
      await eventually(async () => assert.equal(await page.getByLabel("Chat messages, JSON").inputValue(), TEMPLATE));
      await eventually(async () => {
        assert.equal(await view(page), "chats");
        assert.equal(await page.locator(".dropped").count(), 0);
      });
    });
  });

  it("a wrong guess is corrected", async () => {
    await visit(site, "", async (page) => {
      await drop(page, "chat.json", JSON.stringify(openai().messages));
      await page.locator('[data-format]:text("openai")').waitFor();
      // As a tree, into which it is converted, and as text.
      await page.getByLabel("Opened as").selectOption("loom");
      await page.locator("[data-node]").first().waitFor();
      await eventually(async () => assert.equal(await view(page), "loom"));
      await page.getByLabel("Opened as").selectOption("tokens");
      await page.locator("[data-figure]").first().waitFor();
      await eventually(async () =>
        assert.match(await page.getByRole("textbox", { name: "Text" }).inputValue(), /tide/),
      );
      await page.getByLabel("Opened as").selectOption("folders");
      await page.locator('[data-file="AGENTS.md"]').waitFor();
    });
  });

  it("an unknown format is reported, and can be opened as another kind", async () => {
    await visit(site, "", async (page) => {
      await drop(page, "odd.json", '{"hello":"world"}');
      await page
        .getByRole("alert")
        .getByText(/odd\.json is an unknown format/)
        .waitFor();
      await eventually(async () => assert.equal(await view(page), undefined));
      await page.getByLabel("Open as").selectOption("tokens");
      await eventually(async () => assert.equal(await view(page), "tokens"));
      await page.getByRole("textbox", { name: "Text" }).waitFor();
    });
    // The open view reports errors in the file.
    await visit(site, "#/chats", async (page) => {
      await drop(page, "broken.json", '[{"role": "user", "content": ');
      await page.locator('[data-error-code]:text("invalid_json")').waitFor();
      await page.getByRole("alert").first().waitFor();
    });
  });
});

describe("how it looks", () => {
  for (const [width, height, colorScheme] of [
    [1440, 900, "light"],
    [1024, 768, "dark"],
    [390, 844, "light"],
    [390, 844, "dark"],
  ]) {
    it(`${width} pixels, ${colorScheme}`, async () => {
      await visit(
        site,
        "",
        async (page) => {
          await drop(page, "request.json", JSON.stringify(anthropic()));
          await page.locator('[data-format]:text("anthropic")').waitFor();
          await fitsAcross(page);
          assert.deepEqual(await findings(page), []);
          await page.screenshot({ path: join(screenshots, `dropped-${width}-${colorScheme}.png`) });
          await drop(page, "odd.json", '{"hello":"world"}');
          await page.getByRole("alert").waitFor();
          assert.deepEqual(await findings(page), []);
        },
        { width, height, colorScheme },
      );
    });
  }
});
