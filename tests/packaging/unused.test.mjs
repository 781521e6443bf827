/** A bundle that imports stores, a hook or a vocabulary and does not use them holds none of the package. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build as esbuild } from "esbuild";
import { rolldown } from "rolldown";
import { build as vite } from "vite";
import { folder } from "./packed.mjs";

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

/** The entry points with a module register where it is when they are imported, so they stay; see `sideEffects`. */
const IMPORTS = {
  "ctxweave/stores": "CommitStore",
  "ctxweave/ai-sdk": "fitMiddleware",
  "ctxweave/vocab/o200k_base": "load",
};

for (const [bundler, build] of Object.entries(BUNDLERS)) {
  test(`${bundler} drops unused imports`, async () => {
    const sizes = {};
    for (const [entry, name] of Object.entries(IMPORTS)) {
      const input = join(dir, "main.js");
      writeFileSync(input, `import { ${name} } from "${entry}";\nexport const answer = 42;\n`);
      sizes[entry] = (await build(input)).length;
    }
    const large = Object.entries(sizes).filter(([, size]) => size > 500);
    assert.deepEqual(large, []);
  });
}
