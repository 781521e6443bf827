// The Cache tab of a chat, in a real browser: the common prefix of turns, the value of a breakpoint, the cost of an
// edit.

import assert from "node:assert/strict";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { after, before, describe, it } from "node:test";
import { fitMessages, init } from "ctxweave/chat";
import { findings } from "./axe.mjs";
import {
  chooseTab,
  eventually,
  fitsAcross,
  LOOKS,
  screenshots,
  showPane,
  start,
  visit,
  visitChat,
} from "./harness.mjs";
import { anthropic, gemini, openai, responses } from "./requests.mjs";

let site;
before(async () => {
  await init();
  site = await start();
});
after(() => site.stop());

const on = (request, steps, options) =>
  visitChat(
    site,
    request,
    "Cache",
    async (page) => {
      await page.locator("[data-turn]").first().waitFor();
      await steps(page);
    },
    options,
  );

const turns = (page) =>
  page
    .locator("[data-turn]")
    .evaluateAll((all) =>
      all.map(({ dataset }) => [Number(dataset.turn), Number(dataset.turnTotal), Number(dataset.turnCached)]),
    );

const limit = (page) => page.getByLabel("Limit in tokens", { exact: true });
const share = async (page) => Number(/^\d+/.exec(await page.locator("[data-cached]").textContent())[0]);

describe("turn by turn", () => {
  it("each answer was a request, which begins with the previous one", async () => {
    const body = anthropic();
    const options = { maxTokens: 136_000, model: body.model };
    const total = (length) =>
      fitMessages({ ...body, messages: body.messages.slice(0, length) }, options).report.tokens.total;
    let before = 0;
    const expected = Array.from({ length: 11 }, (_, at) => {
      const length = 2 * at + 1;
      const now = total(length);
      const cached = before >= 1024 ? before : 0;
      before = now;
      return [length, now, cached];
    });
    await on(body, async (page) => eventually(async () => assert.deepEqual(await turns(page), expected)));
  });

  for (const [name, body] of [
    ["OpenAI", openai],
    ["OpenAI's Responses", responses],
    ["Gemini", gemini],
  ]) {
    it(`${name}: eleven requests`, async () => {
      await on(body(), async (page) => {
        const list = await turns(page);
        assert.equal(list.length, 11);
        assert.ok(list.at(-1)[2] > 1024, "the last one is mostly cached");
        const [cached, before] = [list.at(-1)[2], list.at(-2)[1]];
        // The reasoning of earlier turns is not billed again.
        if (body === responses) assert.ok(cached <= before && cached > 0.99 * before, `${cached} of ${before}`);
        else assert.equal(cached, before, "cached by the previous request");
      });
    });
  }

  it("the messages that a cut leaves unchanged are the common prefix", async () => {
    await visit(site, "#/chats?sample=agent&limit=6000", async (page) => {
      await eventually(async () => assert.equal(await limit(page).inputValue(), "6000"));
      const body = await eventually(async () => {
        const sample = JSON.parse(await page.getByLabel("Chat messages, JSON").inputValue());
        assert.ok(sample.messages.length > 0);
        return sample;
      });
      const roles = body.messages.map(({ role }) => role);
      const lengths = [...roles.keys()].filter((at) => at > 0 && roles[at] === "assistant" && roles[at - 1] === "user");
      let before;
      let previous = null;
      const expected = [...lengths, roles.length].map((length) => {
        const {
          messages: request,
          report,
          state,
        } = fitMessages(
          { ...body, messages: body.messages.slice(0, length) },
          { maxTokens: 6000, edits: false, previous },
        );
        previous = state;
        const { messages } = request;
        const same = before?.findIndex((message, place) => !isDeepStrictEqual(message, messages[place])) ?? 0;
        const shared = messages.slice(0, same < 0 ? before.length : same);
        const prefix = fitMessages({ ...body, messages: shared }, { maxTokens: 1e9, repair: "off" });
        const { total } = prefix.report.tokens;
        const cached = before && total >= 1024 ? total : 0;
        before = messages;
        return [length, report.tokens.total, cached];
      });
      const parts = expected.filter(([, , cached], at) => cached > 0 && cached < expected[at - 1][1]);
      assert.ok(parts.length > 0, "some share a part of the previous request");
      await chooseTab(page, "Cache");
      await eventually(async () => assert.deepEqual(await turns(page), expected));
    });
  });

  it("requests continue the previous one, and little of the cache is lost", async () => {
    const chat = Array.from({ length: 80 }, (_, at) => ({
      role: at % 2 ? "assistant" : "user",
      content: `Turn ${at}: ${"and so on ".repeat(20)}`,
    }));
    await on(chat, async (page) => {
      await eventually(async () => assert.ok((await share(page)) > 90, "nothing is cut yet"));
      await page.getByLabel("Strategy").selectOption("rollingWindow");
      await limit(page).fill("2500");
      await page.locator("[data-moved]").waitFor();
      const moved = async () => Number(await page.locator("[data-moved]").getAttribute("data-moved"));
      const [often, low] = [await moved(), await share(page)];
      assert.ok(often > 0 && often < 8 && low > 70, `${often} times, ${low} %`);
      await page.getByLabel("Cut step in tokens").fill("1000");
      await eventually(async () => {
        const [seldom, high] = [await moved(), await share(page)];
        assert.ok(seldom <= often && high > 70, `${seldom} times, ${high} %`);
      });
      const options = { maxTokens: 2500, truncationStrategy: "rollingWindow", cutStep: 1000 };
      const [total] = /^[\d,]+/.exec(await page.locator("[data-total]").textContent());
      assert.equal(Number(total.replaceAll(",", "")), fitMessages(chat, options).report.tokens.total);
    });
  });

  it("the value of a breakpoint, in money", async () => {
    await on(anthropic(), async (page) => {
      const rows = page.locator("[data-turn]");
      await eventually(async () => assert.match(await rows.nth(0).textContent(), /not read again/));
      const [, total, cached] = (await turns(page))[6];
      const saved = (total * (3 - 0.3) - (total - cached) * (3.75 - 3)) / 1e6;
      await eventually(async () =>
        assert.ok((await rows.nth(6).textContent()).includes(`pays: $${saved.toPrecision(3)}`)),
      );
      await page.getByLabel("Model").selectOption("");
      await page.getByText("Choose a model to see the price.").waitFor();
    });
  });
});

