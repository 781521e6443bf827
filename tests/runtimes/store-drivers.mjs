/**
 * Every driver in its runtime. A driver runs a function of store-checks.mjs, and returns its result: Node for memory,
 * files, PostgreSQL and S3; workerd for R2 and D1; Deno; Chromium for IndexedDB.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import * as fs from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { folder, installed, root } from "../packaging/packed.mjs";
import { bundleOptions, workerOptions } from "../workerd.mjs";
import { openPage, withBrowser } from "./browser.mjs";
import * as checks from "./store-checks.mjs";
import { startPostgres, startS3 } from "./store-servers.mjs";

const SHARED = ["store-checks.mjs", "store-contract.mjs", "store-names.mjs", "store-scenarios.mjs"];

/** The installed package. */
export async function packages() {
  const dist = join(installed(), "node_modules/ctxweave/dist");
  const ctxweave = await import(pathToFileURL(join(dist, "commits/node.js")));
  const stores = await import(pathToFileURL(join(dist, "stores.js")));
  await ctxweave.init();
  return { ctxweave, stores };
}

/** In this process. */
async function inNode(job, makeOpen, ...more) {
  const { ctxweave, stores } = await packages();
  const { open, stop } = await makeOpen(stores);
  try {
    return await checks[job](ctxweave, stores, open, ...more);
  } finally {
    await stop?.();
  }
}

/** A folder with the checks and a program that imports them. */
function program(name, text) {
  const dir = folder(name);
  for (const file of SHARED) copyFileSync(join(import.meta.dirname, file), join(dir, file));
  const header = `import * as ctxweave from "ctxweave/commits";
import * as stores from "ctxweave/stores";
import * as checks from "./store-checks.mjs";
`;
  writeFileSync(join(dir, "run.mjs"), header + text);
  return dir;
}

/** Opens a database of its own for each name; ends with the server. */
export async function postgresOpener(stores) {
  const { default: pg } = await import("pg");
  const server = await startPostgres();
  const pools = [];
  const query = async (database, action) => {
    const pool = new pg.Pool({ ...server.options, database, max: 8, idleTimeoutMillis: 0 });
    // A crash of the server ends idle connections; the next query opens another.
    pool.on("error", () => undefined);
    pools.push(pool);
    return action(pool);
  };
  const open = async (name) => {
    await query("postgres", (pool) => pool.query(`CREATE DATABASE "${name}"`));
    return query(name, async (pool) => {
      await pool.query(stores.POSTGRES_SCHEMA);
      return stores.postgresStore(pool);
    });
  };
  const stop = async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await server.stop();
  };
  return { open, stop, server };
}

/** A prefix of its own for each name. */
export async function s3Opener(stores) {
  const { options, stop } = await startS3(stores);
  return { open: async (name) => stores.s3Store({ ...options, prefix: `${name}/` }), stop };
}

/** Names of heads that these hosts must accept: of a file, of an object (1,024 bytes) and of a key of Deno KV (2 KiB). */
const LIMITS = { files: { longest: 200 }, s3: { longest: 900 }, denoKv: { longest: 1900 } };

// A request takes the test server 10 ms, and a history of 24 commits thousands of them; the other stores take 24 each time.
if (process.env.CTXWEAVE_CASES !== "1x") LIMITS.s3.history = 12;

export const drivers = {
  memory: (job) => inNode(job, (stores) => ({ open: () => stores.memoryStore() }), { names: 60, others: 20 }),

  "the file system": (job) =>
    inNode(
      job,
      (stores) => {
        const dir = folder("stores-files");
        return { open: (name) => stores.fileSystemStore(fs, join(dir, name)) };
      },
      LIMITS.files,
    ),

  PostgreSQL: (job) => inNode(job, postgresOpener),

  "PostgreSQL in PGlite": (job) =>
    inNode(job, async (stores) => {
      const { PGlite } = await import("@electric-sql/pglite");
      const database = new PGlite();
      const open = async () => {
        await database.exec(`DROP TABLE IF EXISTS ctxweave; ${stores.POSTGRES_SCHEMA}`);
        return stores.postgresStore(database);
      };
      return { open, stop: () => database.close() };
    }),

  S3: (job) => inNode(job, s3Opener, LIMITS.s3),

  async "R2 and D1, in workerd"(job) {
    const dir = program(
      "stores-workerd",
      `const names = {};
export default {
  async fetch(request, env) {
    try {
      await ctxweave.init();
      const open = async (name) => {
        const number = (names[name] ??= Object.keys(names).length);
        const [bucket, database] = [env["BLOBS" + number], env["COMMITS" + number]];
        await database.prepare(stores.D1_SCHEMA).run();
        return stores.cloudflareStore(bucket, database);
      };
      return Response.json(await checks.${job}(ctxweave, stores, open));
    } catch (error) {
      return new Response(error.stack + "\\n" + error.cause, { status: 500 });
    }
  },
};
`,
    );
    await build({ ...bundleOptions, entryPoints: [join(dir, "run.mjs")], outfile: join(dir, "out/worker.js") });
    const several = (name) => Array.from({ length: 8 }, (_, number) => `${name}${number}`);
    const bindings = { r2Buckets: several("BLOBS"), d1Databases: several("COMMITS") };
    const miniflare = new Miniflare({ ...workerOptions(join(dir, "out")), ...bindings });
    try {
      const response = await miniflare.dispatchFetch("http://127.0.0.1/");
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return JSON.parse(text);
    } finally {
      await miniflare.dispose();
    }
  },

  async "Deno KV"(job) {
    const dir = program(
      "stores-deno",
      `await ctxweave.init();
const kv = await Deno.openKv(":memory:");
console.log(JSON.stringify(await checks.${job}(ctxweave, stores, (name) => stores.denoKvStore(kv, [name]), ${JSON.stringify(LIMITS.denoKv)})));
kv.close();
`,
    );
    const flags = [
      "--quiet",
      "--no-prompt",
      "--unstable-kv",
      "--allow-read",
      "--allow-env",
      "--node-modules-dir=manual",
    ];
    const { stdout } = await promisify(execFile)(join(root, "node_modules/.bin/deno"), ["run", ...flags, "run.mjs"], {
      cwd: dir,
    });
    return JSON.parse(stdout);
  },

  async "IndexedDB, in Chromium"(job) {
    const dir = program(
      "stores-indexed-db",
      `window.result = (async () => {
  await ctxweave.init("/ctxweave.wasm");
  return JSON.stringify(await checks.${job}(ctxweave, stores, (name) => stores.indexedDbStore(name)));
})();
`,
    );
    const out = join(dir, "page.js");
    await build({
      entryPoints: [join(dir, "run.mjs")],
      outfile: out,
      bundle: true,
      format: "esm",
      conditions: ["browser"],
      logLevel: "error",
    });
    const wasm = join(installed(), "node_modules/ctxweave/dist/commits/ctxweave.wasm");
    const served = { "/page.js": ["text/javascript", out], "/ctxweave.wasm": ["application/wasm", wasm] };
    const server = createServer(async (request, response) => {
      const [type, file] = served[request.url] ?? [];
      if (!file)
        return response.end(
          '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
        );
      return response.setHeader("content-type", type).end(await fs.readFile(file));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      return await withBrowser(async (browser) => {
        const { page, said } = await openPage(browser, `http://127.0.0.1:${server.address().port}/`);
        const result = JSON.parse(await page.evaluate("window.result"));
        assert.deepEqual(said, []);
        return result;
      });
    } finally {
      server.close();
    }
  },
};
