/** examples/vite in Chromium: the fitted chat changes with the limit. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, withBrowser } from "../runtimes/browser.mjs";
import { installedExample, served } from "./example.mjs";

test("examples/vite shows the fitted chat, which changes with the limit", async () => {
  const example = installedExample("vite");
  try {
    await served(example, (address) =>
      withBrowser(async (browser) => {
        const { page, said } = await openPage(browser, address);
        const report = page.getByRole("status");
        await page.waitForFunction(() => document.querySelector("[role=status]").textContent !== "");
        assert.match(await report.textContent(), /^generic: \d+ messages, 1?\d\d of 120 tokens$/);
        const before = await page.getByRole("listitem").count();
        await page.getByLabel("Limit").fill("400");
        assert.match(await report.textContent(), /^generic: 17 messages, \d+ of 400 tokens$/);
        assert.ok((await page.getByRole("listitem").count()) > before);
        await page.getByLabel("A chat").fill("[");
        assert.match(await report.textContent(), /JSON/);
        assert.deepEqual(said, []);
      }),
    );
  } finally {
    example.remove();
  }
});
