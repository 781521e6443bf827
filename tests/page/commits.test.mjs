// The Commits view in a real browser: a session is imported, drawn, forked and materialised, and is there after a reload.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { CommitGraph, importTranscript, init } from "ctxweave";
import { agreeing, fitsAcross, screenshots, start, visit } from "./harness.mjs";

const sample = fileURLToPath(new URL("../../examples/sessions/claude-code.jsonl", import.meta.url));

let site;
let imported;
let graph;
let blobs;
before(async () => {
  await init();
  site = await start("commits");
  imported = importTranscript("claude-code-v1", await readFile(sample), {
    createdAt: new Date(0).toISOString(),
    principal: "page",
  });
  graph = new CommitGraph();
  for (const record of imported.records) graph.checkpoint(record);
  blobs = new Map(imported.blobs.map(({ artifactRef, bytes }) => [artifactRef, bytes]));
});
after(() => site.stop());

const on = (steps, options) =>
  visit(
    site,
    "#/commits",
    async (page) => {
      await agreeing(page);
      await page.locator("[data-commit]").first().waitFor();
      await steps(page);
    },
    options,
  );

const commit = (page, id) => page.locator(`[data-commit="${id}"]`);
const tab = (page, name) => page.getByRole("tab", { name, exact: true });

/** The bytes that the page has materialised. */
async function shownBytes(page) {
  await tab(page, "Bytes").click();
  return page.locator("pre.bytes").textContent();
}

/** What Node materialises. */
const expected = (request) => new TextDecoder().decode(graph.materialize(request, blobs).bytes);

