// Everything that is dropped is listed, read in a worker, and opened by one click.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { strToU8, zipSync } from "fflate";
import { findings } from "./axe.mjs";
import { agreeing, drop, eventually, fitsAcross, LOOKS, screenshots, start, visit } from "./harness.mjs";
import { anthropic, openai } from "./requests.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const session = (name) => readFile(join(root, "examples", "sessions", name), "utf8");
const json = (value) => JSON.stringify(value);
const messages = [
  { role: "user", content: "How much wool is there?" },
  { role: "assistant", content: "Twelve spools." },
];
/** A message with text blocks as Bedrock's Converse has them. */
const block = (role, ...content) => ({ role, content });

/** Drops files: `[name, text or bytes]`. */
const dropAll = (page, files) =>
  page.evaluate(
    (files) => {
      const dataTransfer = new DataTransfer();
      for (const [name, content] of files) {
        const bytes = typeof content === "string" ? content : Uint8Array.from(content);
        dataTransfer.items.add(new File([bytes], name));
      }
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    },
    files.map(([name, content]) => [name, typeof content === "string" ? content : [...content]]),
  );

/** Drops a folder: files by path, through the entries of a file manager. */
const dropFolder = (page, name, files) =>
  page.evaluate(
    ([name, files]) => {
      const entries = files.map(([path, text]) => ({
        isFile: true,
        name: path,
        file: (done) => done(new File([text], path)),
      }));
      const batches = [entries, []];
      const folder = {
        isDirectory: true,
        name,
        createReader: () => ({ readEntries: (done) => done(batches.shift()) }),
      };
      const event = new DragEvent("drop", { bubbles: true, cancelable: true });
      const items = [{ webkitGetAsEntry: () => folder }];
      const dataTransfer = { items, files: [new File([], name)], types: ["Files"], getData: () => "" };
      Object.defineProperty(event, "dataTransfer", { value: dataTransfer });
      document.body.dispatchEvent(event);
    },
    [name, files],
  );

