// Copy as code: the program of each view is run in Node, and its output equals the view's.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findings } from "./axe.mjs";
import { agreeing, drop, eventually, fitsAcross, savedText, screenshots, start, visit } from "./harness.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const sessions = join(root, "examples", "sessions");
// Inside the repository, so that `ctxweave` resolves as in a user's project.
const programs = join(root, "target", "page", "programs");

let site;
before(async () => {
  site = await start();
});
after(async () => {
  await site.stop();
  await rm(programs, { recursive: true, force: true });
});

/** Runs the program of the open view, with its files next to it; returns its output. */
async function run(page, name) {
  const folder = join(programs, name);
  await mkdir(folder, { recursive: true });
  await page.getByRole("button", { name: "Copy as code" }).click();
  const dialog = page.getByRole("dialog", { name: "This view as code" });
  const program = await dialog.locator('[data-code="javascript"]').textContent();
  for (const file of await dialog.locator("[data-file-of-code]").all()) {
    const [saved] = await Promise.all([page.waitForEvent("download"), file.click()]);
    await saved.saveAs(join(folder, await file.getAttribute("data-file-of-code")));
  }
  await dialog.getByRole("button", { name: "Copy", exact: true }).click();
  await eventually(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), program));
  await dialog.getByRole("tab", { name: "Rust" }).click();
  await writeFile(join(folder, "main.rs"), await dialog.locator('[data-code="rust"]').textContent());
  await dialog.getByRole("button", { name: "Close" }).click();
  await writeFile(join(folder, "main.mjs"), program);
  const { stdout } = await promisify(execFile)(process.execPath, ["main.mjs"], { cwd: folder, encoding: "buffer" });
  return stdout.toString();
}

const tab = (page, name) => page.getByRole("tab", { name, exact: true });
const shownJson = async (page, name) => JSON.parse(await page.locator(`[data-json="${name}"]`).textContent());

const on = (hash, steps, options) =>
  visit(
    site,
    hash,
    async (page) => {
      await agreeing(page);
      await steps(page);
    },
    options,
  );

