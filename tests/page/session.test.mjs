// A session in the view of chats: what the model saw at each request, its cost, and the compactions.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { findings } from "./axe.mjs";
import {
  agreeing,
  drop,
  eventually,
  fitsAcross,
  LOOKS,
  number,
  screenshots,
  showPane,
  start,
  visit,
} from "./harness.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const example = (name) => readFile(join(root, "examples", "sessions", name), "utf8");
const slider = (page) => page.getByRole("slider", { name: "Request of the session" });
const figure = (page, name) => page.locator(`[data-figure="${name}"]`).textContent();
const firstNumber = async (page, name) => number(/[\d,]+/.exec(await figure(page, name))[0]);

/** A Claude Code session of this many long turns, with a compaction in the middle. */
function longSession(count) {
  const lines = [];
  let parent = null;
  const add = (record) => {
    const uuid = `00000000-0000-4000-8000-${String(lines.length).padStart(12, "0")}`;
    lines.push(
      JSON.stringify({
        isSidechain: false,
        sessionId: "s",
        version: "2.1",
        parentUuid: parent,
        timestamp: "2026-03-02T09:00:00.000Z",
        uuid,
        ...record,
      }),
    );
    parent = uuid;
  };
  for (let at = 0; at < count; at++) {
    if (at === count / 2) {
      const before = parent;
      parent = null;
      add({
        type: "system",
        subtype: "compact_boundary",
        content: "Conversation compacted",
        logicalParentUuid: before,
        compactMetadata: { trigger: "auto", preTokens: 9 },
      });
      add({ type: "user", isCompactSummary: true, message: { role: "user", content: "A summary of the weaving." } });
    } else
      add({
        type: "user",
        message: { role: "user", content: `Question ${at}: ${"how much wool is there now? ".repeat(60)}` },
      });
    add({
      type: "assistant",
      message: {
        id: `m${at}`,
        role: "assistant",
        model: "claude-sonnet-5-5",
        content: [{ type: "text", text: `Answer ${at}: twelve spools.` }],
      },
    });
  }
  return `${lines.join("\n")}\n`;
}

async function openSession(page, name, text) {
  await agreeing(page);
  await drop(page, name, text);
  await page.locator(".about strong").getByText(name, { exact: true }).waitFor();
  await page.getByLabel("Opened as").selectOption("chats");
  await page.locator(".session-turns").waitFor({ state: "attached" });
}

