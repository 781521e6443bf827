/**
 * The documentation as a site: it builds, every link resolves, the API is complete, and the search works without a
 * network.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, posix, relative } from "node:path";
import { before, test } from "node:test";
import { modules } from "../../site/pages.mjs";
import { root } from "../packaging/packed.mjs";
import { openPage, withBrowser } from "../runtimes/browser.mjs";

const dist = join(root, "target/site/dist");
const files = new Set();

before(() => {
  execFileSync("npm", ["ci", "--prefer-offline"], { cwd: join(root, "site"), stdio: "pipe" });
  execFileSync(process.execPath, [join(root, "site/build.mjs")], { stdio: "pipe" });
  for (const entry of readdirSync(dist, { recursive: true }))
    if (statSync(join(dist, entry)).isFile()) files.add(entry.split("\\").join("/"));
});

const pages = () => [...files].filter((file) => file.endsWith(".html") && file !== "404.html");
const html = (page) => readFileSync(join(dist, page), "utf8");
const decoded = (text) => text.replaceAll("&amp;", "&").replaceAll("&#39;", "'").replaceAll("&quot;", '"');

/** The file for an address of a page. */
function fileOf(page, path) {
  if (path === "") return page;
  const to = path.startsWith("/") ? path.slice(1) : posix.join(posix.dirname(page), path);
  return [to, `${to}.html`, posix.join(to, "index.html")].find((file) => files.has(file));
}

test("every link and every anchor resolves", () => {
  const ids = new Map(
    pages().map((page) => [page, new Set([...html(page).matchAll(/ id="([^"]*)"/g)].map(([, id]) => decoded(id)))]),
  );
  const dead = [];
  let links = 0;
  for (const page of pages()) {
    for (const [, address] of html(page).matchAll(/<a [^>]*?href="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(address)) continue;
      links += 1;
      const [path, anchor] = decoded(address).split("#");
      const file = fileOf(page, decodeURI(path));
      if (!file || (anchor && !ids.get(file)?.has(decodeURIComponent(anchor)))) dead.push(`${page}: ${address}`);
    }
  }
  assert.ok(links > 3000, String(links));
  assert.deepEqual([...new Set(dead)], []);
});

test("the API contains all exports of the package", async () => {
  const exported = {
    ctxweave: await import("ctxweave"),
    "ctxweave/import": await import("ctxweave/import"),
    "ctxweave/stores": await import("ctxweave/stores"),
  };
  for (const [name, module] of Object.entries(exported)) {
    const page = html(`api/${name}.html`);
    for (const member of Object.keys(module)) {
      if (member === "default" || member === "module.exports") continue;
      assert.match(
        page,
        new RegExp(`<h[234] id="[^"]*"[^>]*>(<[^>]*>)*${member.replace("$", "\\$")}\\b`, "i"),
        `${name}: ${member}`,
      );
    }
  }
  for (const name of Object.keys(modules)) assert.ok(files.has(`api/${name}.html`), name);
});

test("the search finds calls and rules, without requests to other hosts", async () => {
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
  const server = createServer(({ url }, response) => {
    const file = fileOf("index.html", new URL(url, "http://localhost").pathname) ?? "404.html";
    response.setHeader("content-type", types[extname(file)] ?? "application/octet-stream");
    response.end(readFileSync(join(dist, file)));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${server.address().port}`;
  try {
    await withBrowser(async (browser) => {
      const { page, said } = await openPage(browser, address);
      const asked = [];
      page.on("request", (request) => asked.push(request.url()));
      assert.match(await page.title(), /ctxweave/);
      const search = async (words, expected) => {
        await page
          .getByRole("button", { name: /search/i })
          .first()
          .click();
        await page.getByRole("searchbox").fill(words);
        const hit = page.locator(`#localsearch-list a[href*="${expected}"]`).first();
        await hit.click();
        await page.waitForURL((url) => url.pathname.includes(expected));
      };
      await search("fitMessages", "/api/ctxweave/chat");
      await search("truncateMiddle", "/truncation");
      assert.deepEqual(said, []);
      assert.deepEqual(
        asked.filter((url) => !url.startsWith(address)),
        [],
      );
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("the comparison has the libraries' results", () => {
  const program = join(root, "site/comparison.mjs");
  const printed = execFileSync(process.execPath, [program, "--print"], { encoding: "utf8" });
  assert.equal(readFileSync(join(root, "docs/comparison.md"), "utf8"), printed);
  const rows = printed
    .split("\n")
    .filter((line) => line.startsWith("| ctxweave |") && line.includes("fate and reason"));
  assert.equal(rows.length, 3);
  for (const row of rows) assert.doesNotMatch(row, /\*\*/);
});

test("every link between files became a link between pages", () => {
  for (const page of pages()) assert.doesNotMatch(html(page), /\[[^\]<]*\]\([^)<]*\.md/, relative(dist, page));
});
