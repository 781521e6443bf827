/** Chromium: a page that uses the package, served by Vite in development and as built. */

import assert from "node:assert/strict";
import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer as createNetServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { build, createServer, preview } from "vite";
import { folder, installed } from "../packaging/packed.mjs";
import { openPage, withBrowser } from "./browser.mjs";
import { counts, countsFile, goldensOf, readGoldens } from "./goldens.mjs";
import { judge, judgeExact } from "./judge.mjs";

const all = readGoldens();
const data = goldensOf("ctxweave", all);

/**
 * A single-page application that runs the scenario, tests whether another entry shares the instance, and counts exactly
 * with the vocabularies.
 */
const program = (entry, slim = "ctxweave/slim", inline = "") => `import * as ctxweave from "${entry}";
import { countTokens } from "${slim}";
import * as o200k_base from "ctxweave/vocab/o200k_base${inline}";
import * as cl100k_base from "ctxweave/vocab/cl100k_base${inline}";
import texts from "./counts.json";
import data from "./data.json";
import { exact, scenario } from "./scenario.mjs";

async function run() {
  const result = await scenario(ctxweave, data);
  countTokens("slim needs no init of its own when another entry has loaded the module");
  return JSON.stringify({ ...result, exact: await exact(ctxweave, { o200k_base, cl100k_base }, texts) });
}
`;

/** A single-page application whose `run` returns the outcome. */
async function application(name, text, given = data) {
  const dir = folder(`vite-${name}`);
  writeFileSync(
    join(dir, "index.html"),
    '<!doctype html><html lang="en"><head><title>test</title><link rel="icon" href="data:,"></head><body><script type="module" src="/main.mjs"></script></body></html>\n',
  );
  writeFileSync(join(dir, "data.json"), JSON.stringify(given));
  copyFileSync(countsFile, join(dir, "counts.json"));
  copyFileSync(join(import.meta.dirname, "scenario.mjs"), join(dir, "scenario.mjs"));
  writeFileSync(
    join(dir, "main.mjs"),
    `${text}
window.outcome = run().catch((error) => JSON.stringify({ code: error.code, reason: error.details?.reason, message: error.message, stack: error.stack }));
`,
  );
  const exclude = ["ctxweave", "ctxweave-tiktoken"];
  const config = {
    root: dir,
    configFile: false,
    logLevel: "error",
    cacheDir: join(dir, ".vite"),
    optimizeDeps: { exclude },
    server: { host: "127.0.0.1", port: await freePort(), strictPort: true, fs: { allow: [installed()] } },
    preview: { host: "127.0.0.1", port: 0 },
  };
  return { dir, config };
}

/** Vite passes its configured port to the page, so 0 does not work. */
async function freePort() {
  const server = createNetServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const address = (server) => `http://127.0.0.1:${server.httpServer.address().port}/`;

async function outcomeOf(url) {
  return withBrowser(async (browser) => {
    const { page, said } = await openPage(browser, url);
    const outcome = JSON.parse(await page.evaluate(() => window.outcome));
    return { outcome, said };
  });
}

async function developed(config) {
  const server = await (await createServer(config)).listen();
  try {
    return await outcomeOf(address(server));
  } finally {
    await server.close();
  }
}

async function built(config) {
  await build(config);
  const server = await preview(config);
  try {
    return await outcomeOf(address(server));
  } finally {
    await server.close();
  }
}

function judgeBoth({ outcome, said }, given = data, judged = {}) {
  assert.ok(outcome.outputs, JSON.stringify(outcome, null, 2));
  judgeExact(outcome.exact, counts, judged);
  judge(outcome, given);
  assert.deepEqual(said, [], "the console is silent");
}

test("Vite dev server: ctxweave gives the goldens in Chromium", async () => {
  judgeBoth(await developed((await application("dev", program("ctxweave"))).config));
});

test("Vite dev server with pre-bundling: ctxweave gives the goldens in Chromium", async () => {
  const { config } = await application("optimized", program("ctxweave"));
  judgeBoth(await developed({ ...config, optimizeDeps: {} }));
});

test("Vite build: ctxweave gives the goldens in Chromium, with exactly one wasm", async () => {
  const { dir, config } = await application("build", program("ctxweave"));
  judgeBoth(await built(config));
  assert.equal(wasmFiles(dir).length, 1, wasmFiles(dir).join(", "));
});

test("Vite build: ctxweave/inline gives the goldens in Chromium, without other files", async () => {
  const { dir, config } = await application("build-inline", program("ctxweave/inline", "ctxweave/slim", "/inline"));
  judgeBoth(await built(config));
  assert.deepEqual(builtFiles(dir, /\.(wasm|bin)$/), []);
});

for (const [flavor, judged] of [["chat", { assembly: false }], ["loom"], ["tokens", { assembly: false }]]) {
  test(`Vite build: ctxweave/${flavor} gives the goldens of its areas in Chromium, with exactly one wasm`, async () => {
    const [entry, given] = [`ctxweave/${flavor}`, goldensOf(flavor, all)];
    const { dir, config } = await application(flavor, program(entry, entry), given);
    judgeBoth(await built(config), given, judged);
    assert.equal(wasmFiles(dir).length, 1, wasmFiles(dir).join(", "));
  });
}

test("Vite build: ctxweave-tiktoken has the counts of tiktoken in Chromium", async () => {
  const text = `import * as ctxweave from "ctxweave-tiktoken";
import texts from "./counts.json";
import { exact } from "./scenario.mjs";
const run = async () => JSON.stringify(await exact(ctxweave, undefined, texts));
`;
  const { outcome, said } = await built((await application("tiktoken", text)).config);
  assert.ok(outcome.wrong, JSON.stringify(outcome, null, 2));
  judgeExact(outcome, counts, { assets: false });
  assert.deepEqual(said, [], "the console is silent");
});

const wasmFiles = (dir) => builtFiles(dir, /\.wasm$/);

function builtFiles(dir, pattern) {
  const names = readdirSync(join(dir, "dist"), { recursive: true, encoding: "utf8" });
  assert.ok(
    names.some((name) => name.endsWith(".js")),
    names.join(", "),
  );
  return names.filter((name) => pattern.test(name));
}
