// Large input: computed in a worker, edited part by part, and refused with its size if it is too large.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findings } from "./axe.mjs";
import {
  chooseTab,
  drop,
  eventually,
  fitsAcross,
  LOOKS,
  number,
  savedText,
  screenshots,
  showPane,
  start,
  visit,
} from "./harness.mjs";

let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const chat = (count) =>
  JSON.stringify(
    Array.from({ length: count }, (_, at) => ({
      role: at % 2 ? "assistant" : "user",
      content: `Message ${at}: how much wool is there now, and where is it kept?`,
    })),
  );
const kept = (page) => page.locator('[data-many="kept"]').textContent();
const field = (page) => page.getByLabel("Chat messages, JSON");
const total = async (page) => number(/[\d,]+/.exec(await page.locator("[data-total]").textContent())[0]);
const dropSize = (page, name, bytes) =>
  page.evaluate(
    ([name, bytes]) => {
      const dataTransfer = new DataTransfer();
      const piece = `${"wool ".repeat(200_000)}\n`;
      dataTransfer.items.add(
        new File(
          Array.from({ length: Math.ceil(bytes / piece.length) }, () => piece),
          name,
        ),
      );
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    },
    [name, bytes],
  );

describe("a chat of 10,000 messages", () => {
  it("is fitted, and each edit of a part of its text is counted", async () => {
    await visit(site, "#/chats", async (page) => {
      await drop(page, "large.json", chat(10_000));
      await eventually(async () => assert.equal(await kept(page), "10,000 kept"));
      const before = await total(page);
      assert.ok((await field(page).inputValue()).length <= 50_000, "a field with all of it would block the page");
      await field(page).evaluate((e) => {
        const at = e.value.indexOf("how much wool");
        e.setSelectionRange(at, at);
      });
      await field(page).pressSequentially("tell me ");
      await eventually(async () => assert.ok((await total(page)) > before));
      // The parts after the first can be reached, and are the same text.
      await page.getByRole("slider", { name: "Part of the text" }).press("End");
      await eventually(async () => assert.match(await field(page).inputValue(), /Message 9999: .*\]$/));
      await chooseTab(page, /Messages/);
      await page.locator('[data-message="0"]').getByText("tell me how much wool").waitFor();
    });
  });

  it("has its JSON, its comparison with a pinned result, its turns and its code", async () => {
    await visit(site, "#/chats", async (page) => {
      await drop(page, "large.json", chat(4000));
      await eventually(async () => assert.equal(await kept(page), "4,000 kept"));
      await chooseTab(page, "JSON");
      const json = page.locator('[data-json="messages"]');
      await json.getByText("Message 0:").waitFor();
      assert.ok((await json.textContent()).length < 50_000, "only visible lines are rendered");
      await eventually(async () => {
        await json.evaluate((e) => e.scrollTo(0, e.scrollHeight));
        assert.match(await json.textContent(), /Message 3999/);
      });
      await page.getByRole("button", { name: "Copy fitted chat" }).click();
      await eventually(async () =>
        assert.ok((await page.evaluate(() => navigator.clipboard.readText())).includes("Message 3999")),
      );
      await chooseTab(page, "Compare");
      await page.locator('[data-same="4000"]').waitFor();
      await page.getByRole("button", { name: "Pin this result" }).click();
      await page.getByLabel("Limit in tokens", { exact: true }).fill("20000");
      await page.locator('[data-difference="left"]').first().waitFor();
      await chooseTab(page, "Cache");
      // Of its 2,000 turns the last ones are fitted.
      await page.locator('[data-turns="400"]').waitFor();
      // The code is that of the last letter, which the worker does not have yet.
      await field(page).evaluate((e) => {
        e.setRangeText("tell me ", e.value.indexOf("how much wool"), e.value.indexOf("how much wool"));
        e.dispatchEvent(new Event("input", { bubbles: true }));
        [...document.querySelectorAll("button")].find((one) => one.textContent.includes("Copy as code")).click();
      });
      const dialog = page.getByRole("dialog", { name: "This view as code" });
      assert.match(await dialog.locator("[data-code]").textContent(), /fitMessages\(chat, \{[^}]*maxTokens: 20000/);
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        dialog.getByRole("button", { name: "Save chat.json" }).click(),
      ]);
      assert.match(await savedText(saved), /Message 0: tell me how much wool/);
      await dialog.getByRole("button", { name: "Close" }).click();
      // Results that the worker no longer computes are not shown again.
      const shown = await page.getByRole("tab", { name: "JSON" }).evaluate(async (tab) => {
        tab.click();
        for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
        return document.querySelector('[data-json="messages"]').textContent;
      });
      assert.doesNotMatch(shown, /Message 0: how much wool/);
      await json.getByText("Message 0: tell me how much wool").waitFor();
    });
  });

  it("is kept with its edits, also with those of the last second before a reload", async () => {
    await visit(site, "#/chats", async (page) => {
      // The first million characters end within the yarn.
      const chunk = 1_000_000;
      const message = (at, content) => ({ role: at % 2 ? "assistant" : "user", content });
      const of = (length) => JSON.stringify([message(0, "how much wool"), message(1, `${"w".repeat(length)}🧶`)]);
      const text = of(chunk - of(0).indexOf("🧶") - 1 - "tell 🧶 ".length);
      await drop(page, "large.json", text);
      await eventually(async () => assert.equal(await kept(page), "2 kept"));
      await page.getByText("Kept in this browser").waitFor();
      await field(page).evaluate((e) => {
        const at = e.value.indexOf("how much wool");
        e.setSelectionRange(at, at);
      });
      await field(page).pressSequentially("tell 🧶 ");
      await page.reload();
      await eventually(async () => assert.match(await field(page).inputValue(), /tell 🧶 how much wool/));
      await page.getByRole("slider", { name: "Part of the text" }).press("End");
      await eventually(async () => assert.equal(await field(page).inputValue(), '"}]'));
      await page.getByRole("button", { name: "Previous" }).click();
      await eventually(async () => assert.match(await field(page).inputValue(), /^w+🧶$/));
    });
  });

  it("is stored while it is typed", async () => {
    await visit(site, "#/chats", async (page) => {
      await drop(page, "large.json", chat(3000));
      await page.getByText("Kept in this browser").waitFor();
      const stored = await field(page).evaluate(async (e) => {
        const begun = Date.now();
        while (Date.now() - begun < 7000) {
          e.setRangeText("tell me ", e.value.indexOf("how much wool"), e.value.indexOf("how much wool"));
          e.dispatchEvent(new Event("input", { bubbles: true }));
          await new Promise((done) => setTimeout(done, 300));
        }
        const request = (of) => new Promise((done) => (of.onsuccess = () => done(of.result)));
        const database = await request(indexedDB.open("ctxweave"));
        const all = await request(database.transaction("views").objectStore("views").getAll());
        database.close();
        return Promise.all(all.map(({ value }) => value?.text?.text?.()));
      });
      assert.ok(stored.some((text) => text?.includes("tell me how much wool")));
    });
  });

  it("reports an error in its text", async () => {
    await visit(site, "#/chats", async (page) => {
      await drop(page, "large.json", chat(10_000));
      await eventually(async () => assert.equal(await kept(page), "10,000 kept"));
      await field(page).press("Control+Home");
      await field(page).pressSequentially("x");
      await page.locator('[data-error-code]:text("invalid_json")').waitFor();
    });
  });
});

