// Two results of a chat next to each other, in a real browser: strategies, windows, formats, before and after an edit.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { convertMessages, init } from "ctxweave/chat";
import { findings } from "./axe.mjs";
import {
  choose,
  chooseTab,
  eventually,
  fitsAcross,
  LOOKS,
  screenshots,
  showPane,
  start,
  visitChat,
} from "./harness.mjs";
import { anthropic, openai } from "./requests.mjs";

let site;
before(async () => {
  await init();
  site = await start();
});
after(() => site.stop());

const on = (request, steps, options) => visitChat(site, request, "Compare", steps, options);

const differences = (page, kind) => page.locator(`[data-difference="${kind}"]`);

/** The number of differences, from the sentence that reports it. */
async function counts(page) {
  const text = await page.locator("[data-differences]").textContent();
  const [, changed, left, right, same] = /(\d+) changed, (\d+) only left, (\d+) only right, (\d+) the same/.exec(text);
  return { changed: Number(changed), left: Number(left), right: Number(right), same: Number(same) };
}

const limit = (page) => page.getByLabel("Limit in tokens", { exact: true });

describe("two results next to each other", () => {
  it("the request and the result are equal without edits", async () => {
    await on(anthropic(), async (page) => {
      await eventually(async () =>
        assert.deepEqual(await counts(page), { changed: 0, left: 0, right: 0, same: 1 + 3 + 21 }),
      );
      await eventually(async () => assert.equal(await page.locator("[data-difference]").count(), 0));
      await page.getByLabel("Only differences").uncheck();
      await eventually(async () => assert.equal(await differences(page, "same").count(), 25));
    });
  });

  it("strategies: messages that only one of them cuts", async () => {
    await on(anthropic(), async (page) => {
      await limit(page).fill("2500");
      await eventually(async () => assert.ok((await counts(page)).left > 0));
      await page.getByRole("button", { name: "Pin this result" }).click();
      await page.getByText("1 result pinned").waitFor();
      await eventually(async () => assert.equal((await counts(page)).left, 0));
      await page.getByLabel("Strategy").selectOption("keepStart");
      await eventually(async () => {
        const { left, right } = await counts(page);
        assert.ok(left > 0 && right > 0, `${left}, ${right}`);
      });
      await eventually(async () => {
        assert.match(await page.getByLabel("Left").locator("option:checked").textContent(), /^1: .*Truncate middle/);
        assert.match(await page.getByLabel("Right").locator("option:checked").textContent(), /^Now: .*Keep start/);
        assert.equal(await differences(page, "left").count(), (await counts(page)).left);
      });
      // Against another one.
      await page.getByLabel("Left").selectOption("given");
      await eventually(async () => assert.equal((await counts(page)).right, 0));
    });
  });

  it("windows: each with its tokens and its cost", async () => {
    await on(anthropic(), async (page) => {
      await page.getByRole("button", { name: "Pin this result" }).click();
      await limit(page).fill("3000");
      const total = page.locator("[data-total]");
      await eventually(async () => {
        const [now] = /^[\d,]+/.exec(await total.textContent());
        assert.match(await page.locator('[data-facts="right"]').textContent(), new RegExp(`^Right${now}\\$`));
      });
      const left = await page.locator('[data-facts="left"]').textContent();
      await eventually(async () =>
        assert.notEqual(left.slice(4), (await page.locator('[data-facts="right"]').textContent()).slice(5)),
      );
    });
  });

  it("before and after an edit, word by word", async () => {
    await on(openai(), async (page) => {
      await page.getByRole("button", { name: "Pin this result" }).click();
      const chat = openai();
      chat.messages[21].content = chat.messages[21].content.replace("two sentences", "three long sentences");
      await page.getByLabel("Chat messages, JSON").fill(JSON.stringify(chat));
      await eventually(async () => assert.equal((await counts(page)).changed, 1));
      const row = differences(page, "changed");
      await eventually(async () => {
        assert.deepEqual(await row.locator("del").allTextContents(), ["two"]);
        assert.equal((await row.locator("ins").allTextContents()).join(" ").trim(), "three long");
      });
      const side = row.locator('[data-side="right"]');
      await eventually(async () =>
        assert.equal(await side.textContent(), "Write the note for the release, in three long sentences."),
      );
    });
  });

  it("formats: the request for another provider", async () => {
    await on(openai(), async (page) => {
      await page.getByLabel("Result as").selectOption("anthropic");
      await choose(page.locator(".compare").getByRole("radio", { name: "JSON" }));
      await eventually(async () => assert.ok((await counts(page)).left > 0));
      await eventually(async () =>
        assert.ok((await page.locator("ins").allTextContents()).join("").includes("tool_use")),
      );
      await chooseTab(page, "JSON");
      const sent = JSON.parse(await page.locator('[data-json="messages"]').textContent());
      const { system, messages } = convertMessages(openai().messages, { to: "anthropic" });
      assert.deepEqual(sent, { system, messages });
    });
  });

  it("by keyboard", async () => {
    await on(anthropic(), async (page) => {
      await page.getByRole("button", { name: "Pin this result" }).press("Enter");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await eventually(async () =>
        assert.equal(await page.getByLabel("Left").evaluate((field) => field === document.activeElement), true),
      );
      await page.keyboard.press("Home");
      await eventually(async () => assert.equal(await page.getByLabel("Left").inputValue(), "given"));
    });
  });
});

describe("how it looks", () => {
  for (const { width, height, colorScheme } of LOOKS) {
    it(`${width} pixels, ${colorScheme}`, async () => {
      await on(
        anthropic(),
        async (page) => {
          await showPane(page, "Chat and settings");
          await page.getByLabel("Old tool results").selectOption("2");
          await limit(page).fill("2400");
          await showPane(page, "Fitted chat");
          await differences(page, "changed").first().waitFor();
          await fitsAcross(page);
          assert.deepEqual(await findings(page), []);
          await page.screenshot({ path: join(screenshots, `compare-${width}-${colorScheme}.png`) });
        },
        { width, height, colorScheme },
      );
    });
  }
});
