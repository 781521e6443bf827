// In Chromium: a page in a separate context for each measurement, and therefore in a separate process.

import { createReadStream, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { chromiumOptions } from "../../../tests/chromium.mjs";
import { assets, counters } from "./counters.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, "../../../target/bench-chromium");
const require = createRequire(import.meta.url);
const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
};

export async function start() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "empty.html"), "<!doctype html><meta charset=utf-8>");
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url, "http://x").pathname);
    response.setHeader("content-type", types[extname(path)] ?? "application/octet-stream");
    createReadStream(path)
      .on("error", () => response.writeHead(404).end())
      .pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch(chromiumOptions);
  const bundled = new Set();
  return {
    name: `Chromium ${browser.version().split(".")[0]}`,
    async measure({ counter, encoding, path, again }) {
      const name = `${counter.replace("/", "-")}-${encoding}`;
      if (!bundled.has(name)) await bundle(name, counter, encoding);
      bundled.add(name);
      await copyFile(path, join(folder, basename(path)));
      const context = await browser.newContext();
      try {
        const page = await context.newPage();
        await page.goto(`${origin}/empty.html`);
        return await page.evaluate(
          async ([module, text, again]) => {
            const { measure } = await import("/measure/measure.js");
            return measure(() => import(module), await (await fetch(text)).text(), again);
          },
          [`/${name}/counter.js`, `/${basename(path)}`, again],
        );
      } finally {
        await context.close();
      }
    },
    async stop() {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  /** Bundles the module of a counter and its imports into one file. */
  async function bundle(name, counter, encoding) {
    const options = {
      bundle: true,
      format: "esm",
      platform: "browser",
      minify: true,
      charset: "utf8",
      logLevel: "warning",
    };
    const contents = counters[counter](encoding, "chromium");
    await build({ ...options, stdin: { contents, resolveDir: here }, outfile: join(folder, name, "counter.js") });
    for (const asset of assets[counter]?.(encoding) ?? []) {
      await copyFile(require.resolve(asset), join(folder, name, basename(asset)));
    }
    const measure = join(folder, "measure/measure.js");
    await build({ ...options, entryPoints: [join(here, "measure.mjs")], outfile: measure });
  }
}
