// The start view: an introduction with a conversation that is over its window, and the links from there.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findings } from "./axe.mjs";
import { buildInto, eventually, fitsAcross, number, screenshots, start, visit } from "./harness.mjs";

let site;
before(async () => {
  site = await start();
});
after(() => site.stop());

const cut = async (page) => number(/^[\d,]+/.exec(await page.locator('[data-many="cut"]').textContent())[0]);

describe("the start view", () => {
  it("opens first, and shows the cut messages immediately", async () => {
    await visit(site, "", async (page) => {
      await page.getByRole("heading", { name: "What your model sees, what it costs, what was cut" }).waitFor();
      await page.locator("[aria-current=page]").getByText("Start").waitFor();
      await eventually(async () => {
        assert.ok((await cut(page)) > 0);
        assert.equal(await page.locator('[data-message][data-fate="cut"]').count(), await cut(page));
        assert.match(await page.locator("[data-money]").textContent(), /\$0\.0\d+ instead of \$0\.0\d+ a request/);
      });
    });
  });

  it("a larger window cuts less, and cleared results cut nothing", async () => {
    await visit(site, "", async (page) => {
      const before = await cut(page);
      const window = page.getByLabel("Window");
      await window.focus();
      for (let i = 0; i < 15; i++) await page.keyboard.press("ArrowRight");
      await eventually(async () => assert.ok((await cut(page)) < before));
      await page.getByLabel("Clear old tool results first").press("Space");
      await eventually(async () => assert.equal(await cut(page), 0));
      await eventually(async () => assert.ok((await page.locator('[data-fate="changed"]').count()) > 0));
      await page.keyboard.press("Tab");
      await page.getByRole("link", { name: "Inspect and change it" }).press("Enter");
      await page.locator("[data-item]").first().waitFor();
      const limit = page.getByLabel("Limit in tokens", { exact: true });
      await eventually(async () => assert.equal(await limit.inputValue(), "7500"));
      await eventually(async () =>
        assert.equal(await page.getByRole("radio", { name: "Coding agent" }).isChecked(), true),
      );
    });
  });

  it("has the install command", async () => {
    await visit(site, "", async (page) => {
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      const copied = () => page.evaluate(() => navigator.clipboard.readText());
      await eventually(async () => assert.equal(await copied(), "npm install ctxweave"));
    });
  });

  it("links to documentation and source, if the build has their addresses", async () => {
    await visit(site, "", async (page) => {
      await page.getByText("The documentation comes with the package").waitFor();
      assert.equal(await page.locator(".start-links").count(), 0);
    });
    const links = { DOCS_URL: "https://docs.example/", SOURCE_URL: "https://source.example/ctxweave" };
    const outDir = await mkdtemp(join(tmpdir(), "ctxweave-page-"));
    Object.assign(process.env, links);
    try {
      await buildInto(outDir);
    } finally {
      for (const name of Object.keys(links)) delete process.env[name];
    }
    const told = await start({ outDir });
    await visit(told, "", async (page) => {
      for (const [name, address] of [
        ["Documentation", links.DOCS_URL],
        ["Source", links.SOURCE_URL],
      ]) {
        const link = page.getByRole("link", { name, exact: true });
        await link.waitFor();
        assert.equal(await link.getAttribute("href"), address);
      }
      assert.deepEqual(await findings(page), []);
    });
    await told.stop();
    await rm(outDir, { recursive: true });
  });

  it("opens a file and a folder", async () => {
    await visit(site, "", async (page) => {
      const buffer = Buffer.from("Some words of mine");
      await page.locator("#any-file").setInputFiles({ name: "words.txt", mimeType: "text/plain", buffer });
      await page.locator('[data-figure="characters"]:text("18")').waitFor();
      await page.goBack();
      await page.evaluate(() => {
        const file = { kind: "file", name: "AGENTS.md", getFile: async () => new File(["Of a folder"], "AGENTS.md") };
        const folder = {
          kind: "directory",
          name: "Mine",
          values: async function* values() {
            yield file;
          },
        };
        globalThis.showDirectoryPicker = async () => folder;
      });
      await page.getByRole("button", { name: "A folder…" }).click();
      await page.locator(".result-pane").getByText("Of a folder").waitFor();
    });
  });

  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [390, 844],
  ]) {
    for (const colorScheme of ["light", "dark"]) {
      it(`looks right at ${width} pixels, ${colorScheme}`, async () => {
        await visit(
          site,
          "",
          async (page) => {
            await fitsAcross(page);
            assert.deepEqual(await findings(page), []);
            await page.screenshot({ path: join(screenshots, `start-${width}-${colorScheme}.png`) });
          },
          { width, height, colorScheme },
        );
      });
    }
  }
});
