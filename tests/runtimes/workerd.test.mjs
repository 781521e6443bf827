/** workerd: the Worker is bundled as wrangler does it, and gets the wasm as a compiled module. */

import assert from "node:assert/strict";
import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { folder } from "../packaging/packed.mjs";
import { readGoldens } from "./goldens.mjs";
import { judge } from "./judge.mjs";

const data = readGoldens();

const worker = `
import * as ctxweave from "ctxweave";
import data from "./data.json";
import { scenario } from "./scenario.mjs";

export default {
  async fetch() {
    try {
      return Response.json(await scenario(ctxweave, data));
    } catch (error) {
      return new Response(error.stack + "\\n" + error.cause, { status: 500 });
    }
  },
};
`;

test("workerd: ctxweave gives the goldens", async () => {
  const dir = folder("workerd");
  writeFileSync(join(dir, "worker.mjs"), worker);
  writeFileSync(join(dir, "data.json"), JSON.stringify(data));
  copyFileSync(join(import.meta.dirname, "scenario.mjs"), join(dir, "scenario.mjs"));
  const out = join(dir, "out");
  await build({
    entryPoints: [join(dir, "worker.mjs")],
    outdir: out,
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    // The file beside the Worker, imported as a module: what the platform compiles when the Worker is uploaded.
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    logLevel: "warning",
  });
  assert.deepEqual(readdirSync(out).sort(), ["ctxweave.wasm", "worker.js"], "exactly one wasm in the bundle");

  const printed = [];
  const miniflare = new Miniflare({
    modules: true,
    modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
    scriptPath: join(out, "worker.js"),
    modulesRoot: out,
    compatibilityDate: "2026-01-01",
    host: "127.0.0.1",
    // Else it would ask the network where in the world it is.
    cf: false,
    handleRuntimeStdio: (stdout, stderr) =>
      [stdout, stderr].forEach((s) => s.on("data", (d) => printed.push(String(d)))),
  });
  try {
    const response = await miniflare.dispatchFetch("http://127.0.0.1/");
    assert.equal(response.status, 200, await response.clone().text());
    judge(await response.json(), data);
  } finally {
    await miniflare.dispose();
  }
  assert.equal(printed.join(""), "", "the console is silent");
});
