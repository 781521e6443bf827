// The Window tab of a chat, in a real browser: the list and the treemap, edits of each part of a request, and the model
// that determines window, counts and prices.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fitMessages, init, modelInfo } from "ctxweave/chat";
import { findings } from "./axe.mjs";
import { choose, drop, eventually, fitsAcross, holds, LOOKS, number, screenshots, start, visit } from "./harness.mjs";
import { anthropic, gemini, openai, responses } from "./requests.mjs";

let site;
before(async () => {
  await init();
  site = await start();
});
after(() => site.stop());

const rows = (page) => page.locator("[data-item]");

/** Opens a request and waits until the list shows it. */
async function open(page, request) {
  assert.ok(await drop(page, "request.json", JSON.stringify(request)));
  await holds(page.getByLabel("Chat messages, JSON"), JSON.stringify(request));
}

const on = (request, steps, options) =>
  visit(
    site,
    "#/chats",
    async (page) => {
      await open(page, request);
      await steps(page);
    },
    options,
  );

/** The list: the kind and the cost of each row. */
const listed = (page) =>
  rows(page).evaluateAll((all) =>
    all.map((row) => ({
      kind: row.dataset.kind,
      tokens: Number(/[\d,]+/.exec(row.querySelector(".window-item-tokens").textContent)[0].replaceAll(",", "")),
    })),
  );

const sum = (list) => list.reduce((all, { tokens }) => all + tokens, 0);
const item = (page, id) => page.locator(`[data-item="${id}"]`);
const press = (page, id, name) => item(page, id).getByRole("button", { name, exact: true }).click();

/** The request to send, from its copy button. */
async function fitted(page) {
  await page.getByRole("tab", { name: "JSON" }).click();
  const value = JSON.parse(await page.locator('[data-json="messages"]').textContent());
  await page.getByRole("tab", { name: "Window" }).click();
  await rows(page).first().waitFor();
  return value;
}

const total = async (page) => number(/^[\d,]+/.exec(await page.locator("[data-total]").textContent())[0]);
const saved = async (page) => Number(await page.locator("[data-saved]").getAttribute("data-saved"));

describe("contents of the window", () => {
  for (const [name, body, kinds] of [
    ["Anthropic", anthropic, ["system", "tool", "user", "assistant", "call", "result", "image"]],
    ["OpenAI", openai, ["system", "tool", "user", "assistant", "call", "result"]],
    // The reasoning of earlier turns is not billed again, and parts without cost have no row.
    ["OpenAI's Responses", responses, ["system", "tool", "user", "assistant", "call", "result"]],
    ["Gemini", gemini, ["system", "tool", "user", "assistant", "call", "result"]],
  ]) {
    it(`${name}: every part by kind, largest first, with the cost of the request as the sum`, async () => {
      await on(body(), async (page) => {
        await page.getByRole("radio", { name: /^All/ }).waitFor();
        // Counts become exact once the vocabulary of the model is loaded.
        if (body().model?.startsWith("gpt")) await page.locator('[data-counts="exact"]').waitFor();
        const list = await listed(page);
        assert.deepEqual([...new Set(list.map(({ kind }) => kind))].sort(), [...kinds, "overhead"].sort());
        assert.deepEqual(
          list.map(({ tokens }) => tokens),
          list.map(({ tokens }) => tokens).sort((a, b) => b - a),
        );
        assert.equal(list.filter(({ kind }) => kind === "tool").length, 3);
        assert.equal(list.filter(({ kind }) => kind === "result").length, 5);
        assert.equal(sum(list), Number(await page.locator("[data-before]").getAttribute("data-before")));
        await eventually(async () =>
          assert.match(await rows(page).first().textContent(), /Result of (run_tests|read_file)/),
        );
      });
    });
  }

  it("a single kind, and the order of the request", async () => {
    await on(anthropic(), async (page) => {
      await choose(page.getByRole("radio", { name: /^Tool definitions/ }));
      await eventually(async () => assert.equal(await rows(page).count(), 3));
      await choose(page.getByRole("radio", { name: /^All/ }));
      await page.getByLabel("Order").selectOption("place");
      await eventually(async () => {
        const ids = await rows(page).evaluateAll((all) => all.map(({ dataset }) => dataset.item));
        assert.deepEqual(ids.slice(0, 6), ["system", "tool-0", "tool-1", "tool-2", "0.0", "1.0"]);
      });
    });
  });

  it("a tile leads to its row", async () => {
    await on(anthropic(), async (page) => {
      const tile = page.locator('[data-tile="2.0"]');
      await tile.click();
      await page.locator('[data-item="2.0"][data-chosen]').waitFor();
      await eventually(async () =>
        assert.match(await item(page, "2.0").locator("pre").textContent(), /not ok 1 - tide at hour 1/),
      );
    });
  });
});