describe("a text of 2 MB", () => {
  it("is counted, and shown part by part", async () => {
    await visit(site, "#/tokens", async (page) => {
      await page.locator('[data-figure="characters"]').waitFor();
      await dropSize(page, "large.txt", 2_000_000);
      await eventually(async () =>
        assert.equal(await page.locator('[data-figure="characters"]').textContent(), "2,000,002"),
      );
      assert.ok((await page.getByRole("textbox", { name: "Text" }).inputValue()).length <= 50_000);
      await page.locator(".token-block").first().waitFor();
      await page.getByRole("button", { name: "Next" }).click();
      await eventually(async () =>
        assert.match(await page.locator(".text-parts output").textContent(), /^Part 2 of 41$/),
      );
      await page.locator(".token-block").first().waitFor();
    });
  });
});

describe("too large input", () => {
  for (const [name, bytes, limit] of [
    ["hundred.json", 100_000_000, /100 MB: this page opens up to 64 MB/],
    ["two-hundred.txt", 200_000_000, /200 MB: this page opens up to 64 MB/],
    ["forty.txt", 40_000_000, /40 MB: this page opens up to 32 MB/],
  ]) {
    it(`${name} is refused with its size, and the page goes on`, async () => {
      await visit(site, "#/tokens", async (page) => {
        const characters = () => page.locator('[data-figure="characters"]').textContent();
        // The sample is counted once the module is loaded.
        await eventually(async () => assert.notEqual(await characters(), "0"));
        const before = await characters();
        await dropSize(page, name, bytes);
        await eventually(async () => assert.match(await page.locator(".dropped").textContent(), limit));
        assert.equal(await characters(), before);
      });
    });
  }
});

describe("how it looks", () => {
  for (const { size, ...options } of LOOKS) {
    it(`${size}, ${options.colorScheme}`, async () => {
      await visit(
        site,
        "#/chats",
        async (page) => {
          await drop(page, "large.json", chat(3000));
          await page.locator('[data-many="kept"]:text("3,000 kept")').waitFor({ state: "attached" });
          await showPane(page, "Chat and settings");
          await page.locator(".text-parts").waitFor();
          await fitsAcross(page);
          assert.deepEqual(await findings(page), []);
          await page.screenshot({ path: join(screenshots, `input-${size}-${options.colorScheme}.png`) });
        },
        options,
      );
    });
  }
});
