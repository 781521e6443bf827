// What the Chats view promises: a cost for every known model, tools that stay when nothing fits, and numbers that agree.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { init, modelInfo } from "ctxweave/chat";
import { findings } from "./axe.mjs";
import {
  choose,
  chooseTab,
  drop,
  eventually,
  fitsAcross,
  LOOKS,
  number,
  screenshots,
  showPane,
  start,
  visit,
  visitChat,
} from "./harness.mjs";
import { anthropic, openai } from "./requests.mjs";

let site;
before(async () => {
  await init();
  site = await start();
});
after(() => site.stop());

const money = (text) => Number(/\$([\d.]+)/.exec(text)[1]);
const figure = async (page, name) =>
  number(/[\d,]+/.exec(await page.locator(`[data-tokens="${name}"]`).textContent())[0]);
const total = async (page) => number(/^[\d,]+/.exec(await page.locator("[data-total]").textContent())[0]);

describe("cost", () => {
  for (const model of [
    "claude-haiku-4-5-20251001",
    "anthropic/claude-sonnet-4.5",
    "us.anthropic.claude-opus-4-5-20251101-v1:0",
    "openai/gpt-4o-2024-08-06",
    "o3",
    "gemini-2.5-flash",
    "mistral-large-latest",
    "claude-opus-9",
  ]) {
    it(`${model} costs its list price`, async () => {
      const { price } = modelInfo(model);
      await visitChat(site, { ...openai(), model }, "Window", async (page) => {
        await eventually(async () => {
          const given = page.locator("[data-before]");
          const tokens = Number(await given.getAttribute("data-before"));
          const shown = money(await given.textContent());
          assert.ok(Math.abs(shown - (tokens / 1e6) * price.input) <= shown / 100, `${shown} for ${tokens}`);
        });
        assert.equal(await page.getByText("Choose a model").count(), 0);
      });
    });
  }

  it("a model without a price has a field for it, which is kept", async () => {
    await visitChat(site, { ...openai(), model: "house-model-7" }, "Window", async (page) => {
      await page.getByLabel("Price of a million tokens, house-model-7").fill("1000");
      await page.keyboard.press("Tab");
      await eventually(async () => {
        const given = page.locator("[data-before]");
        assert.equal(
          money(await given.textContent()).toFixed(2),
          (Number(await given.getAttribute("data-before")) / 1000).toFixed(2),
        );
      });
      await page.getByText(/^Prices: US dollars/).click();
      assert.equal(await page.getByLabel("Input, house-model-7").inputValue(), "1000");
      await page.getByRole("button", { name: "Reset: house-model-7" }).click();
      await page.getByLabel("Price of a million tokens, house-model-7").waitFor();
    });
  });

  it("the sample of Start is opened with its model, at the same cost", async () => {
    await visit(site, "#/start", async (page) => {
      const shown = await page.locator("[data-total]").textContent();
      await page.getByRole("link", { name: "Inspect and change it" }).click();
      await page.locator("[data-format]").waitFor();
      await eventually(async () => assert.equal(await page.locator("[data-total]").textContent(), shown));
      assert.match(await page.locator("[data-after]").textContent(), /\$/);
    });
  });
});

