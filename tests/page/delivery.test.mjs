// Delivery of the page: the first paint, the files of each view, offline use, the security policy, and link previews.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { eventually, openPage, start, viewList } from "./harness.mjs";

let site;
let views;
before(async () => {
  site = await start({ own: true, serviceWorkers: "allow" });
  views = await viewList();
});
after(() => site.stop());

const html = (name) => readFile(join(site.outDir, name), "utf8");
const name = (url) => new URL(url).pathname.split("/").at(-1);

/**
 * For each view: the module that it needs (no other is fetched), and what a first visit transfers until its result is
 * shown, as measured: kB of gzip of the HTML with its style, the scripts and the sample, without modules and
 * vocabularies. Modules have their ceilings in wasm-pack.toml.
 */
const VIEWS = {
  start: { area: "chat", kB: 86.6 },
  loom: { area: "loom", kB: 118.2 },
  chats: { area: "chat", kB: 104.2 },
  tokens: { area: "tokens", kB: 80.8 },
  workspace: { area: "workspace", kB: 76.1 },
  folders: { area: "folders", kB: 79.4 },
  operators: { area: "operators", kB: 79.7 },
  commits: { area: "commits", kB: 85.0 },
};

/** How much more than measured a visit may transfer. */
const TOLERANCE = 0.03;

/** The bytes of a file as a host sends it: the page itself if the path has no name. */
async function transferred(file) {
  const found = (await readdir(site.outDir, { recursive: true })).find((path) => path.split("/").at(-1) === file);
  return gzipSync(await readFile(join(site.outDir, found ?? "index.html"))).length;
}

/** A page with real requests to the server, as on a first visit. */
async function freshPage() {
  const page = await site.context.newPage();
  const debug = await site.context.newCDPSession(page);
  await debug.send("Network.enable");
  await debug.send("Network.setBypassServiceWorker", { bypass: true });
  return page;
}

/** The files fetched by a visit to a view, until its result is shown. */
async function fetchedBy(hash) {
  const page = await freshPage();
  const fetched = [];
  page.on("request", (request) => fetched.push(request.url()));
  await page.goto(site.url + hash);
  await page.locator(".result-pane, .problem-panel").first().waitFor();
  await page.close();
  return fetched.map(name);
}

describe("a first visit", () => {
  it("has a row here for each view", () =>
    assert.deepEqual(Object.keys(VIEWS).sort(), views.map(({ id }) => id).sort()));

  for (const [view, { area, kB }] of Object.entries(VIEWS)) {
    it(`${view}: fetches only the module of its area, each file once, few and small files`, async () => {
      const fetched = await fetchedBy(`#/${view}`);
      const modules = fetched.filter((file) => file.endsWith(".wasm")).map((file) => file.split("-")[0]);
      assert.deepEqual(modules, [area]);
      // Tokens counts by a vocabulary, which is fetched once the view is shown.
      const vocabularies = fetched.filter((file) => file.endsWith(".bin"));
      assert.ok(vocabularies.length <= (view === "tokens" ? 1 : 0), `${vocabularies}`);
      assert.deepEqual(
        fetched.filter((file, at) => file !== "icon.svg" && fetched.indexOf(file) !== at),
        [],
        "twice",
      );
      assert.ok(fetched.length < 20, `${fetched.length} requests`);
      const besides = fetched.filter((file) => !file.endsWith(".bin") && !file.endsWith(".wasm"));
      const sizes = await Promise.all(besides.map(transferred));
      const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1000;
      assert.ok(kilobytes <= kB * (1 + TOLERANCE), `${view}: ${kilobytes.toFixed(1)} kB instead of ${kB}`);
    });
  }

  it("shows its frame, in the chosen colours, before any code is loaded", async () => {
    const page = await freshPage();
    await page.route(/\.js$/u, () => {});
    await page.addInitScript(() => localStorage.setItem("ctxweave.theme", "dark"));
    await page.goto(site.url, { waitUntil: "commit" });
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Chats" }).waitFor();
    await eventually(async () =>
      assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark"),
    );
    const bar = await page.locator(".top").boundingBox();
    assert.ok(bar.height >= 48 && bar.height < 60, `${bar.height} high`);
    await page.close();
  });

  it("the frame does not move when the code takes over", async () => {
    const page = await freshPage();
    const waiting = [];
    let held = true;
    await page.route(/\.js$/u, (route) => (held ? waiting.push(route) : route.continue()));
    await page.goto(`${site.url}#/loom`, { waitUntil: "commit" });
    const link = page.getByRole("link", { name: "Task templates" });
    const before = await link.boundingBox();
    held = false;
    for (const route of waiting) await route.continue();
    await page.locator(".result-pane").waitFor();
    assert.deepEqual(await link.boundingBox(), before);
    await page.close();
  });

  it("a view that fails to load shows the error, and loads on the second try", async () => {
    const page = await freshPage();
    await page.route(/operators-[^/]*\.wasm$/u, (route) => route.fulfill({ status: 503, body: "" }));
    await page.goto(`${site.url}#/operators`);
    await page.getByRole("alert").getByText("Task templates could not be loaded").waitFor();
    await page.unroute(/operators-[^/]*\.wasm$/u);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".result-pane").waitFor();
    await page.close();
  });
});

