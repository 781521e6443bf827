// Time to first paint and to interactivity on a slow connection and processor: the preset "Fast 3G" of Chromium's
// developer tools, and a processor four times as slow. `node benches/page/loading.mjs` prints the table for
// docs/page.md. Files are compressed (gzip), as by any host of static pages. The fastest of three loads counts.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { start, viewList } from "../../tests/page/harness.mjs";

const FAST_3G = {
  offline: false,
  latency: 150 * 3.75,
  downloadThroughput: ((1.6 * 1000 * 1000) / 8) * 0.9,
  uploadThroughput: ((750 * 1000) / 8) * 0.9,
};
const SLOWER = 4;
const { values } = parseArgs({ options: { quick: { type: "boolean" } } });
const RUNS = values.quick ? 1 : 3;
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

const site = await start();
const packed = new Map();
const server = createServer(async (request, response) => {
  const name = new URL(request.url, "http://localhost").pathname.replace(/\/$/u, "/index.html");
  try {
    if (!packed.has(name)) packed.set(name, gzipSync(await readFile(join(site.outDir, name))));
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-encoding": "gzip", "cache-control": "no-store" });
    response.end(packed.get(name));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}/`;

const seconds = (value) => (value / 1000).toFixed(1);

console.log("| view | seen, s | used, s | requests | kB |\n| --- | --: | --: | --: | --: |");
for (const { id, name } of await viewList()) {
  const runs = [];
  for (let run = 0; run < RUNS; run++) runs.push(await load(id));
  const of = (key) => Math.min(...runs.map((found) => found[key]));
  console.log(
    `| ${name} | ${seconds(of("painted"))} | ${seconds(of("usable"))} | ${of("requests")} | ${Math.round(of("bytes") / 1000)} |`,
  );
}
server.close();
await site.stop();

async function load(id) {
  const page = await site.context.newPage();
  const debug = await site.context.newCDPSession(page);
  await debug.send("Network.enable");
  await debug.send("Network.clearBrowserCache");
  await debug.send("Storage.clearDataForOrigin", { origin: new URL(url).origin, storageTypes: "all" });
  await debug.send("Network.emulateNetworkConditions", FAST_3G);
  await debug.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  let requests = 0;
  let bytes = 0;
  debug.on("Network.requestWillBeSent", () => requests++);
  debug.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  // Interactive means that the result is shown and the main thread has been idle for a moment.
  await page.addInitScript(() => {
    const look = () => {
      if (!document.querySelector(".result-pane, .problem-panel, [data-ready]")) return requestAnimationFrame(look);
      const shown = performance.now();
      const free = (since) => {
        const before = performance.now();
        setTimeout(() => {
          const now = performance.now();
          if (now - before > 50) free(now);
          else if (now - since < 100) free(since);
          else globalThis.usable = since;
        });
      };
      free(shown);
      return undefined;
    };
    requestAnimationFrame(look);
  });
  await page.goto(`${url}#/${id}`, { waitUntil: "commit" });
  await page.waitForFunction(() => globalThis.usable !== undefined, undefined, { timeout: 60_000 });
  const [painted, usable] = await page.evaluate(() => [
    performance.getEntriesByName("first-contentful-paint")[0].startTime,
    globalThis.usable,
  ]);
  await page.close();
  return { painted, usable, requests, bytes };
}