describe("a change in the middle", () => {
  it("sends everything after it as new, and shows when it has paid off", async () => {
    await on(anthropic(), async (page) => {
      const cost = page.locator("[data-edit-after]");
      const numbers = async () => [
        Number(await cost.getAttribute("data-edit-before")),
        Number(await cost.getAttribute("data-edit-after")),
      ];
      const slider = page.getByRole("slider", { name: "At message" });
      await slider.focus();
      await page.keyboard.press("Home");
      const [first, all] = await numbers();
      await page.keyboard.press("End");
      const [most, last] = await numbers();
      assert.equal(first + all, most + last);
      assert.ok(all > last && last > 0);
      await chooseTab(page, "Window");
      await page.locator('[data-item="6.0"]').getByRole("button", { name: "Clear" }).click();
      await chooseTab(page, "Cache");
      await eventually(async () => {
        assert.match(
          await page.locator("[data-edit-pays]").textContent(),
          /begin at message 6 .* pay off after \d+ requests?/,
        );
        assert.equal(await slider.inputValue(), "6");
      });
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
          await limit(page).fill("2600");
          await showPane(page, "Fitted chat");
          await page.locator("[data-moved]").waitFor();
          await fitsAcross(page);
          assert.deepEqual(await findings(page), []);
          await page.screenshot({ path: join(screenshots, `cache-${width}-${colorScheme}.png`) });
        },
        { width, height, colorScheme },
      );
    });
  }
});