const list = (page) => page.getByRole("region", { name: "Dropped items" });
const rows = (page) => list(page).locator("[data-item-name]");
const row = (page, name) => list(page).locator(`[data-item-name="${name}"]`);
const said = (page) => page.locator(".dropped p").textContent();
const view = (page) => page.evaluate(() => /^#\/([a-z]+)/.exec(location.hash)?.[1]);
const format = (page, name) => page.locator(`[data-format]:text-is("${name}")`);

describe("several items", () => {
  it("of three files each is listed, with kind, size, tokens and first words, and opened by one click", async () => {
    await visit(site, "", async (page) => {
      await agreeing(page);
      await dropAll(page, [
        ["request.json", json(anthropic())],
        ["session.jsonl", await session("claude-code.jsonl")],
        ["letter.txt", "Dear weavers, the wool is late."],
      ]);
      await eventually(async () => assert.equal(await rows(page).count(), 3));
      assert.match(
        await row(page, "request.json").textContent(),
        /a request body of Anthropic · .* kB · about [\d,]+ tokens/,
      );
      assert.match(
        await row(page, "session.jsonl").textContent(),
        /a session of Claude Code · 15 kB · about [\d,]+ tokens/,
      );
      assert.match(await row(page, "letter.txt").textContent(), /a text · 31 bytes · about \d+ tokens.*Dear weavers/);
      await row(page, "letter.txt").getByRole("button").click();
      await page.locator('[data-figure="characters"]:text("31")').waitFor();
      await row(page, "session.jsonl").getByRole("button").click();
      await page.locator(".about strong").getByText("session.jsonl", { exact: true }).waitFor();
      await row(page, "request.json").getByRole("button").click();
      await format(page, "anthropic").waitFor();
      await eventually(async () => assert.equal(await rows(page).count(), 3, "the list stays"));
    });
  });

  it("of a folder with 20 sessions all are listed, and can be searched", async () => {
    const text = await session("generic.jsonl");
    const files = Array.from({ length: 20 }, (_, at) => [`s${at}.jsonl`, text.replaceAll("total", `total-${at}`)]);
    await visit(site, "", async (page) => {
      await dropFolder(page, "sessions", files);
      await eventually(async () => assert.equal(await rows(page).count(), 20));
      await page.getByLabel("Search the dropped items").fill("s17");
      await eventually(async () => assert.equal(await rows(page).count(), 1));
      await row(page, "s17.jsonl").getByRole("button").press("Enter");
      await page.locator(".about strong").getByText("s17.jsonl", { exact: true }).waitFor();
    });
  });

  it("an archive is listed file by file, and its export of chats opens by itself", async () => {
    const { args, request } = JSON.parse(
      await readFile(join(root, "tests", "golden", "import", "chatgpt-one-system.json"), "utf8"),
    );
    const [file] = args ?? [request];
    const content = file.file ?? file;
    const archive = zipSync({
      "conversations.json": strToU8(typeof content === "string" ? content : (content.$text ?? json(content))),
      "chat.html": strToU8("<html><body>All chats</body></html>"),
      "dalle/file-1.png": new Uint8Array([0x89, 0x50, 0x4e, 0x47]),
    });
    await visit(site, "", async (page) => {
      await dropAll(page, [["export.zip", archive]]);
      await page.locator("[data-node]").first().waitFor();
      assert.equal(await view(page), "loom");
      await eventually(async () => assert.equal(await rows(page).count(), 3));
      assert.match(await row(page, "export.zip/conversations.json").textContent(), /a file of ChatGPT/);
      assert.match(await row(page, "export.zip/dalle/file-1.png").textContent(), /a media file \(\.png\)/);
    });
  });

  it("opened items are listed as recent ones, also after a reload", async () => {
    await visit(site, "", async (page) => {
      await agreeing(page);
      await drop(page, "one.json", json(anthropic()));
      await format(page, "anthropic").waitFor();
      await drop(page, "two.json", json(openai()));
      await format(page, "openai").waitFor();
      await eventually(async () => assert.match(await page.locator(".recent").textContent(), /2/));
      await page.reload();
      await format(page, "openai").waitFor();
      await page.locator(".recent").click();
      const recent = page.getByRole("region", { name: "Recent items" });
      assert.deepEqual(await findings(page), []);
      await recent.getByRole("button", { name: /one\.json/ }).click();
      await format(page, "anthropic").waitFor();
      await page.locator(".recent").click();
      await recent.getByRole("button", { name: "Forget all" }).click();
      await eventually(async () => assert.equal(await page.locator(".recent").count(), 0));
    });
  });
});

describe("search", () => {
  it("finds parts of a chat by their text", async () => {
    await visit(site, "#/chats", async (page) => {
      await drop(page, "request.json", json([...messages, { role: "user", content: "And silk?" }]));
      // Three messages and the overhead.
      await eventually(async () => assert.equal(await page.locator("[data-item]").count(), 4));
      await page.getByLabel("Search the parts").fill("SILK");
      await eventually(async () => assert.equal(await page.locator("[data-item]").count(), 1));
      await page.locator("[data-item]").getByText("And silk?").waitFor();
    });
  });
});

const line = (value) => `${json(value)}\n`;
const body = { model: "gpt-4.1", messages };

/** Single files: name, content, the kind shown, and the format in the view of chats. */
const INPUTS = [
  ["fenced.md", `Look:\n\n\`\`\`json\n${json(body)}\n\`\`\`\n`, /a request body of OpenAI|a chat/, "generic"],
  ["comments.jsonc", `// a request\n{ "messages": ${json(messages)}, /* end */ }`, /a chat|a request/, "generic"],
  [
    "literal.js",
    "const body = { messages: [{ role: 'user', content: `How much\nwool?` }], };",
    /a chat|a request/,
    "generic",
  ],
  [
    "curl.sh",
    `curl https://api.openai.com/v1/chat/completions \\\n  -H 'Accept: */*' -d '${json(body)}'`,
    /a request|a chat/,
    "generic",
  ],
  [
    "curl-ansi.sh",
    `curl 'https://x' --data-raw $'{"messages":[{"role":"user","content":"it\\'s"}]}'`,
    /a chat/,
    "generic",
  ],
  ["utf16.json", Buffer.from(`\ufeff${json(body)}`, "utf16le"), /a request body|a chat/, "generic"],
  [
    "answer-openai.json",
    json({ object: "chat.completion", choices: [{ message: messages[1] }] }),
    /an array of 1/,
    "generic",
  ],
  [
    "answer-anthropic.json",
    json({ type: "message", role: "assistant", model: "claude-sonnet-5-5", content: [{ type: "text", text: "12" }] }),
    /a request body|a chat/,
    "generic",
  ],
  [
    "answer-gemini.json",
    json({ candidates: [{ content: { role: "model", parts: [{ text: "12" }] } }] }),
    /Gemini/,
    "gemini",
  ],
  [
    "sharegpt.json",
    json([
      {
        conversations: [
          { from: "human", value: "Hi" },
          { from: "gpt", value: "Yes?" },
        ],
      },
    ]),
    /an array of 2/,
    "generic",
  ],
  [
    "swe.traj",
    json({ trajectory: [{ action: "ls" }], history: [{ role: "system", content: "You" }, ...messages] }),
    /an array of 3/,
    "generic",
  ],
  [
    "converse.json",
    json({
      modelId: "anthropic.claude-sonnet-4-5",
      system: [{ text: "Be brief." }],
      toolConfig: { tools: [{ toolSpec: { name: "stock", inputSchema: { json: { type: "object" } } } }] },
      messages: [
        block("user", { text: "How much wool?" }),
        block("assistant", { toolUse: { toolUseId: "t1", name: "stock", input: { of: "wool" } } }),
        block("user", { toolResult: { toolUseId: "t1", content: [{ text: "12" }] } }),
      ],
    }),
    /a request body of Anthropic/,
    "anthropic",
  ],
  [
    "bedrock.json",
    json({ anthropic_version: "bedrock-2023-05-31", max_tokens: 9, messages }),
    /a request body of Anthropic/,
    "generic",
  ],
];

describe("inputs that people have", () => {
  for (const [name, content, kind, chat] of INPUTS) {
    it(name, async () => {
      await visit(site, "", async (page) => {
        await dropAll(page, [[name, content]]);
        await format(page, chat).waitFor();
        await eventually(async () => assert.match(await said(page), kind));
        assert.equal(await view(page), "chats");
      });
    });
  }

  for (const [name, content, first] of [
    [
      "fine-tuning.jsonl",
      line({ messages }) + line({ messages: [...messages, ...messages] }),
      "fine-tuning.jsonl: Line 1",
    ],
    [
      "batch.jsonl",
      line({ custom_id: "a", method: "POST", url: "/v1/x", body }) +
        line({ custom_id: "b", method: "POST", url: "/v1/x", body }),
      "batch.jsonl: Line 1, a",
    ],
    [
      "traffic.har",
      json({
        log: {
          entries: [1, 2, 3].map((at) => ({
            request: { url: `https://api.x/v${at}?key=1`, postData: at === 2 ? { text: "a=b" } : { text: json(body) } },
          })),
        },
      }),
      "traffic.har: Request 1, api.x/v1",
    ],
  ]) {
    it(`${name}: each request is an item`, async () => {
      await visit(site, "", async (page) => {
        await dropAll(page, [[name, content]]);
        await eventually(async () => assert.equal(await rows(page).count(), 2));
        await row(page, first).getByRole("button").click();
        await format(page, "generic").waitFor();
      });
    });
  }

  for (const [name, content, kind] of [
    ["paper.pdf", Buffer.from("%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n1 0 obj"), /a PDF document/],
    [
      "picture.png",
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 73, 72, 68, 82]),
      /an image \(\.png\)/,
    ],
    ["notes.db", Buffer.from("SQLite format 3\0 ".padEnd(200, "\0")), /an SQLite database/],
  ]) {
    it(`${name} is refused by name`, async () => {
      await visit(site, "#/chats", async (page) => {
        await format(page, "openai").or(format(page, "anthropic")).first().waitFor();
        await dropAll(page, [[name, content]]);
        await eventually(async () => assert.match(await said(page), kind));
        await page.getByRole("alert").first().waitFor();
        assert.equal(await page.locator("[data-error-code]").count(), 0, "the open chat stays");
      });
    });
  }
});

