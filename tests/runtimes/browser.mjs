/** A Chromium without access to other hosts, and a page whose console is recorded. */

import { chromium } from "playwright-core";
import { chromiumOptions } from "../chromium.mjs";

/** Runs `action` with a new browser, which is closed in any case. */
export async function withBrowser(action) {
  const browser = await chromium.launch(chromiumOptions);
  try {
    return await action(browser);
  } finally {
    await browser.close();
  }
}

/** Opens a page; `said` collects the console output and the errors. `timeout` is that of each action, in ms. */
export async function openPage(browser, url, { timeout = 30_000 } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(timeout);
  const said = [];
  page.on("console", (message) => {
    // Vite's client logs at this level, which browsers do not show otherwise.
    if (message.type() !== "debug") said.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => said.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => said.push(`request failed: ${request.url()}`));
  await page.goto(url, { waitUntil: "load" });
  return { page, said };
}