describe("copy as code", () => {
  for (const hash of [
    "#/loom?tree=agent&window=6000",
    "#/loom?tree=story",
    "#/loom?tree=sources&window=9000&provider=anthropic&tokens=cl100k_base",
  ]) {
    it(`Loom: ${hash}`, async () => {
      await on(hash, async (page) => {
        await page.locator(".summary").first().waitFor();
        if (hash.includes("tokens=")) await page.locator("[data-estimate]").waitFor();
        const result = JSON.parse(await run(page, "loom"));
        await tab(page, "JSON").click();
        await eventually(async () => assert.deepEqual(result, await shownJson(page, "result")));
      });
    });
  }

  it("Chats: each sample, under a limit", async () => {
    await on("#/chats", async (page) => {
      for (const name of ["OpenAI", "Anthropic", "AI SDK"]) {
        await page.getByRole("radio", { name, exact: true }).first().click({ force: true });
        await page.locator("[data-format]").waitFor();
        const result = JSON.parse(await run(page, "chats"));
        await tab(page, "JSON").click();
        await eventually(async () => assert.deepEqual(result, await shownJson(page, "messages"), name));
      }
      await drop(page, "small.json", JSON.stringify([{ role: "user", content: 'A `chat` with\r\n"quotes"' }]));
      await page.getByText("Kept in this browser").waitFor();
      assert.deepEqual(JSON.parse(await run(page, "chats-small")), await shownJson(page, "messages"));
    });
  });

  it("Tokens: numbers, estimates, cuts and pieces", async () => {
    await on("#/tokens", async (page) => {
      await page.locator(".tok:not(.plain)").first().waitFor();
      const ids = JSON.parse(await run(page, "tokens"));
      const shown = await page
        .locator(".tok")
        .evaluateAll((all) => all.flatMap((e) => e.title.split(":")[0].split(" ")));
      assert.deepEqual(ids, shown.map(Number));
      await tab(page, "Cut").click();
      await page.getByLabel("Where to cut").selectOption("sentence");
      const { text } = JSON.parse(await run(page, "tokens-cut"));
      await page.getByRole("button", { name: "Copy result" }).click();
      await eventually(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text));
      await tab(page, "Split").click();
      await page.getByLabel("Overlap").fill("5");
      const pieces = JSON.parse(await run(page, "tokens-split"));
      const starts = await page.locator("[data-mark]").evaluateAll((all) => all.map((e) => Number(e.dataset.mark)));
      assert.deepEqual(
        pieces.map(({ start }) => start),
        starts,
      );
      await tab(page, "Tokens").click();
      await page.getByLabel("Tokenizer", { exact: true }).selectOption("gemini");
      await page.getByText("Estimates have no tokens").waitFor();
      const total = await page.locator('[data-figure="total"]').textContent();
      assert.equal(Number(await run(page, "tokens-estimate")), Number(total.replaceAll(",", "")));
    });
  });

  it("Workspace", async () => {
    await on("#/workspace", async (page) => {
      const result = JSON.parse(await run(page, "workspace"));
      await tab(page, "JSON").click();
      await eventually(async () => assert.deepEqual(result, await shownJson(page, "read_context")));
    });
  });

  it("Folders, with binary bytes", async () => {
    await on("#/folders?select=Odd%2Flatin-1&select=Areas%2Ftaiji&parents=1", async (page) => {
      await page.locator("[data-prompt]").waitFor();
      assert.equal(await run(page, "folders"), await page.locator("[data-prompt]").textContent());
    });
  });

  it("Operators: from the template to the context", async () => {
    await on("#/operators", async (page) => {
      for (const name of await page.getByRole("radio").evaluateAll((all) => all.map((e) => e.labels[0].textContent))) {
        if (["Compat", "Strict", "One step", "Whole task"].includes(name)) continue;
        await page.getByRole("radio", { name, exact: true }).click({ force: true });
        const ask = page.getByRole("button", { name: "Answer" });
        if ((await ask.count()) > 0) await ask.click();
        await page.locator("[data-result]").waitFor();
        const result = JSON.parse(await run(page, "operators"));
        const parts = await page
          .locator("[data-part]")
          .evaluateAll((all) => Object.fromEntries(all.map((e) => [e.dataset.part, e.textContent])));
        const { inherited, accumulated, fresh } = result;
        assert.deepEqual(parts, JSON.parse(JSON.stringify({ inherited, accumulated, fresh })), name);
      }
    });
  });

  it("Commits: a fork of the sample, for another agent; CBOR", async () => {
    await on("#/commits", async (page) => {
      await page.locator("[data-commit]").nth(2).click();
      await page.getByLabel("Continue from here with").fill('Once "more"');
      await page.getByRole("button", { name: "Fork" }).click();
      await page.locator('[aria-selected="true"]').filter({ hasText: "Once" }).waitFor();
      await page.getByLabel("As", { exact: true }).selectOption("codex-v1");
      await page.locator('[data-tier="transcode"]').waitFor();
      const printed = await run(page, "commits");
      await tab(page, "Bytes").click();
      await eventually(async () => assert.equal(printed, await page.locator("pre.bytes").textContent()));
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save as a file" }).click(),
      ]);
      assert.equal(printed, await savedText(saved));
      await page.locator("#session-file").setInputFiles(join(sessions, "bureau-agent.cbor"));
      await tab(page, "Why").click();
      await page.locator(".about strong").getByText("bureau-agent.cbor").waitFor();
      await page.getByLabel("As", { exact: true }).selectOption("generic-v1");
      await tab(page, "Bytes").click();
      await page.locator('[data-tier="transcode"]').waitFor();
      assert.equal(await run(page, "commits-cbor"), await page.locator("pre.bytes").textContent());
    });
  });

  for (const [width, height, colorScheme] of [
    [1440, 900, "light"],
    [390, 844, "dark"],
  ]) {
    it(`the dialog looks right at ${width}, and is closed by key`, async () => {
      await on(
        "#/chats",
        async (page) => {
          await page.getByRole("button", { name: "Copy as code" }).focus();
          await page.keyboard.press("Enter");
          await page.getByRole("dialog").waitFor();
          await fitsAcross(page);
          await page.screenshot({ path: join(screenshots, `code-${width}-${colorScheme}.png`) });
          assert.deepEqual(await findings(page), []);
          await page.keyboard.press("Escape");
          await page.getByRole("dialog").waitFor({ state: "detached" });
          await eventually(async () =>
            assert.equal(await page.evaluate(() => document.activeElement.textContent), "Copy as code"),
          );
        },
        { width, height, colorScheme },
      );
    });
  }
});
