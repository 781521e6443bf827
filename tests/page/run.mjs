/**
 * Runs test files of the page with one server and two browsers for all of them:
 * `node tests/page/run.mjs --test FILE...`, with the arguments of `node`. `node --test FILE` works as well: each file
 * then starts its server and browser.
 */

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { chromiumOptions } from "../chromium.mjs";
import { built, served } from "./harness.mjs";

/** The number of test files that `cargo xtask test` runs concurrently. */
const BROWSERS = 2;

const outDir = await built();
const server = await served(outDir);
const browsers = await Promise.all(Array.from({ length: BROWSERS }, () => chromium.launchServer(chromiumOptions)));
const locks = await mkdtemp(join(tmpdir(), "ctxweave-page-"));
const shared = { outDir, url: server.url, browsers: browsers.map((browser) => browser.wsEndpoint()), locks };
const child = spawn(process.execPath, process.argv.slice(2), {
  stdio: "inherit",
  env: { ...process.env, CTXWEAVE_PAGE: JSON.stringify(shared) },
});
process.exitCode = await new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)));
await Promise.all(browsers.map((browser) => browser.close()));
await server.close();
await rm(locks, { recursive: true });
