// Two results of a chat next to each other, in a real browser: strategies, windows, formats, before and after an edit.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { convertMessages, init } from "ctxweave/chat";
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
  const [changed, left, right, same] = text.match(/\d[\d,]*/g).map(number);
  return { changed, left, right, same };
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
      await page.getByLabel("Left").selectOption("original");
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
      await eventually(async () => assert.equal(await page.getByLabel("Left").inputValue(), "original"));
    });
  });
});

describe("pins of a large chat", () => {
  const large = Array.from({ length: 4000 }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: `Message ${at}: how much wool is there now, and where is it kept?`,
  }));
  const pin = (page) => page.getByRole("button", { name: "Pin this result" });
  const leftTokens = (page, side) => page.locator(`[data-facts="${side}"] td`).first().textContent();

  const replace = async (page, name, request) => {
    await drop(page, name, JSON.stringify(request));
    await page.getByRole("button", { name: "Replace it" }).click();
  };

  it("are left out for a small chat, which is compared as well", async () => {
    await on(large, async (page) => {
      await page.locator('[data-same="4000"]').waitFor();
      await pin(page).click();
      await page.getByText("1 result pinned").waitFor();
      await replace(page, "small.json", openai());
      await eventually(async () => assert.deepEqual(await counts(page), { changed: 0, left: 0, right: 0, same: 25 }));
      await page.getByText("1 of a large chat can be compared only while such a chat is open.").waitFor();
      assert.equal(await page.getByLabel("Left").locator("option").count(), 2);
      // A pin of the small one is compared with a large chat.
      await pin(page).click();
      await replace(page, "large.json", large);
      await eventually(async () => assert.equal(await page.getByLabel("Left").locator("option").count(), 4));
      await eventually(async () => assert.ok((await counts(page)).right > 3900));
      await page.getByRole("button", { name: "Unpin all" }).click();
      await eventually(async () => assert.equal(await page.getByLabel("Left").locator("option").count(), 2));
    });
  });

  it("are one state, also while a newer one is computed", async () => {
    await on(large, async (page) => {
      await page.locator('[data-same="4000"]').waitFor();
      await limit(page).evaluate((field) => {
        const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
        set.call(field, "20000");
        for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
        [...document.querySelectorAll("button")].find((one) => one.textContent.includes("Pin this result")).click();
      });
      await page.getByText("1 result pinned").waitFor();
      await eventually(async () => {
        assert.notEqual(await leftTokens(page, "left"), await leftTokens(page, "right"));
        assert.ok((await counts(page)).left > 0, "the pinned request is that of the older limit");
      });
    });
  });

  it("are sent to the worker once", async () => {
    await on([], async (page) => {
      await page.evaluate(() => {
        globalThis.posted = 0;
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (message, ...rest) {
          globalThis.posted += JSON.stringify(message).length;
          post.call(this, message, ...rest);
        };
      });
      const sent = () => page.evaluate(() => [globalThis.posted, (globalThis.posted = 0)][0]);
      await replace(page, "large.json", large);
      await page.locator('[data-same="4000"]').waitFor();
      await pin(page).click();
      await eventually(async () => assert.equal(await page.getByLabel("Left").locator("option").count(), 3));
      assert.ok((await sent()) > 2 * 300_000, "the text of the chat, and that of the pin");
      await page.getByLabel("Only differences").uncheck();
      await eventually(async () => assert.ok((await differences(page, "same").count()) > 100));
      assert.ok((await sent()) < 2000, "neither of them again");
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
