// The Chats view in a real browser, compared with the package's results for the same chat in Node.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fitMessages, init } from "ctxweave";
import { findings } from "./axe.mjs";
import {
  choose,
  eventually,
  fitsAcross,
  holds,
  number,
  openPage,
  ownLink,
  screenshots,
  shownTotals,
  showPane,
  start,
  visit,
} from "./harness.mjs";

let site;
before(async () => {
  await init();
  site = await start();
});
after(() => site.stop());

const chooseTab = (page, name) => page.getByRole("tablist", { name: "Result" }).getByRole("tab", { name }).click();

/** With the messages tab open: the view begins with the window tab. */
const on = (steps, options) =>
  visit(
    site,
    "#/chats",
    async (page) => {
      await chooseTab(page, "Messages");
      await steps(page);
    },
    options,
  );

const field = (page) => page.getByLabel("Chat messages, JSON");
const given = async (page) => JSON.parse(await field(page).inputValue());
const limitField = (page) => page.getByLabel("Limit in tokens", { exact: true });

/** Pastes a text over the chat. */
async function paste(page, text) {
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await field(page).focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Control+V");
  await holds(field(page), text);
}

/** The messages shown by the page, including added ones. */
const shown = (page) =>
  page
    .locator("[data-message], [data-added]")
    .evaluateAll((all) =>
      all.map(({ dataset }) => (dataset.added ? dataset.added : `${dataset.message} ${dataset.fate}`)),
    );

const shownCosts = (page) =>
  page.locator("[data-message] .chat-cost").evaluateAll((all) => all.map((cost) => cost.textContent));

/** Asserts that the page shows the package's result for this chat. */
async function agrees(page, chat, options, isLimited = true) {
  const { messages, report } = fitMessages(chat, { edits: false, ...options });
  await eventually(async () => {
    assert.deepEqual(
      (await shown(page)).filter((row) => row !== "marker"),
      report.messages.map(({ index, fate }) => `${index} ${fate}`),
    );
    assert.equal(await page.locator("[data-format]").textContent(), report.format);
    assert.deepEqual(
      (await shownCosts(page)).map((cost) => number(cost.split(" ")[0])),
      report.messages.map(({ tokens }) => tokens),
    );
    const { system, messages: cost, tools, overhead, total } = report.tokens;
    const free = report.limit - total;
    assert.deepEqual(await shownTotals(page), {
      system,
      messages: cost,
      tools,
      overhead,
      ...(isLimited ? { free } : {}),
    });
  });
  return { messages, report };
}

const whole = (chat) => fitMessages(chat, { maxTokens: 1e9 }).report.tokens.total;
const half = (chat) => Math.ceil(whole(chat) / 2);

