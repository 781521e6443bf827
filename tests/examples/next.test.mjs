/** examples/next in Chromium: a message goes through the route handler, which fits the history. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, withBrowser } from "../runtimes/browser.mjs";
import { installedExample, served } from "./example.mjs";

test("examples/next fits the history in its route", { timeout: 600_000 }, async () => {
  const example = installedExample("next");
  try {
    await served(example, (address) =>
      withBrowser(async (browser) => {
        // The first request compiles the page.
        const { page, said } = await openPage(browser, address);
        page.setDefaultTimeout(240_000);
        const sent = /^(\d+) of (\d+) messages sent, \d+ of 200 tokens$/;
        let counts = [0, 0];
        for (let turn = 1; turn <= 12; turn++) {
          await page.getByLabel("Message").fill(`What happened in night ${turn}, and who was on watch?`);
          await page.getByRole("button", { name: "Send" }).click();
          await page.getByText(` of ${2 * turn - 1} messages sent`).waitFor();
          counts = sent
            .exec(await page.getByRole("status").textContent())
            .slice(1)
            .map(Number);
        }
        assert.equal(counts[1], 23);
        assert.ok(counts[0] > 3 && counts[0] < 20, String(counts));
        assert.equal(await page.getByRole("listitem").count(), 24);
        const isOfNext = (line) => /React DevTools|\[HMR\]|\[Fast Refresh\]|WebSocket/.test(line);
        assert.deepEqual(
          said.filter((line) => !isOfNext(line)),
          [],
        );
      }),
    );
  } finally {
    example.remove();
  }
});
