// Builds the page, serves it locally, and opens it in Chromium. Everything started here is ended here, by handle. Under
// run.mjs test files share one server and a few browsers.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { mkdtemp, mkdir, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { chromiumOptions } from "../chromium.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const www = join(root, "www");
export const screenshots = join(root, "target", "screenshots");
/** Slow-down factor: `CTXWEAVE_SLOWER=6` reveals what a test does not wait for. */
const slower = Number(process.env.CTXWEAVE_SLOWER ?? 1);

/** A sample tree and its media, as the page sends them: only media that the tree refers to. */
export async function sample(name) {
  const text = await readFile(join(root, "examples", "trees", `${name}.json`), "utf8");
  const all = JSON.parse(await readFile(join(root, "examples", "trees", "media.json"), "utf8"));
  const media = Object.fromEntries(Object.entries(all).filter(([ref]) => text.includes(JSON.stringify(ref))));
  return { tree: JSON.parse(text), ...(Object.keys(media).length > 0 ? { media } : {}) };
}

/** The views that the page has: id, name, title and description. */
export async function viewList() {
  const { runnerImport } = await import("vite");
  const { module } = await runnerImport(join(www, "src", "shell", "view-list.ts"));
  return module.VIEW_LIST;
}

/** A fingerprint of the page's sources: names, sizes and modification times. */
async function fingerprint() {
  const hash = createHash("sha256");
  for (const folder of ["www", "pkg/dist", "pkg/vocabularies/dist", "examples"]) {
    const files = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    for (const path of paths.filter((path) => !path.includes("node_modules")).sort()) {
      const { size, mtimeMs } = await stat(path);
      hash.update(`${path} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest("hex").slice(0, 16);
}

/** Builds the page into a folder, with options from the environment. */
export async function buildInto(outDir) {
  const { build } = await import("vite");
  await build({ root: www, logLevel: "warn", build: { outDir, emptyOutDir: true } });
}

/** The folder of the page, built once for all test files. */
export async function built() {
  const folder = join(root, "target", "page");
  const outDir = join(folder, await fingerprint());
  if (existsSync(outDir)) return outDir;
  await mkdir(folder, { recursive: true });
  const making = await mkdtemp(join(folder, "making-"));
  await buildInto(making);
  // Another test file may have been faster.
  await rename(making, outDir).catch(() => rm(making, { recursive: true }));
  return outDir;
}

/** Serves a built page: `{ url, close }`. */
export async function served(outDir) {
  const { preview } = await import("vite");
  const { httpServer } = await preview({
    root: www,
    logLevel: "warn",
    build: { outDir },
    preview: { host: "127.0.0.1", port: 0, open: false },
  });
  return {
    url: `http://127.0.0.1:${httpServer.address().port}/`,
    close: () => new Promise((resolve, reject) => httpServer.close((error) => (error ? reject(error) : resolve()))),
  };
}

/** Resources shared by run.mjs: `{ outDir, url, browsers, locks }`. */
const shared = process.env.CTXWEAVE_PAGE ? JSON.parse(process.env.CTXWEAVE_PAGE) : undefined;

/** A shared browser for exclusive use, because the clipboard is one per browser. `{ browser, release }`. */
async function claimed() {
  for (const [at, endpoint] of (shared?.browsers ?? []).entries()) {
    const lock = join(shared.locks, `${at}`);
    try {
      mkdirSync(lock);
    } catch {
      continue;
    }
    const browser = await chromium.connect(endpoint);
    return {
      browser,
      release: async () => {
        await browser.close();
        rmdirSync(lock);
      },
    };
  }
  const browser = await chromium.launch(chromiumOptions);
  return { browser, release: () => browser.close() };
}

/** A context of Chromium, or with `own` a Chromium with a profile: `{ context, release }`. */
async function opened({ own, ...options }) {
  const settings = {
    // The service worker is tested separately: tests/page/delivery.test.mjs.
    serviceWorkers: "block",
    ...options,
    viewport: { width: 1440, height: 900 },
    permissions: ["clipboard-read", "clipboard-write"],
  };
  if (own) {
    const profile = await mkdtemp(join(tmpdir(), "ctxweave-page-"));
    const context = await chromium.launchPersistentContext(profile, { ...chromiumOptions, ...settings });
    return { context, release: () => rm(profile, { recursive: true, force: true }) };
  }
  const { browser, release } = await claimed();
  return { context: await browser.newContext(settings), release };
}

/** Serves the page and opens a context of Chromium. */
export async function start({ outDir: other, ...options } = {}) {
  const outDir = other ?? shared?.outDir ?? (await built());
  const server = shared && !other ? { url: shared.url, close: async () => {} } : await served(outDir);
  const { context, release } = await opened(options);
  await mkdir(screenshots, { recursive: true });
  return {
    url: server.url,
    context,
    outDir,
    stop: async () => {
      await context.close();
      await release();
      await server.close();
    },
  };
}

/**
 * Pages that visits are done with, by context. Another visit uses them: a new page starts a process, which takes three
 * times as long as the visit.
 */
const idle = new WeakMap();

/** A page that no visit uses, and a session of the developer tools for it. */
async function freePage(context) {
  const found = idle.get(context)?.pop();
  if (found) return found;
  const page = await context.newPage();
  const free = { page, debug: await context.newCDPSession(page), isReusable: true, handled: [] };
  const [addInitScript, addLocatorHandler] = [page.addInitScript.bind(page), page.addLocatorHandler.bind(page)];
  // Scripts cannot be removed.
  page.addInitScript = (...given) => ((free.isReusable = false), addInitScript(...given));
  page.addLocatorHandler = (...given) => (free.handled.push(given[0]), addLocatorHandler(...given));
  return free;
}

/** Leaves nothing of a visit in its page, or closes it. */
async function leave(context, free) {
  const { page, handled } = free;
  if (page.isClosed()) return;
  if (!free.isReusable) {
    await page.close();
    return;
  }
  for (const event of ["console", "pageerror", "requestfailed", "response", "request", "download", "worker"])
    page.removeAllListeners(event);
  for (const locator of handled.splice(0)) await page.removeLocatorHandler(locator);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.evaluate(() => sessionStorage.clear());
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
  idle.set(context, [...(idle.get(context) ?? []), free]);
}

/** A page that records everything unexpected; `close` fails if there was any. */
export async function openPage(
  { context, url },
  hash = "",
  { width = 1440, height = 900, colorScheme = "light" } = {},
) {
  const free = await freePage(context);
  const { page, debug } = free;
  page.setDefaultTimeout(30_000);
  const complaints = [];
  page.on("console", (message) => {
    const blocked = message.text() === "Service Worker registration blocked by Playwright";
    if (["error", "warning"].includes(message.type()) && !blocked)
      complaints.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.stack}`));
  page.on("requestfailed", (request) => {
    // A response body that is not read to its end is aborted, which is not a failure.
    const why = request.failure()?.errorText;
    if (why !== "net::ERR_ABORTED") complaints.push(`failed: ${request.url()} ${why}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`status ${response.status()}: ${response.url()}`);
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (!["data:", "blob:"].includes(protocol) && origin !== new URL(url).origin)
      complaints.push(`elsewhere: ${request.url()}`);
  });
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  // Earlier tests stored documents in this browser; a new page begins without them.
  await debug.send("Storage.clearDataForOrigin", { origin: new URL(url).origin, storageTypes: "indexeddb" });
  if (slower > 1) await debug.send("Emulation.setCPUThrottlingRate", { rate: slower });
  await page.goto(url + hash);
  // On a small screen another pane is shown first.
  await page.locator(".result-pane, .problem-panel").first().waitFor({ state: "attached" });
  return {
    page,
    close: async () => {
      await leave(context, free);
      assert.deepEqual(complaints, [], "the page was not silent");
    },
  };
}

