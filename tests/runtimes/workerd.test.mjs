/** workerd: the Worker is bundled like wrangler does, and receives the wasm as a compiled module. */

import assert from "node:assert/strict";
import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { folder } from "../packaging/packed.mjs";
import { bundleOptions, workerOptions } from "../workerd.mjs";
import { areas, counts, countsFile, goldensOf, readGoldens } from "./goldens.mjs";
import { judge, judgeExact } from "./judge.mjs";

const all = readGoldens();
const data = goldensOf("ctxweave", all);

/** A Worker that answers with the value of the expression. */
const worker = (imports, expression) => `
${imports.map(([as, from]) => `import * as ${as} from "${from}";`).join("\n")}
import data from "./data.json";
import texts from "./counts.json";
import { exact, scenario } from "./scenario.mjs";

export default {
  async fetch() {
    try {
      return Response.json(${expression});
    } catch (error) {
      return new Response(error.stack + "\\n" + error.cause, { status: 500 });
    }
  },
};
`;

const vocabularies = ["o200k_base", "cl100k_base"].map((name) => [name, `ctxweave/vocab/${name}`]);

test("workerd: ctxweave gives the goldens", async () => {
  const text = worker([["ctxweave", "ctxweave"]], "await scenario(ctxweave, data)");
  judge(await answer("goldens", text, ["ctxweave.wasm", "worker.js"]), data);
});

test("workerd: with the vocabularies it has the counts of tiktoken", async () => {
  const imports = [["ctxweave", "ctxweave"], ...vocabularies];
  const text = worker(imports, "await exact(ctxweave, { o200k_base, cl100k_base }, texts)");
  const files = ["cl100k_base.wasm", "ctxweave.wasm", "o200k_base.wasm", "worker.js"];
  judgeExact(await answer("exact", text, files), counts);
});

for (const flavor of Object.keys(areas)) {
  // It reads files and does not count.
  const isCounting = flavor !== "import";
  const more = isCounting ? ", with the counts of tiktoken" : "";
  test(`workerd: ctxweave/${flavor} gives its goldens${more}`, async () => {
    const imports = [["ctxweave", `ctxweave/${flavor}`], ...(isCounting ? vocabularies : [])];
    const files = ["ctxweave.wasm", "worker.js"];
    if (isCounting) files.push("cl100k_base.wasm", "o200k_base.wasm");
    const counted = isCounting ? "await exact(ctxweave, { o200k_base, cl100k_base }, texts)" : "undefined";
    const given = goldensOf(flavor, all);
    const both = `{ ...await scenario(ctxweave, data), exact: ${counted} }`;
    const outcome = await answer(flavor, worker(imports, both), files.sort(), given);
    judge(outcome, given);
    if (isCounting) judgeExact(outcome.exact, counts, { assembly: flavor === "loom" });
  });
}

test("workerd: ctxweave-tiktoken has the counts of tiktoken", async () => {
  const text = worker([["ctxweave", "ctxweave-tiktoken"]], "await exact(ctxweave, undefined, texts)");
  judgeExact(await answer("tiktoken", text, ["ctxweave.wasm", "worker.js"]), counts, { assets: false });
});

/** Bundles the Worker, starts it and returns its answer; `files` are the expected files of the bundle. */
async function answer(name, text, files, given = data) {
  const dir = folder(`workerd-${name}`);
  writeFileSync(join(dir, "worker.mjs"), text);
  writeFileSync(join(dir, "data.json"), JSON.stringify(given));
  copyFileSync(countsFile, join(dir, "counts.json"));
  copyFileSync(join(import.meta.dirname, "scenario.mjs"), join(dir, "scenario.mjs"));
  const out = join(dir, "out");
  await build({ ...bundleOptions, entryPoints: [join(dir, "worker.mjs")], outdir: out });
  assert.deepEqual(readdirSync(out).sort(), files, "exactly one wasm in the bundle");

  const printed = [];
  const miniflare = new Miniflare({
    ...workerOptions(out),
    handleRuntimeStdio: (stdout, stderr) =>
      [stdout, stderr].forEach((s) => s.on("data", (d) => printed.push(String(d)))),
  });
  try {
    const response = await miniflare.dispatchFetch("http://127.0.0.1/");
    assert.equal(response.status, 200, await response.clone().text());
    const result = await response.json();
    assert.equal(printed.join(""), "", "the console is silent");
    return result;
  } finally {
    await miniflare.dispose();
  }
}