describe("commits", () => {
  it("opens the sample: every commit is drawn, and the newest is materialised", async () => {
    await on(async (page) => {
      const drawn = await page.locator("[data-commit]").evaluateAll((all) => all.map((e) => e.dataset.commit));
      assert.deepEqual(drawn.sort(), imported.records.map(({ id }) => id).sort());
      await page.getByRole("button", { name: "Sample" }).click();
      await page.locator(`[data-commit="${imported.tip}"][aria-pressed="true"]`).waitFor();
      await page.locator('[data-tier="native"]').waitFor();
      assert.equal(await shownBytes(page), expected({ commit: imported.tip }));
      await page.screenshot({ path: join(screenshots, "commits-light-wide.png") });
    });
  });

  it("says what is materialised and why, for each stop", async () => {
    await on(async (page) => {
      await commit(page, imported.tip).click();
      for (const stop of ["root", "compaction", imported.records[1].id]) {
        await page.getByLabel("Back to").selectOption(stop);
        const { steps } = graph.planMaterialization({ commit: imported.tip, stop });
        await tab(page, "Why").click();
        await page.locator(`[data-step="${steps[0].id}"]`).waitFor();
        const shown = await page
          .locator("[data-step]")
          .evaluateAll((all) => all.map((e) => [e.dataset.step, e.dataset.included === "true"]));
        assert.deepEqual(
          shown,
          steps.map(({ id, included }) => [id, included]),
        );
        assert.equal(await shownBytes(page), expected({ commit: imported.tip, stop }));
      }
    });
  });

  it("materialises in another format", async () => {
    await on(async (page) => {
      await commit(page, imported.tip).click();
      await page.getByLabel("As", { exact: true }).selectOption("generic-v1");
      await page.locator('[data-tier="rendering"]').waitFor();
      assert.equal(await shownBytes(page), expected({ commit: imported.tip, format: "generic-v1" }));
    });
  });

  it("forks, materialises the fork, and has it after a reload", async () => {
    await on(async (page) => {
      const from = imported.records[1].id;
      await commit(page, from).click();
      await page.getByLabel("Go on from here with").fill("What if it were the other way round?");
      await page.getByRole("button", { name: "Fork" }).click();
      const made = page.locator('[data-commit][aria-pressed="true"]');
      await page.waitForFunction(
        (count) => document.querySelectorAll("[data-commit]").length > count,
        imported.records.length,
      );
      const id = await made.getAttribute("data-commit");
      const bytes = await shownBytes(page);
      const before = expected({ commit: from });
      assert.ok(bytes.startsWith(before), "a fork is the prefix and its own");
      assert.match(bytes.slice(before.length), /What if it were the other way round\?/);
      await tab(page, "Conversation").click();
      await page.locator(".said").getByText("What if it were the other way round?").waitFor();
      await page.reload();
      await commit(page, id).click();
      assert.equal(await shownBytes(page), bytes, "blobs and records are in the browser's database");
      await page.getByRole("button", { name: "Forget everything" }).click();
      // Any action lets it be replaced.
      await tab(page, "Why").click();
      await page.waitForFunction(
        (count) => document.querySelectorAll("[data-commit]").length === count,
        imported.records.length,
      );
    });
  });

  it("has the session that was opened last after a reload, whatever its name", async () => {
    await on(async (page) => {
      await page.locator("#session-file").setInputFiles(join(dirname(sample), "generic.jsonl"));
      const name = page.locator(".about strong");
      await name.getByText("generic.jsonl").waitFor();
      await page.getByRole("button", { name: "Sample" }).click();
      await name.getByText("claude-code.jsonl").waitFor();
      await page.reload();
      await name.getByText("claude-code.jsonl").waitFor();
      assert.deepEqual(
        (await page.locator("[data-commit]").evaluateAll((all) => all.map((e) => e.dataset.commit))).sort(),
        imported.records.map(({ id }) => id).sort(),
      );
    });
  });

  it("takes a file, and says what is wrong with one that is no session", async () => {
    await on(async (page) => {
      const lines = ["hello", "hi"].map((content, at) => JSON.stringify({ role: at ? "assistant" : "user", content }));
      const file = { mimeType: "application/jsonl", buffer: Buffer.from(lines.join("\n")) };
      await page.locator("#session-file").setInputFiles({ name: "own.jsonl", ...file });
      await page.getByText("own.jsonl").waitFor();
      await page.locator(".said").getByText("hello").waitFor();
      await page
        .locator("#session-file")
        .setInputFiles({ ...file, name: "none.jsonl", buffer: Buffer.from("no session") });
      await page.getByRole("alert").waitFor();
      assert.ok((await page.locator("[data-commit]").count()) > 0, "what was open is still there");
      await page.getByRole("button", { name: "Forget everything" }).click();
    });
  });

  it("guesses the format of each sample session", async () => {
    await on(async (page) => {
      for (const [file, format] of Object.entries({
        "claude-code.jsonl": "claude-code-v1",
        "codex-v0.jsonl": "codex-v0",
        "codex-v1.jsonl": "codex-v1",
        "gemini-lines.jsonl": "gemini-v1",
        "gemini-object.json": "gemini-v1",
        "generic.jsonl": "generic-v1",
        "bureau-agent.cbor": "bureau-agent-v1",
      })) {
        await page.locator("#session-file").setInputFiles(join(dirname(sample), file));
        await page.locator(".about strong").getByText(file, { exact: true }).waitFor();
        await page.locator(".chosen dd").getByText(format, { exact: true }).waitFor();
        await page.locator(".said li").first().waitFor();
        assert.equal(await page.getByRole("alert").count(), 0, file);
      }
      await page.getByRole("button", { name: "Forget everything" }).click();
    });
  });

  it("has no sideways scrolling on a small screen, in the dark", async () => {
    await on(
      async (page) => {
        await fitsAcross(page);
        const tops = await page.locator(".pane").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().top));
        assert.ok(tops[0] < tops[1] && tops[1] < 1500, `the graph comes first, and then the result: ${tops}`);
        await page.screenshot({ path: join(screenshots, "commits-dark-narrow.png"), fullPage: true });
      },
      { width: 390, height: 844, colorScheme: "dark" },
    );
  });
});