/** Opens the page at an address, runs the steps, and fails if anything unexpected was recorded. */
export async function visit(site, hash, steps, options) {
  const { page, close } = await openPage(site, hash, options);
  await steps(page);
  await close();
}

/** Fails if anything overflows horizontally. */
export async function fitsAcross(page) {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `${wider} pixels too wide`);
}

/** The text of a file that the page saves. */
export const savedText = async (download) => text(await download.createReadStream());

/** Opens a folder without files for the view. */
export async function openNothing(page) {
  await page.evaluate(() => {
    globalThis.showDirectoryPicker = async () => ({ kind: "directory", name: "Empty", async *values() {} });
  });
  await page.getByRole("button", { name: "Open a folder…" }).click();
  await page.getByRole("alert").waitFor();
}

/** Chooses a radio button, which is hidden below its label; tries again if the page moved meanwhile. */
export async function choose(radio) {
  await eventually(() => radio.check({ force: true, timeout: 5_000 }));
}

/** Parses a number as formatted by the page. */
export function number(text) {
  return Number(text.replaceAll(",", ""));
}

/** The totals in the legend of the budget bar. */
export async function shownTotals(page) {
  // In one evaluation: the next frame may have one less.
  const shown = await page
    .locator("[data-tokens]")
    .evaluateAll((all) => all.map((item) => [item.dataset.tokens, item.textContent]));
  return Object.fromEntries(shown.map(([of, tokens]) => [of, number(tokens)]));
}

