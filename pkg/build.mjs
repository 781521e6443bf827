/**
 * Everything in dist/ but the wasm and its glue, which are there already: `node pkg/build.mjs DIST`. `cargo xtask build`
 * runs it.
 *
 * - ES modules and their types by tsc, one file for each source file, so that all entry points share one copy of the glue;
 * - the same as CommonJS, file by file, for the entry points that can be reached by `require`;
 * - the wasm as base64, for `ctxweave/inline`.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = resolve(process.argv[2]);
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

/** The entry points that nothing can reach by `require`: browsers and Workers have no such function. */
const onlyEsm = ["index.js", "workerd.js"];

execFileSync(process.execPath, [tsc, "--project", here, "--outDir", dist], { stdio: "inherit" });
// tsc writes types for what it compiles; these two modules are made by the build.
for (const name of ["glue.d.ts", "inline-bytes.d.ts"]) copyFileSync(join(here, "src", name), join(dist, name));
const base64 = readFileSync(join(dist, "ctxweave.wasm")).toString("base64");
writeFileSync(join(dist, "inline-bytes.js"), `export const base64 = "${base64}";\n`);
await writeCommonJs();
writeCommonJsTypes();

async function writeCommonJs() {
  /** Leaves each import where it is and only renames it: CommonJS shares its modules just as ESM does. */
  const renameImports = {
    name: "rename-imports",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\/.*\.js$/ }, ({ path, kind }) =>
        kind === "entry-point" ? undefined : { path: toCjs(path), external: true },
      );
    },
  };
  const files = readdirSync(dist).filter((name) => name.endsWith(".js") && !onlyEsm.includes(name));
  await build({
    entryPoints: files.map((name) => join(dist, name)),
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node18",
    plugins: [renameImports],
    banner: { js: 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
    define: { "import.meta.url": "moduleUrl" },
    logLevel: "warning",
  });
}

/** The types are the same; only the names of the files that they import differ. */
function writeCommonJsTypes() {
  const names = readdirSync(dist, { recursive: true, encoding: "utf8" });
  // index.d.ts stays: it is the type of the package itself, however it is loaded.
  const types = names.filter((name) => name.endsWith(".d.ts") && name !== "workerd.d.ts" && name !== "node.d.ts");
  for (const name of types) {
    const text = readFileSync(join(dist, name), "utf8");
    writeFileSync(
      join(dist, name.replace(/\.d\.ts$/, ".d.cts")),
      text.replaceAll(/(from ")(\.[^"]*\.js)"/g, (_, from, path) => `${from}${toCjs(path)}"`),
    );
  }
}

function toCjs(path) {
  return path.replace(/\.js$/, ".cjs");
}
