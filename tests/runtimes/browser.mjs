/** A Chromium that talks to nobody but this machine, and a page whose console is listened to. */

import { chromium } from "playwright-core";
import { chromiumOptions } from "../chromium.mjs";

/** Runs `action` with a fresh browser, which is closed whatever happens. */
export async function withBrowser(action) {
  const browser = await chromium.launch(chromiumOptions);
  try {
    return await action(browser);
  } finally {
    await browser.close();
  }
}

/** Opens a page; `said` collects everything that its console shows, and every error. */
export async function openPage(browser, url) {
  const page = await browser.newPage();
  const said = [];
  page.on("console", (message) => {
    // Vite's client announces itself at this level, which browsers do not show unless they are told to.
    if (message.type() !== "debug") said.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => said.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => said.push(`request failed: ${request.url()}`));
  await page.goto(url, { waitUntil: "load" });
  return { page, said };
}
