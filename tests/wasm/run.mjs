/**
 * Runs the tests of this folder in Node, or with `--chromium` in Chromium: `node tests/wasm/run.mjs FOLDER`. FOLDER has
 * `tests.js` and `tests_bg.wasm`, as wasm-bindgen makes them of the tests. `cargo xtask test` does all of it. The work of
 * wasm-bindgen-test-runner, which takes minutes to compile.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, runtime] = process.argv.slice(2);

/** Loads the tests and runs all of them; gives whether all passed. Runs here or in the page. */
async function run(glue, module) {
  const tests = await import(glue);
  await tests.default({ module_or_path: module });
  globalThis.__wbg_test_invoke = (test) => test();
  const context = new tests.WasmBindgenTestContext(false);
  const names = Object.keys(tests.__wasm).filter((name) => name.startsWith("__wbgt_"));
  return context.run(names.map((name) => tests.__wasm[name]));
}

async function runInNode() {
  globalThis.__wbgtest_og_console_log = console.log;
  return run(pathToFileURL(join(folder, "tests.js")), await readFile(join(folder, "tests_bg.wasm")));
}

async function runInChromium() {
  const { chromium } = await import("playwright-core");
  const { chromiumOptions } = await import("../chromium.mjs");
  const browser = await chromium.launch(chromiumOptions);
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => console.error(error));
    // What a test panicked with.
    page.on("console", (message) => message.type() === "error" && console.error(message.text()));
    const files = {
      "/": ["text/html", '<!doctype html><pre id="output"></pre>'],
      "/tests.js": ["text/javascript", await readFile(join(folder, "tests.js"))],
      "/tests_bg.wasm": ["application/wasm", await readFile(join(folder, "tests_bg.wasm"))],
    };
    await page.route("http://localhost/**", (route) => {
      const [contentType, body] = files[new URL(route.request().url()).pathname] ?? [];
      return body ? route.fulfill({ contentType, body }) : route.fulfill({ status: 404 });
    });
    await page.goto("http://localhost/");
    const passed = await page.evaluate(`(${run})("/tests.js", "/tests_bg.wasm")`);
    console.log(await page.locator("#output").textContent());
    return passed;
  } finally {
    await browser.close();
  }
}

process.exitCode = (await (runtime === "--chromium" ? runInChromium() : runInNode())) ? 0 : 1;