describe("a chat", () => {
  for (const [name, format] of [
    ["OpenAI", "openai"],
    ["Anthropic", "anthropic"],
    ["AI SDK", "ai-sdk"],
  ]) {
    it(`${name}: every message with its fate, under half of its cost`, async () => {
      await on(async (page) => {
        await choose(page.getByRole("radio", { name }));
        const chat = await given(page);
        const { report } = await agrees(page, chat, { maxTokens: half(chat) });
        assert.equal(report.format, format);
        assert.ok(report.truncated);
        await eventually(async () =>
          assert.equal(await page.locator("[data-system]").count(), format === "anthropic" ? 1 : 0),
        );
      });
    });
  }

  it("the marker is in the gap", async () => {
    await on(async (page) => {
      const { report } = await agrees(page, await given(page), { maxTokens: half(await given(page)) });
      const rows = await shown(page);
      const at = rows.indexOf("marker");
      assert.match(rows[at - 1], / kept$/);
      assert.match(rows[at + 1], / cut$/);
      await eventually(async () =>
        assert.equal(await page.locator("[data-added] .text").textContent(), report.added.text),
      );
    });
  });

  it("applies limit, strategy and edits", async () => {
    await on(async (page) => {
      const chat = await given(page);
      await limitField(page).fill("400");
      await agrees(page, chat, { maxTokens: 400 });
      await page.getByLabel("Limit in tokens, slider").fill("700");
      await eventually(async () => assert.equal(await limitField(page).inputValue(), "700"));
      await page.getByLabel("Strategy").selectOption("keepStart");
      await agrees(page, chat, { maxTokens: 700, truncationStrategy: "keepStart" });
      await page.getByLabel("Old tool results").selectOption("1");
      const edits = { toolResults: { keepLast: 1 } };
      const { report } = await agrees(page, chat, { maxTokens: 700, truncationStrategy: "keepStart", edits });
      await eventually(async () => {
        assert.equal(await page.locator("[data-edit]").count(), report.edits.length);
        assert.match(await page.locator('[data-fate="changed"]').first().textContent(), /an old result was cleared/);
      });
      await page.getByRole("button", { name: "Reset: Limit in tokens" }).click();
      await eventually(async () => assert.equal(await limitField(page).inputValue(), String(half(chat))));
    });
  });

  it("fits pasted chats of OpenAI, Anthropic and no vendor", async () => {
    const words = "and what of it? ".repeat(60);
    const openai = [
      { role: "developer", content: "Be brief." },
      { role: "user", content: words },
      { role: "assistant", content: null, tool_calls: [{ id: "a", type: "function", function: { name: "f" } }] },
      { role: "tool", tool_call_id: "a", content: words },
      { role: "user", content: "Go on." },
    ];
    const anthropic = [
      { role: "user", content: [{ type: "text", text: words }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: words, signature: "s" },
          { type: "text", text: "That." },
        ],
      },
      { role: "user", content: [{ type: "text", text: "Go on.", cache_control: { type: "ephemeral" } }] },
    ];
    const generic = [
      { role: "user", content: words },
      { role: "assistant", content: words },
      { role: "user", content: "Go on." },
    ];
    await on(async (page) => {
      for (const [chat, format] of [
        [openai, "openai"],
        [anthropic, "anthropic"],
        [generic, "generic"],
      ]) {
        await paste(page, JSON.stringify(chat));
        await limitField(page).fill(String(half(chat)));
        const { report } = await agrees(page, chat, { maxTokens: half(chat) });
        assert.equal(report.format, format);
      }
    });
  });

  it("reports shortened messages and halves of calls", async () => {
    await on(async (page) => {
      await paste(
        page,
        JSON.stringify([
          { role: "user", content: "word ".repeat(500) },
          { role: "tool", tool_call_id: "gone", content: "a result" },
        ]),
      );
      await limitField(page).fill("60");
      await page.locator('[data-finding="tool_pair_broken"]').waitFor();
      await eventually(async () => {
        assert.match(await page.locator('[data-message="1"]').textContent(), /half of a tool call/);
        assert.match(await page.locator('[data-message="0"]').textContent(), /shortened to fit/);
      });
    });
  });

  it("a broken chat shows a notice with the error and its position", async () => {
    await on(async (page) => {
      const notice = page.locator(".problem-panel");
      const code = page.locator("[data-error-code]");
      await paste(page, '[{ "role": "user", "content": "Hi." }, { "rle": "user" }]');
      await notice.waitFor();
      await eventually(async () => {
        assert.equal(await code.textContent(), "invalid_input");
        assert.match(await notice.textContent(), /messages\[1\] is not a chat message; pass/);
      });
      await paste(page, '[{ "role": "user", ');
      await eventually(async () => assert.equal(await code.textContent(), "invalid_json"));
      await eventually(async () => assert.match(await notice.textContent(), /not JSON/));
      for (const text of ["3", "null", '"text"', "{}", "[3]"]) {
        await paste(page, text);
        await eventually(async () => assert.equal(await code.textContent(), "invalid_input"), text);
      }
      await paste(page, '[{ "role": "user", "content": "Hi." }]');
      await limitField(page).fill("1");
      await eventually(async () => assert.match(await code.textContent(), /context_too_long/));
      await page.getByRole("button", { name: "Reset: Limit in tokens" }).click();
      await paste(page, "[]");
      await page.getByText("No messages.").waitFor();
    });
  });

  it("opens a file, and copies the fitted chat", async () => {
    await on(async (page) => {
      const chat = { system: "Be brief.", max_tokens: 5, messages: [{ role: "user", content: "word ".repeat(100) }] };
      await page.locator("#chat-file").setInputFiles({
        name: "chat.json",
        mimeType: "application/json",
        buffer: Buffer.from(JSON.stringify(chat)),
      });
      // A user's chat is not cut until a limit is set.
      await agrees(page, chat, { maxTokens: whole(chat) }, false);
      await limitField(page).fill(String(half(chat)));
      const { messages } = await agrees(page, chat, { maxTokens: half(chat) });
      await page.getByRole("tab", { name: "JSON" }).click();
      await page.getByRole("button", { name: "Copy fitted chat" }).click();
      await eventually(async () =>
        assert.deepEqual(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())), messages),
      );
    });
  });
});