describe("a chat that does not fit", () => {
  it("keeps its tools, also after a reload, and has a way back", async () => {
    await visit(site, "#/chats", async (page) => {
      const pin = (id) => page.locator(`[data-item="${id}"]`).getByRole("button", { name: "Pin", exact: true });
      await pin("3.0").click();
      await pin("7.0").click();
      const alert = page.getByRole("alert");
      await alert.getByText("context_too_long").waitFor();
      const hasTools = async () => {
        for (const name of ["Exclude", "Clear", "Shorten", "Pin"])
          assert.ok((await page.getByRole("button", { name, exact: true }).count()) > 0, name);
        assert.ok((await page.locator(".treemap .tile").count()) > 3);
        await page.getByRole("tab", { name: "Compare" }).waitFor();
      };
      await hasTools();
      assert.match(await page.locator("[data-over]").textContent(), /over/);
      await page.getByText("Kept in this browser").waitFor();
      await page.reload();
      await alert.getByText("context_too_long").waitFor();
      await hasTools();
      for (const tab of ["Messages", "Compare", "Cache", "JSON", "Window"]) await chooseTab(page, tab);
      await alert.getByRole("button", { name: "Unpin all" }).click();
      await alert.waitFor({ state: "detached" });
      await pin("3.0").click();
      await pin("7.0").click();
      await alert.getByRole("button", { name: /^Raise the limit/ }).click();
      await alert.waitFor({ state: "detached" });
    });
  });

  it("an excluded part makes it fit", async () => {
    await visit(site, "#/chats?limit=500", async (page) => {
      const row = (id) => page.locator(`[data-item="${id}"]`);
      await row("3.0").getByRole("button", { name: "Pin", exact: true }).click();
      await row("7.0").getByRole("button", { name: "Pin", exact: true }).click();
      await page.getByRole("alert").waitFor();
      await row("7.0").getByRole("button", { name: "Exclude", exact: true }).click();
      await row("3.0").getByRole("button", { name: "Exclude", exact: true }).click();
      await page.getByRole("alert").waitFor({ state: "detached" });
    });
  });

  it("tool definitions over the limit are named", async () => {
    const body = { ...anthropic(), system: undefined };
    await visitChat(site, body, "Window", async (page) => {
      await page.getByLabel("Limit in tokens", { exact: true }).fill("100");
      const alert = page.getByRole("alert");
      await alert.waitFor();
      assert.match(await alert.textContent(), /tool definitions cost/);
      assert.doesNotMatch(await alert.textContent(), /system context (costs|alone)/);
    });
  });

  for (const look of LOOKS) {
    it(`looks right: ${look.size}, ${look.colorScheme}`, async () => {
      await visit(
        site,
        "#/chats?limit=300",
        async (page) => {
          await showPane(page, "Fitted chat");
          const row = (id) => page.locator(`[data-item="${id}"]`);
          await row("3.0").getByRole("button", { name: "Pin", exact: true }).click();
          await page.getByRole("alert").waitFor();
          await page.evaluate(() => document.querySelector(".result-pane .tab-panel")?.scrollTo(0, 0));
          await page.evaluate(() => scrollTo(0, 0));
          await page.screenshot({ path: join(screenshots, `over-${look.size}-${look.colorScheme}.png`) });
          assert.deepEqual(await findings(page), []);
          await fitsAcross(page);
        },
        look,
      );
    });
  }
});

describe("numbers", () => {
  it("of the bar and of the window agree, by kind and in total", async () => {
    for (const sample of ["OpenAI", "Anthropic", "Coding agent"]) {
      await visit(site, "#/chats?limit=100000", async (page) => {
        await choose(page.getByRole("radio", { name: sample, exact: true }).first());
        await page.getByLabel("Limit in tokens", { exact: true }).fill("100000");
        const kind = async (name) => {
          const radio = page.getByRole("group", { name: "Window or messages" }).getByText(new RegExp(`^${name} `));
          return (await radio.count()) > 0 ? number(/[\d,]+$/.exec(await radio.textContent())[0]) : 0;
        };
        await eventually(async () => {
          assert.equal(await kind("All"), await total(page));
          assert.equal(await kind("System"), await figure(page, "system"), sample);
          assert.equal(await kind("Overhead"), await figure(page, "overhead"), sample);
          assert.equal(await kind("Tool definitions"), await figure(page, "tools"), sample);
        });
        const given = await page.locator("[data-before]").getAttribute("data-before");
        assert.equal(Number(given), await total(page));
      });
    }
  });

  it("without a model and a limit nothing is called free, and no bar is full", async () => {
    const { model: _, ...body } = openai();
    await visitChat(site, body, "Window", async (page) => {
      assert.match(await page.locator("[data-total]").textContent(), /no limit/);
      assert.equal(await page.locator('[data-tokens="free"]').count(), 0);
      assert.equal(await page.locator(".result-pane .bar").count(), 0);
      await page.getByLabel("Limit in tokens", { exact: true }).fill("9000");
      await eventually(async () => assert.ok((await figure(page, "free")) > 0));
      assert.equal(await page.locator(".result-pane .bar").count(), 1);
    });
  });

  it("a kind has one colour in the bar, the window and the messages", async () => {
    await visit(site, "#/chats?sample=agent&limit=100000", async (page) => {
      const color = (selector, property) =>
        page
          .locator(selector)
          .first()
          .evaluate((element, name) => getComputedStyle(element)[name], property);
      await page.locator('[data-item="system"]').waitFor();
      const [system, tools, overhead] = await Promise.all(
        ["system", "tools", "overhead"].map((name) => color(`.bar-legend .swatch.${name}`, "backgroundColor")),
      );
      assert.equal(new Set([system, tools, overhead]).size, 3);
      assert.equal(await color('[data-item="system"] .swatch', "backgroundColor"), system);
      assert.equal(await color('[data-kind="tool"] .swatch', "backgroundColor"), tools);
      assert.equal(await color('[data-kind="overhead"] .swatch', "backgroundColor"), overhead);
      await chooseTab(page, "Messages");
      assert.equal(await color(".role-system .message-body", "borderInlineStartColor"), system);
    });
  });
});
