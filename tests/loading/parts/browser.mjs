/** The result and the requests of a page in Chromium. */

import { createServer } from "node:http";
import { existsSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { openPage, withBrowser } from "../../runtimes/browser.mjs";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
  ".json": "application/json",
  ".css": "text/css",
};

/** Serves a folder like a static web server, and calls `use` with its address. */
export async function serving(folder, use, { headers = {}, types = TYPES } = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://127.0.0.1");
    const path = join(folder, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    if (!existsSync(path) || !statSync(path).isFile()) {
      response.writeHead(404, { "content-type": "text/html" }).end("<!doctype html>\n<title>no</title>\n");
      return;
    }
    response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream", ...headers });
    response.end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** The first characters of gzip in base64, in a packed form. */
const PACKED = /["'`]H4sIA[\w+/=]{50000,}/g;

/**
 * Opens a page, waits until its title reports the outcome, and returns the source of the bytes: `files`, `packed` (in a
 * separate file) or `one file`. `app` is the size of its code in kilobytes, `lazy` that of packed forms in addition.
 */
export async function judged(address) {
  return withBrowser(async (browser) => {
    const loaded = [];
    const { page } = await openPage(browser, "about:blank");
    page.on("response", (response) => {
      loaded.push(
        response.body().then(
          (body) => ({ url: response.url(), ok: response.ok(), body }),
          () => undefined,
        ),
      );
    });
    // Development servers compile on request.
    await page.goto(address, { waitUntil: "load", timeout: 120_000 });
    await page
      .waitForFunction(() => /^(OK|FAIL)/.test(document.title), undefined, { timeout: 60_000 })
      .catch(() => undefined);
    const title = await page.title();
    if (title !== "OK") throw new Error(`the page reports: ${title}`);
    const responses = (await Promise.all(loaded)).filter((response) => response?.ok);
    const scripts = responses.filter(
      ({ url, body }) =>
        /\.[mc]?js(\?|$)/.test(url) || /^\s*(import|export|var|const|\(|")/.test(String(body.subarray(0, 40))),
    );
    const without = ({ body }) => body.toString("latin1").replace(PACKED, "");
    const isPacked = (script) => without(script).length < script.body.length;
    const size = (list) => Math.round(list.reduce((sum, { body }) => sum + body.length, 0) / 1000);
    const packed = scripts.filter(isPacked);
    const rest = scripts.filter((script) => !isPacked(script));
    if (packed.length === 0) return { how: "files", app: size(rest) };
    const alone = packed.every((script) => without(script).length < 5_000);
    return alone ? { how: "packed", app: size(rest), lazy: size(packed) } : { how: "one file", app: size(scripts) };
  });
}