describe("edits of a part", () => {
  it("an excluded result takes its call along, and can be restored", async () => {
    await on(anthropic(), async (page) => {
      const before = await total(page);
      await press(page, "2.0", "Exclude");
      const { messages } = await fitted(page);
      const text = JSON.stringify(messages);
      assert.ok(!text.includes("toolu_0"), "both halves of the call are gone");
      assert.ok(
        messages.every(({ content }) => content.length > 0),
        "and no empty message",
      );
      assert.ok(text.includes("toolu_1") && text.includes("I look."), "everything else is kept");
      await eventually(async () => {
        assert.equal(await saved(page), before - (await total(page)));
        assert.ok((await saved(page)) > 500);
      });
      await page.getByRole("button", { name: "Undo" }).click();
      await eventually(async () => assert.equal(await total(page), before));
    });
  });

  it("a result is cleared or shortened like the package does", async () => {
    await on(openai(), async (page) => {
      await press(page, "3.0", "Clear");
      const edits = { when: "always", toolResults: { keepLast: 0 } };
      const chat = openai().messages;
      const cleared = fitMessages(chat.slice(2, 5), { maxTokens: 1e9, format: "openai", edits });
      assert.notDeepEqual(cleared.messages[1], chat[3]);
      assert.deepEqual((await fitted(page)).messages[3], cleared.messages[1]);
      await press(page, "3.0", "Shorten");
      await item(page, "3.0").getByLabel("Tokens to keep").fill("50");
      await page.keyboard.press("Tab");
      await eventually(async () => {
        const { content } = (await fitted(page)).messages[3];
        assert.ok(content.length < 300 && content.startsWith("1  not ok 1 -"), content);
      });
    });
  });

  it("a tool definition and the system context are excluded", async () => {
    for (const [body, names] of [
      [anthropic, (request) => request.tools.map(({ name }) => name)],
      [gemini, (request) => request.tools[0].functionDeclarations.map(({ name }) => name)],
    ]) {
      await on(body(), async (page) => {
        await press(page, "tool-1", "Exclude");
        await press(page, "system", "Exclude");
        const request = await fitted(page);
        assert.deepEqual(names(request), ["run_tests", "edit_file"]);
        assert.equal(request.system ?? request.systemInstruction, undefined);
        assert.equal(request.max_tokens, body().max_tokens, "the rest of the body is unchanged");
      });
    }
  });

  it("user text is shortened, too, in a message with an image and a result without an id", async () => {
    const image = anthropic();
    image.messages[8].content[1].text = "word ".repeat(300);
    await on(image, async (page) => {
      await press(page, "8.1", "Shorten");
      const [first, text] = (await fitted(page)).messages[8].content;
      assert.deepEqual(first, image.messages[8].content[0]);
      assert.ok(text.text.length < 900 && text.text.startsWith("word word"), text.text);
    });
    await on(gemini(), async (page) => {
      await press(page, "2.0", "Clear");
      const { functionResponse } = (await fitted(page)).contents[2].parts[0];
      assert.ok(JSON.stringify(functionResponse).length < 200, JSON.stringify(functionResponse));
      assert.equal(functionResponse.name, "run_tests");
    });
  });

  it("a pinned message is kept while its neighbours are cut", async () => {
    await on(openai(), async (page) => {
      await page.locator('[data-counts="exact"]').waitFor();
      await page.getByLabel("Limit in tokens", { exact: true }).fill("1200");
      // The smallest removed message fits.
      const cut = page.locator('[data-kind="result"]:has(.fate-cut)').last();
      const id = await cut.getAttribute("data-item");
      await press(page, id, "Pin");
      await eventually(async () => assert.equal(await item(page, id).locator(".fate-cut").count(), 0));
      const result = openai().messages[Number.parseInt(id, 10)];
      assert.ok((await fitted(page)).messages.some(({ content }) => content === result.content));
    });
  });

  it("old results are cleared even under the limit", async () => {
    await on(anthropic(), async (page) => {
      await page.getByLabel("Old tool results").selectOption("1");
      await eventually(async () => assert.equal(await page.locator("[data-edit]").count(), 0));
      await page.getByLabel("Even under the limit").check();
      await page.locator('[data-edit="toolResults"]').waitFor();
      await eventually(async () => assert.ok((await saved(page)) > 1000));
    });
  });

  it("by keyboard, and over a reload", async () => {
    await on(anthropic(), async (page) => {
      const button = item(page, "2.0").getByRole("button", { name: "Exclude" });
      await page.getByRole("tab", { name: "Window" }).focus();
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press("Tab");
        if (await button.evaluate((element) => element === document.activeElement)) break;
      }
      await page.keyboard.press("Enter");
      await page.locator('[data-item="2.0"][data-edit="exclude"]').waitFor();
      await page.getByText("Kept in this browser").waitFor();
      await page.reload();
      await page.locator('[data-item="2.0"][data-edit="exclude"]').waitFor();
      // Edits move with their message.
      const changed = anthropic();
      changed.messages[2].content[0].content = "another one";
      await page.getByLabel("Chat messages, JSON").fill(JSON.stringify(changed));
      await eventually(async () => assert.equal(await page.locator('[data-edit="exclude"]').count(), 0));
    });
  });
});