describe("a link", () => {
  it("carries the settings (limit, strategy, model, edits, format) and the sample", async () => {
    let link;
    const settings = async (page) => ({
      limit: await limitField(page).inputValue(),
      strategy: await page.getByLabel("Strategy", { exact: true }).inputValue(),
      model: await page.getByLabel("Model", { exact: true }).inputValue(),
      results: await page.getByLabel("Old tool results").inputValue(),
      always: await page.getByLabel("Even under the limit").isChecked(),
      messages: await shown(page),
    });
    let before;
    await on(async (page) => {
      await choose(page.getByRole("radio", { name: "Anthropic" }));
      await page.getByLabel("Model", { exact: true }).selectOption("gpt-4o");
      await page.getByLabel("Strategy").selectOption("keepStart");
      await page.getByLabel("Old tool results").selectOption("2");
      await page.getByLabel("Even under the limit").check();
      await limitField(page).fill("450");
      await page.locator('[data-counts="exact"]').waitFor();
      await chooseTab(page, "Cache");
      await page.getByLabel("Cut step in tokens").fill("100");
      await chooseTab(page, "JSON");
      await page.getByLabel("Result as").selectOption("gemini");
      await chooseTab(page, "Messages");
      before = await settings(page);
      await page.getByRole("button", { name: "Copy link" }).click();
      await eventually(async () => {
        link = await page.evaluate(() => navigator.clipboard.readText());
        assert.match(link, /#\/chats\?/);
      });
    });
    const asked = Object.fromEntries(new URLSearchParams(link.split("?")[1]));
    assert.deepEqual(asked, {
      limit: "450",
      strategy: "keepStart",
      results: "2",
      always: "true",
      step: "100",
      model: "gpt-4o",
      as: "gemini",
      sample: "anthropic",
    });
    const { page, close } = await openPage(site, link.slice(link.indexOf("#")));
    await chooseTab(page, "Messages");
    await eventually(async () => assert.deepEqual(await settings(page), before));
    await chooseTab(page, "JSON");
    await eventually(async () => assert.equal(await page.getByLabel("Result as").inputValue(), "gemini"));
    // Returning by the navigation keeps the state; invalid parameters are ignored.
    await page.getByRole("link", { name: "Chats" }).click();
    await eventually(async () => assert.equal(await limitField(page).inputValue(), "450"));
    await page.evaluate(() => (location.hash = "#/chats?limit=none&strategy=guess&as=verse"));
    await eventually(async () => {
      assert.equal(await page.getByLabel("Strategy").inputValue(), "truncateMiddle");
      assert.equal(await page.getByLabel("Result as").inputValue(), "");
      assert.equal(new URL(page.url()).hash, "#/chats?sample=anthropic");
    });
    await close();
  });

  it("carries a user's chat with the settings", async () => {
    let link;
    await on(async (page) => {
      await paste(page, JSON.stringify([{ role: "user", content: "word ".repeat(500) }]));
      await limitField(page).fill("60");
      link = await ownLink(page);
    });
    const { page, close } = await openPage(site, link.slice(link.indexOf("#")));
    await chooseTab(page, "Messages");
    await page.locator('[data-message="0"]').getByText("shortened to fit").waitFor();
    assert.equal(await limitField(page).inputValue(), "60");
    assert.equal(new URL(page.url()).hash, "#/chats?limit=60");
    await close();
  });
});

describe("how it looks", () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const [size, width] of Object.entries({ wide: 1440, middling: 1000, narrow: 390 })) {
      it(`${size}, ${colorScheme}`, async () => {
        await on(
          async (page) => {
            const picture = (name) =>
              page.screenshot({
                path: join(screenshots, `chats-${name}-${size}-${colorScheme}.png`),
                fullPage: size === "narrow",
              });
            await showPane(page, "Chat and settings");
            await page.getByLabel("Old tool results").selectOption("2");
            await limitField(page).fill("420");
            assert.deepEqual(await findings(page), []);
            await showPane(page, "Fitted chat");
            await page.locator('[data-fate="changed"]').first().waitFor();
            await picture("fitted");
            assert.deepEqual(await findings(page), []);
            await fitsAcross(page);
            await page.getByRole("tab", { name: "JSON" }).click();
            assert.deepEqual(await findings(page), []);
            await fitsAcross(page);
            await showPane(page, "Chat and settings");
            await field(page).fill('[{ "role": "user", "content": "Hi." }, { "rle": "user" }]');
            await showPane(page, "Fitted chat");
            await page.locator(".problem-panel").waitFor();
            await picture("broken");
            assert.deepEqual(await findings(page), []);
            await fitsAcross(page);
          },
          { width, height: 900, colorScheme },
        );
      });
    }
  }
});