describe("the code that reads files", () => {
  it("is loaded again if it failed to load", async () => {
    await visit(site, "#/commits", async (page) => {
      // The browser reports the failure as well.
      for (const event of ["console", "requestfailed"]) page.removeAllListeners(event);
      await page.locator("[data-commit]").first().waitFor();
      await page.route(/worker-[^/]*\.js$/u, (route) => route.abort());
      await dropAll(page, [["mine.jsonl", await session("generic.jsonl")]]);
      const alert = page.locator(".dropped[role=alert]");
      await alert.getByText("mine.jsonl: the code that reads files could not be loaded; try again.").waitFor();
      await page.unroute(/worker-[^/]*\.js$/u);
      await dropAll(page, [["mine.jsonl", await session("generic.jsonl")]]);
      await page.locator(".about strong").getByText("mine.jsonl", { exact: true }).waitFor();
      assert.equal(await alert.count(), 0);
    });
  });
});

describe("a tree or a chat opened as a session", () => {
  for (const [name, content, view] of [
    ["tree.json", () => readFile(join(root, "examples", "trees", "story.json")), "loom"],
    ["body.json", () => Buffer.from(json(anthropic())), "chats"],
  ]) {
    it(`${name} opens in its view`, async () => {
      await visit(site, "#/commits", async (page) => {
        await page.locator("[data-commit]").first().waitFor();
        await page
          .locator("#session-file")
          .setInputFiles({ name, mimeType: "application/json", buffer: await content() });
        await page.waitForURL(new RegExp(`#/${view}`));
        await page.locator(`.dropped[data-guess="${view}"]`).waitFor();
        await eventually(async () => assert.equal(await page.getByLabel("Opened as").inputValue(), view));
        assert.equal(await page.locator(".notice.problem").count(), 0);
      });
    });
  }
});

describe("how the list looks", () => {
  for (const { size, ...options } of LOOKS) {
    it(`${size}, ${options.colorScheme}`, async () => {
      await visit(
        site,
        "",
        async (page) => {
          await dropAll(page, [
            ["a-request-with-a-long-name-2026-11-27T09-30-00.json", json(anthropic())],
            ["session.jsonl", await session("claude-code.jsonl")],
            ["paper.pdf", "%PDF-1.7\n"],
            ["letter.txt", "Dear weavers, the wool is late. ".repeat(20)],
          ]);
          await eventually(async () => assert.equal(await rows(page).count(), 4));
          await row(page, "session.jsonl").getByRole("button").click();
          await page.locator(".about strong").getByText("session.jsonl", { exact: true }).waitFor();
          assert.ok((await list(page).boundingBox()).height > 100, "the list is visible");
          await fitsAcross(page);
          assert.deepEqual(await findings(page), []);
          await page.screenshot({ path: join(screenshots, `items-${size}-${options.colorScheme}.png`) });
        },
        options,
      );
    });
  }
});
