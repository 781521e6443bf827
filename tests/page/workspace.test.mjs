// The Workspace view in a real browser, compared with the package's results for the same files in Node.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { init, readContext } from "ctxweave";
import { choose, eventually, fitsAcross, number, openNothing, screenshots, start, visit } from "./harness.mjs";

const dir = fileURLToPath(new URL("../../examples/workspace", import.meta.url));
const text = (path) => readFile(join(dir, path), "utf8");

let site;
let sample;
before(async () => {
  await init();
  sample = {
    tastes: {
      default: await text("tastes/_default.md"),
      genres: Object.fromEntries(
        await Promise.all(
          ["documentary", "night", "underwater"].map(async (name) => [name, await text(`tastes/${name}.md`)]),
        ),
      ),
    },
    brief: await text("manta/brief.md"),
    notes: await text("manta/notes.md"),
    log: await text("manta/log.jsonl"),
    gaps: await text("manta/vocabulary_gaps.jsonl"),
  };
  site = await start();
});
after(() => site.stop());

const on = (hash, steps, options) => visit(site, hash, steps, options);

/** Asserts that the page's response is the package's. */
async function responds(page, input) {
  const { context, tokens } = readContext(input);
  await page.getByRole("tab", { name: "JSON" }).click();
  await eventually(async () =>
    assert.deepEqual(JSON.parse(await page.locator('[data-json="read_context"]').textContent()), context),
  );
  await eventually(async () =>
    assert.equal(number((await page.locator("[data-total]").textContent()).replace(/ tokens?/, "")), tokens.total),
  );
  for (const section of ["tastes", "brief", "notes", "recentLog", "recentGaps"]) {
    await eventually(async () =>
      assert.equal(number(await page.locator(`[data-tokens="${section}"]`).textContent()), tokens[section], section),
    );
  }
  await page.getByRole("tab", { name: /Response/ }).click();
  return context;
}

const edit = async (page, tab, name, value) => {
  await page.getByRole("tab", { name: tab, exact: true }).click();
  await page.getByLabel(name, { exact: true }).fill(value);
};

describe("the sample workspace", () => {
  it("shows the response, with truncation and damage", async () => {
    await on("#/workspace", async (page) => {
      const context = await responds(page, sample);
      await eventually(async () => {
        assert.equal(await page.locator("[data-conflict]").count(), context.tastes.conflicts.length);
        assert.match(await page.locator(".elided").textContent(), /^\.\.\. \[\d+ lines elided\] \.\.\.$/);
      });
      await page.getByText("notes truncated").waitFor();
      const codes = await page.locator("[data-finding]").evaluateAll((all) => all.map((one) => one.dataset.finding));
      assert.deepEqual(codes.sort(), ["malformed_line", "taste_not_declared", "torn_line"]);
      await eventually(async () => assert.equal(await page.locator('[data-section="recent_log"] li').count(), 10));
    });
  });

  it("follows every edit", async () => {
    await on("#/workspace", async (page) => {
      let now = { ...sample, brief: "Tastes: night, ../x\n\nDarker." };
      await edit(page, "Brief", "brief.md", now.brief);
      await responds(page, now);
      await page.locator('[data-finding="taste_refused"]').waitFor();
      await page.getByRole("tab", { name: "Tastes", exact: true }).click();
      await page.getByLabel("Taste file").selectOption("night");
      await page.getByLabel("night.md", { exact: true }).fill("- Black is black.\n");
      now = { ...now, tastes: { ...sample.tastes, genres: { ...sample.tastes.genres, night: "- Black is black.\n" } } };
      await responds(page, now);
      now = { ...now, notes: "Short now." };
      await edit(page, "Notes", "notes.md", now.notes);
      assert.equal((await responds(page, now)).notes.truncated, false);
      await eventually(async () => assert.equal(await page.locator(".elided").count(), 0));
      now = { ...now, log: '{"op":"a"}\nx\n{"op":"b"}\n' };
      await edit(page, "Log", "log.jsonl", now.log);
      await responds(page, now);
      await page.getByText("log.jsonl:2").waitFor();
      await page.getByRole("tab", { name: "Limits", exact: true }).click();
      await page.getByLabel("Log entries").fill("1");
      await responds(page, { ...now, limits: { logEntries: 1 } });
    });
  });
});

describe("a folder from the disk", () => {
  it("opens by a field if the browser has no picker", async () => {
    await on("#/workspace", async (page) => {
      await page.evaluate(() => {
        globalThis.showDirectoryPicker = undefined;
      });
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Open a folder…" }).click();
      await (await chooser).setFiles(join(dir, "manta"));
      await page.locator(".about strong").filter({ hasText: "manta" }).waitFor();
      const { tastes: _, ...rest } = sample;
      await responds(page, rest);
      await eventually(async () => assert.equal(await page.locator('[data-finding="taste_missing"]').count(), 2));
    });
  });

  it("reports an empty folder, and keeps the open one", async () => {
    await on("#/workspace", async (page) => {
      await openNothing(page);
      await responds(page, sample);
    });
  });
});

describe("looks", () => {
  for (const [name, options] of [
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["narrow", { width: 390, height: 844 }],
  ]) {
    it(name, async () => {
      await on(
        "#/workspace",
        async (page) => {
          if (name === "narrow") await choose(page.getByRole("radio", { name: "Response" }));
          await page.locator("[data-section]").first().waitFor();
          await page.screenshot({ path: join(screenshots, `workspace-${name}.png`) });
          await fitsAcross(page);
        },
        options,
      );
    });
  }
});