describe("a session as chats", () => {
  it("opens at its last request, and the slider shows what the model saw at each", async () => {
    await visit(site, "", async (page) => {
      await openSession(page, "long.jsonl", longSession(12));
      assert.equal(await page.locator("[data-turn]").first().textContent(), "12 of 12");
      assert.equal(await figure(page, "compactions"), "1");
      const last = await firstNumber(page, "tokens");
      await slider(page).fill("5");
      await eventually(async () => assert.equal(await page.locator("[data-turn]").first().textContent(), "6 of 12"));
      const sixth = await firstNumber(page, "tokens");
      assert.ok(sixth > last / 2);
      // The treemap and the list have the contents of that request.
      await eventually(async () => assert.match(await page.locator(".window").textContent(), /Question 5/));
      await page.locator("[data-tile]").first().waitFor();
      const before = number(/[\d,]+/.exec(await page.locator("[data-before]").textContent())[0]);
      assert.equal(before, sixth, "the request costs what its window holds");
      // After the compaction the model sees the summary instead.
      await slider(page).fill("6");
      await eventually(async () =>
        assert.match(await page.locator(".window").textContent(), /A summary of the weaving/),
      );
      assert.ok((await firstNumber(page, "tokens")) < sixth / 4);
      assert.match(await slider(page).getAttribute("aria-valuetext"), /the first after a compaction/);
      assert.equal(await page.locator(".session-bar[data-compacted]").count(), 1);
      assert.equal(await firstNumber(page, "cached"), 0);
    });
  });

  it("has the cost of each request and of all, with cache reads estimated from the previous request", async () => {
    await visit(site, "", async (page) => {
      await openSession(page, "long.jsonl", longSession(12));
      const tokens = [];
      const cached = [];
      for (let at = 0; at < 12; at++) {
        await slider(page).fill(String(at));
        await eventually(async () =>
          assert.equal(await page.locator("[data-turn]").first().textContent(), `${at + 1} of 12`),
        );
        tokens.push(await firstNumber(page, "tokens"));
        cached.push(await firstNumber(page, "cached"));
        assert.match(await figure(page, "tokens"), /\$/);
      }
      const expected = tokens.map((_, at) => (at === 0 || at === 6 || tokens[at - 1] < 1024 ? 0 : tokens[at - 1]));
      assert.deepEqual(cached, expected);
      assert.equal(
        await firstNumber(page, "all"),
        tokens.reduce((sum, one) => sum + one, 0),
      );
      assert.match(await figure(page, "all"), /\$/);
    });
  });

  it("costs its input and its answers, at prices that can be edited", async () => {
    await visit(site, "", async (page) => {
      await openSession(page, "long.jsonl", longSession(3));
      await page.locator(".prices summary").click();
      const name = await page.locator('[data-price][aria-current="true"]').getAttribute("data-price");
      // The cost is only that of the answer, then also that of the input.
      for (const [field, price] of [
        ["Input", 0],
        ["Cached", 0],
        ["Cache write", 0],
        ["Output", 1e6],
      ])
        await page.getByLabel(`${field}, ${name}`, { exact: true }).fill(String(price));
      await page.getByLabel(`Output, ${name}`, { exact: true }).blur();
      const dollars = async (of) => Number(/\$([\d.]+)/.exec(await figure(page, of))[1]);
      const answer = await firstNumber(page, "answer");
      assert.ok(answer > 0);
      await eventually(async () => assert.equal(await dollars("answer"), answer));
      await eventually(async () => assert.equal(await dollars("tokens"), answer));
      await page.getByLabel(`Cache write, ${name}`, { exact: true }).fill("1000000");
      await page.getByLabel(`Cache write, ${name}`, { exact: true }).blur();
      const [all, cached] = [await firstNumber(page, "tokens"), await firstNumber(page, "cached")];
      await eventually(async () => assert.equal(await dollars("tokens"), all - cached + answer));
    });
  });

  for (const name of [
    "claude-code.jsonl",
    "codex-v1.jsonl",
    "codex-v0.jsonl",
    "gemini-lines.jsonl",
    "gemini-object.json",
    "generic.jsonl",
  ]) {
    it(`${name} opens as chats and as a Loom`, async () => {
      await visit(site, "", async (page) => {
        await openSession(page, name, await example(name));
        assert.ok((await firstNumber(page, "tokens")) > 0);
        await page.locator("[data-format]").waitFor();
        await page.getByLabel("Opened as").selectOption("loom");
        await page.locator("[data-node]").first().waitFor();
        await eventually(async () => assert.equal(await page.locator("#open-as").inputValue(), "loom"));
      });
    });
  }

  it("a request can be edited as a chat, and the session is there after a reload", async () => {
    await visit(site, "", async (page) => {
      await openSession(page, "long.jsonl", longSession(4));
      await page.getByText("Kept in this browser").waitFor();
      await page.reload();
      await slider(page).waitFor();
      await page.getByRole("button", { name: "Edit this request as a chat" }).click();
      await eventually(async () =>
        assert.match(await page.getByLabel("Chat messages, JSON").inputValue(), /Question 3/),
      );
    });
  });
});

describe("how it looks", () => {
  for (const { size, ...options } of LOOKS) {
    it(`${size}, ${options.colorScheme}`, async () => {
      await visit(
        site,
        "",
        async (page) => {
          await openSession(page, "long.jsonl", longSession(40));
          await showPane(page, "Chat and settings");
          await slider(page).waitFor();
          await fitsAcross(page);
          assert.deepEqual(await findings(page), []);
          await page.screenshot({ path: join(screenshots, `session-${size}-${options.colorScheme}.png`) });
        },
        options,
      );
    });
  }
});
