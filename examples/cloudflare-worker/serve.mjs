/**
 * Runs the Worker locally, in workerd, with its data in a folder. `PORT` and `DATA` set the port and the folder; the
 * tests start it, too.
 */

import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { Miniflare } from "miniflare";

const here = import.meta.dirname;

/** Starts it; `options` are additional ones for Miniflare. */
export async function serve({ data, port = 0, ...options }) {
  const out = join(data, "worker");
  mkdirSync(out, { recursive: true });
  await build({
    entryPoints: [join(here, "worker.mjs")],
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    // The modules of the areas have the same name.
    assetNames: "[hash]",
    logLevel: "warning",
  });
  const miniflare = new Miniflare({
    modules: true,
    modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
    scriptPath: join(out, "worker.mjs"),
    modulesRoot: out,
    compatibilityDate: "2026-01-01",
    host: "127.0.0.1",
    port,
    cf: false,
    r2Buckets: { BLOBS: "context-blobs" },
    d1Databases: { COMMITS: "context-commits" },
    r2Persist: join(data, "r2"),
    d1Persist: join(data, "d1"),
    ...options,
  });
  const url = await miniflare.ready;
  const database = await miniflare.getD1Database("COMMITS");
  for (const name of readdirSync(join(here, "migrations")).sort()) {
    const sql = readFileSync(join(here, "migrations", name), "utf8").replace(
      "CREATE TABLE ",
      "CREATE TABLE IF NOT EXISTS ",
    );
    await database.prepare(sql).run();
  }
  return { miniflare, url };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { DATA = join(here, ".data"), PORT = "8787" } = process.env;
  const { url } = await serve({ data: DATA, port: Number(PORT) });
  console.log(`listening on ${url}`);
}