describe("the model", () => {
  it("is the one named in the body, with its window, and exact counts if its vocabulary is published", async () => {
    await on(openai(), async (page) => {
      await page.locator('[data-counts="exact"]').waitFor();
      await eventually(async () => assert.equal(await page.getByLabel("Model").inputValue(), "gpt-4o"));
      const { contextWindow, outputLimit } = modelInfo("gpt-4o");
      const limit = String(contextWindow - outputLimit);
      await eventually(async () =>
        assert.equal(await page.getByLabel("Limit in tokens", { exact: true }).inputValue(), limit),
      );
      await page.getByLabel("Model").selectOption("claude-sonnet-5-5");
      await page.getByText(/up to 35 % off/).waitFor();
      await eventually(async () =>
        assert.equal(await page.getByLabel("Limit in tokens", { exact: true }).inputValue(), "872000"),
      );
    });
  });

  it("each offered model is known to the package", async () => {
    await on(openai(), async (page) => {
      const names = await page
        .getByLabel("Model")
        .locator("option")
        .evaluateAll((all) => all.map(({ value }) => value).filter(Boolean));
      assert.ok(names.length >= 15);
      assert.deepEqual(
        names.filter((name) => !modelInfo(name)),
        [],
      );
    });
  });

  it("has a price that can be changed, and is stored", async () => {
    await on(anthropic(), async (page) => {
      await press(page, "2.0", "Exclude");
      const tokens = await saved(page);
      const money = () => page.locator("[data-saved]").textContent();
      await eventually(async () =>
        assert.ok((await money()).includes(`$${((tokens * 3) / 1e6).toPrecision(3)}`), await money()),
      );
      await page.locator(".prices summary").click();
      await page.getByLabel("Input, claude-sonnet-4-5").fill("6");
      await page.keyboard.press("Tab");
      const twice = `$${((tokens * 6) / 1e6).toPrecision(3)}`;
      await eventually(async () => assert.ok((await money()).includes(twice), await money()));
      await page.waitForTimeout(100);
      await page.reload();
      await eventually(async () => assert.ok((await money()).includes(twice), await money()));
      await page.locator(".prices summary").click();
      await page.getByRole("button", { name: "Reset: claude-sonnet-4-5" }).click();
      await eventually(async () => assert.ok(!(await money()).includes(twice)));
    });
  });
});

describe("how it looks", () => {
  for (const { width, height, colorScheme } of LOOKS) {
    it(`${width} pixels, ${colorScheme}`, async () => {
      await on(
        anthropic(),
        async (page) => {
          await press(page, "2.0", "Exclude");
          await press(page, "6.0", "Shorten");
          await item(page, "6.0").locator(".window-item-name").click();
          await page.locator(".prices summary").click();
          await fitsAcross(page);
          assert.deepEqual(await findings(page), []);
          await page.locator(".saved").scrollIntoViewIfNeeded();
          await page.screenshot({ path: join(screenshots, `window-${width}-${colorScheme}.png`) });
        },
        { width, height, colorScheme },
      );
    });
  }
});
