/** A bundle that imports something of the package and does not use it holds none of the package. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build as esbuild } from "esbuild";
import { rolldown } from "rolldown";
import { build as vite } from "vite";
import { exportsOf } from "../../pkg/exports.mjs";
import { folder, root } from "./packed.mjs";

const dir = folder("unused");

const BUNDLERS = {
  esbuild: async (input) => {
    const { outputFiles } = await esbuild({
      entryPoints: [input],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      outdir: join(dir, "esbuild"),
      loader: { ".wasm": "file", ".bin": "file" },
      logLevel: "silent",
    });
    return outputFiles.map(({ text }) => text).join("");
  },
  rolldown: async (input) => {
    const bundle = await rolldown({ input, platform: "browser", logLevel: "silent" });
    const { output } = await bundle.generate({ format: "esm" });
    return output.map((file) => file.code ?? String(file.source)).join("");
  },
  vite: async (input) => {
    const outDir = join(dir, "vite");
    await vite({
      root: dir,
      logLevel: "silent",
      build: { outDir, emptyOutDir: true, target: "es2022", lib: { entry: input, formats: ["es"] } },
    });
    return readdirSync(outDir, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), "latin1"))
      .join("");
  },
};

/** Those of tests/loading, if they are installed. */
const tools = join(root, "target/loading/node_modules");
if (existsSync(join(tools, "webpack"))) {
  const require = createRequire(join(tools, "any.js"));
  BUNDLERS.rollup = async (input) => {
    const { rollup } = await import(pathToFileURL(require.resolve("rollup")));
    const { nodeResolve } = require("@rollup/plugin-node-resolve");
    const bundle = await rollup({ input, external: /^@langchain/, plugins: [nodeResolve()], onLog() {} });
    const { output } = await bundle.generate({ format: "esm" });
    return output.map((file) => file.code ?? String(file.source)).join("");
  };
  BUNDLERS.webpack = async (input) => {
    const webpack = require("webpack");
    const out = join(dir, "webpack");
    rmSync(out, { recursive: true, force: true });
    const output = { path: out, library: { type: "module" } };
    const config = { mode: "production", entry: input, output, experiments: { outputModule: true } };
    const stats = await new Promise((resolve, reject) =>
      webpack(config, (error, stats) => (error ? reject(error) : resolve(stats))),
    );
    assert.ok(!stats.hasErrors(), stats.toString("errors-only"));
    return readdirSync(out)
      .map((name) => readFileSync(join(out, name), "latin1"))
      .join("");
  };
}

/** A name that the entry point exports. */
function nameOf(entry) {
  if (entry === "./vocab") return "createVocabulary";
  return entry.includes("/vocab/") ? "load" : "init";
}

/** Every entry point that is code. */
const entries = Object.entries(exportsOf("ctxweave"))
  .filter(([, target]) => typeof target !== "string")
  .map(([entry]) => entry);

/** Bytes that a bundler writes for an empty program, with the names of its modules. */
const EMPTY = 500;

/** The size of the bundle of a program. */
async function sizeOf(build, program) {
  const input = join(dir, "main.js");
  writeFileSync(input, program);
  return (await build(input)).length;
}

for (const [bundler, build] of Object.entries(BUNDLERS)) {
  test(`${bundler} drops unused imports of every entry point`, async () => {
    // These take a second for each.
    const some = ["vite", "webpack"].includes(bundler)
      ? [".", "./chat", "./tokens", "./stores", "./inline", "./ai-sdk"]
      : entries;
    const sizes = {};
    for (const entry of some) {
      const from = entry.replace(".", "ctxweave");
      const program = `import { ${nameOf(entry)} } from "${from}";\nexport const answer = 42;\n`;
      sizes[from] = await sizeOf(build, program);
    }
    assert.deepEqual(
      Object.entries(sizes).filter(([, size]) => size > EMPTY),
      [],
    );
    assert.ok(some.length > 5);
  });

  test(`${bundler} drops the module if what is imported needs none`, async () => {
    const program = `import { CtxweaveError, init } from "ctxweave";\nexport const isOurs = (thrown) => thrown instanceof CtxweaveError;\n`;
    const size = await sizeOf(build, program);
    assert.ok(size < 5_000, `${size} bytes`);
    // The same test fails if the module is used.
    const used = await sizeOf(build, `export { init } from "ctxweave";\n`);
    assert.ok(used > 10_000, `${used} bytes`);
  });
}