/** The totals that the legend should show for a report. */
export function expectedTotals(report, contextWindow) {
  return {
    system: report.tokens.system,
    messages: report.tokens.messages,
    overhead: report.tokens.overhead,
    free: report.limit - report.tokens.total,
    reserve: contextWindow - report.limit,
    ...(report.cut ? { beyond: report.cut.tokens } : {}),
  };
}

/** Waits until the page shows the expected value; it may be a frame late. */
export async function eventually(check, timeout = 20_000) {
  const end = Date.now() + timeout;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}

/** The request of the page, from its copy button. */
export async function copied(page, label) {
  await page.getByRole("tab", { name: "JSON" }).click();
  // A button shows "Copied" for two seconds, so an earlier "Copied" must not count for this click.
  await page.evaluate(() => navigator.clipboard.writeText(""));
  const json = label === "Copy request" ? "request" : "result";
  const section = page.locator("section").filter({ has: page.locator(`[data-json="${json}"]`) });
  await section
    .last()
    .getByRole("button", { name: new RegExp(`^(${label}|Copied)$`) })
    .click();
  return eventually(async () => JSON.parse(await page.evaluate(() => navigator.clipboard.readText())));
}

/** The link that the page copies if it carries the user's document. */
export async function ownLink(page) {
  await page.getByRole("button", { name: "Copy link" }).click();
  await page
    .getByText(/the link contains your document/)
    .first()
    .waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Returns to the message or document tab. */
export async function showPrompt(page) {
  await page.getByRole("tablist", { name: "Result" }).getByRole("tab").first().click();
}

/** Drops a file onto the page like a file manager. Returns whether the page prevented the browser's default. */
export function drop(page, name, text) {
  return page.evaluate(
    ([name, text]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], name));
      const target = document.querySelector("main");
      const event = (type) => new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true });
      target.dispatchEvent(event("dragover"));
      return !target.dispatchEvent(event("drop"));
    },
    [name, text],
  );
}

/** Shows a pane, if only one fits. */
export async function showPane(page, name) {
  const pane = page.getByRole("group", { name: "Pane" }).getByRole("radio", { name });
  if (await pane.count()) await choose(pane);
}

/** Confirms every replacement of the user's document. */
export function agreeing(page) {
  const yes = page.getByRole("button", { name: "Replace it" });
  return page.addLocatorHandler(yes, () => yes.click());
}

/** All sizes and themes. */
export const ALL_LOOKS = [
  ["wide", 1440, 900],
  ["middling", 1024, 768],
  ["narrow", 390, 844],
].flatMap(([size, width, height]) => ["light", "dark"].map((colorScheme) => ({ size, width, height, colorScheme })));

/** Whether everything is checked at every size and in both themes. */
export const isEveryLook = process.env.CTXWEAVE_LOOKS === "all";

/** A number that depends on a name alone. */
export const numberOf = (name) => [...name].reduce((sum, letter) => sum + letter.codePointAt(0), 0);

/**
 * The sizes and themes in which a view is checked: each size in one theme, which alternates and depends on the name of
 * the test file, or, with `CTXWEAVE_LOOKS=all`, in both.
 */
export const LOOKS = ALL_LOOKS.filter(
  (_, at) => isEveryLook || at % 2 === (Math.floor(at / 2) + numberOf(basename(process.argv[1] ?? ""))) % 2,
);

/** Chooses a tab of the result in Chats. */
export const chooseTab = (page, name) =>
  page.getByRole("tablist", { name: "Result" }).getByRole("tab", { name }).click();

/** Length above which the page edits a text part by part, and the length of a part: `src/ui/text-parts.tsx`. */
const LARGE = 200_000;
const PART = 50_000;

/** Waits until a field holds a text, or the first part of a large one. */
export const holds = (field, text) =>
  eventually(async () => {
    const [held, expected] = [await field.inputValue(), text.length > LARGE ? text.slice(0, PART) : text];
    // Without the texts: an assertion that prints them takes longer than the page, every time.
    assert.ok(held === expected, `${held.length} other characters instead of ${expected.length}`);
  });

/** Opens Chats with a dropped request, on one tab of its result. */
export const visitChat = (site, request, tab, steps, options) =>
  visit(
    site,
    "#/chats",
    async (page) => {
      const text = JSON.stringify(request);
      await drop(page, "request.json", text);
      await holds(page.getByLabel("Chat messages, JSON"), text);
      await chooseTab(page, tab);
      await steps(page);
    },
    options,
  );