describe("offline", () => {
  it("every view works after the first visit to one, also after a reload", async () => {
    const page = await site.context.newPage();
    await page.goto(`${site.url}#/loom`);
    await page.locator(".result-pane").waitFor();
    await page.evaluate(() => {
      const late = new Promise((_, no) => setTimeout(() => no(new Error("there is no service worker")), 30_000));
      return Promise.race([navigator.serviceWorker.ready.then(() => true), late]);
    });
    await site.context.setOffline(true);
    try {
      await page.reload();
      await page.locator(".result-pane").waitFor();
      for (const { id } of views) {
        await page.goto(`${site.url}#/${id}`);
        await page.reload();
        await page.locator(".result-pane, .problem-panel").first().waitFor();
      }
      await page.goto(`${site.url}chats.html`);
      await page.getByRole("link", { name: "Chats" }).and(page.locator('[aria-current="page"]')).waitFor();
    } finally {
      await site.context.setOffline(false);
    }
    await page.close();
  });

  it("the cache holds the output of the build, without vocabularies and previews", async () => {
    const worker = await html("service-worker.js");
    const files = JSON.parse(/const FILES = (\[[^\]]*\])/u.exec(worker)[1]);
    for (const file of files) await readFile(join(site.outDir, file));
    assert.ok(files.includes("index.html") && files.some((file) => file.endsWith(".wasm")));
    assert.deepEqual(
      files.filter((file) => /\.bin$|preview/u.test(file)),
      [],
    );
    assert.match(worker, /ctxweave page \$\{"[0-9a-f]{12}"\}/u);
  });
});

describe("the policy", () => {
  it("runs no text as code, and sends nothing to other hosts", async () => {
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/u.exec(await html("index.html"));
    assert.match(policy, /default-src 'self'/u);
    assert.doesNotMatch(policy, /'unsafe-eval'|script-src[^;]*'unsafe-inline'|https?:/u);
    const page = await site.context.newPage();
    await page.goto(site.url);
    await page.locator(".result-pane").waitFor();
    const refused = await page.evaluate(async () => {
      const violation = () =>
        new Promise((resolve) =>
          addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective), {
            once: true,
          }),
        );
      const script = violation();
      document.head.append(Object.assign(document.createElement("script"), { textContent: "globalThis.ran = true" }));
      const found = [await script];
      const elsewhere = violation();
      await fetch("http://localhost:1/").catch(() => undefined);
      found.push(await elsewhere);
      try {
        Function("globalThis.ran = true")();
      } catch (error) {
        found.push(error.name);
      }
      return [...found, globalThis.ran];
    });
    assert.deepEqual(refused, ["script-src-elem", "connect-src", "EvalError", undefined]);
    await page.close();
  });
});

describe("a link to a view", () => {
  it("has a title, a description and a picture", async () => {
    const seen = new Set();
    for (const { id, title, description } of views) {
      const text = await html(`${id}.html`);
      const of = (pattern) => pattern.exec(text)?.[1];
      assert.equal(of(/<title>(.*?)<\/title>/u), `${title} · ctxweave`);
      assert.equal(of(/name="description" content="(.*?)"/u), description);
      assert.equal(of(/og:title" content="(.*?)"/u), title);
      const picture = of(/og:image" content="\.\/(.*?)"/u);
      const bytes = await readFile(join(site.outDir, picture));
      assert.ok(bytes.length < 120_000, `${picture}: ${bytes.length} bytes`);
      seen.add(title).add(description).add(picture);
    }
    assert.equal(seen.size, 3 * views.length);
  });

  it("opens that view and sets the title of the window", async () => {
    const { page, close } = await openPage(site, "folders.html");
    await page.getByRole("link", { name: "Agent files" }).and(page.locator('[aria-current="page"]')).waitFor();
    await eventually(async () => assert.equal(await page.title(), "Agent files · ctxweave"));
    await page.getByRole("link", { name: "Chats" }).click();
    await page.waitForFunction(() => document.title === "Chats · ctxweave");
    await close();
  });

  it("can be installed", async () => {
    const manifest = JSON.parse(await html("manifest.webmanifest"));
    assert.equal(manifest.display, "standalone");
    for (const { src, sizes } of manifest.icons) {
      const bytes = await readFile(join(site.outDir, src));
      if (src.endsWith(".png")) assert.equal(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`, sizes);
    }
    const page = await site.context.newPage();
    await page.goto(site.url);
    const session = await site.context.newCDPSession(page);
    const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
    assert.deepEqual(installabilityErrors, []);
    await page.close();
  });
});
