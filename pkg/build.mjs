/**
 * Everything in dist/ but the wasm, its glue and the vocabularies, which are there already: `node pkg/build.mjs DIST
 * FLAVOUR`. `cargo xtask build` runs it, for the flavour `default` first.
 *
 * - types and modules by tsc, one file for each source file;
 * - the same as CommonJS, file by file, for the entry points that can be reached by `require`;
 * - ES modules: what the entry points share in one file, `core.js`, with the glue, so that there is one instance of the
 *   module and few files to load: each of them costs half a millisecond. The flavour `tokens`, which is there to count soon,
 *   has one less: a program uses one of its entry points, so each holds all of it;
 * - the wasm as base64, for `ctxweave/inline`.
 *
 * Another flavour has the same files in a folder of its own, but for those that only the first one needs.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = resolve(process.argv[2]);
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

const flavour = process.argv[3];

/** The entry points that nothing can reach by `require`: browsers and Workers have no such function. */
const onlyEsm = /^(index|workerd|vocab\/(\w+|\w+\.workerd))\.js$/;

/** What tiktoken-rs can count by besides. */
const tiktokenOnly = ["o200k_harmony", "p50k_base", "p50k_edit", "r50k_base", "gpt2"];

/** What only the first flavour has: other ways to load. */
const onlyDefault = ["inline.ts", "inline-bytes.d.ts", "slim.ts"];

const filesOf = (areas) => areas.flatMap((area) => [`api/${area}.ts`, `types/${area}.ts`]);
const notInLoom = filesOf(["commits", "folders", "operators", "transcripts", "workspace"]);

/** What is left out of each flavour besides: loom and tokens have what their modules have, and tiktoken needs no assets. */
const without = {
  loom: notInLoom,
  tokens: [...notInLoom, ...filesOf(["bodies", "loom", "resident"]), "api/parcel.ts"],
  tiktoken: ["vocab", "vocabulary.ts"],
};

execFileSync(process.execPath, [tsc, "--project", here, "--outDir", dist], { stdio: "inherit" });
// tsc writes types for what it compiles; these two modules are made by the build.
for (const name of ["glue.d.ts", "inline-bytes.d.ts"]) copyFileSync(join(here, "src", name), join(dist, name));
if (flavour === "default") {
  const base64 = readFileSync(join(dist, "ctxweave.wasm")).toString("base64");
  writeFileSync(join(dist, "inline-bytes.js"), `export const base64 = "${base64}";\n`);
} else {
  reduce();
}
await writeCommonJs();
writeCommonJsTypes();
await joinModules();

/** Takes away what the flavour does not need. */
function reduce() {
  for (const name of [...onlyDefault, ...without[flavour]]) {
    const [stem] = name.split(".");
    for (const end of name.includes(".") ? [".js", ".d.ts"] : [""]) {
      rmSync(join(dist, stem + end), { recursive: true, force: true });
    }
  }
  // Who exports an area that is not there: a line each.
  const gone = without[flavour].map((name) => name.replace(".ts", ".js"));
  for (const name of ["api.js", "api.d.ts", "exports.js", "exports.d.ts"]) {
    rewrite(name, (text) =>
      text
        .split("\n")
        .filter((line) => !gone.some((path) => line.includes(`"./${path}"`)))
        .join("\n"),
    );
  }
  // The assets are those of the first flavour.
  if (existsSync(join(dist, "vocab"))) {
    for (const name of readdirSync(join(dist, "vocab")).filter((name) => name.endsWith(".js"))) {
      rewrite(`vocab/${name}`, (text) => text.replaceAll(/"\.\/(\w+\.bin)"/g, '"../../vocab/$1"'));
    }
  }
  if (flavour === "tiktoken") {
    rewrite("types/common.d.ts", (text) => {
      const names = tiktokenOnly.map((name) => `"${name}"`).join(" | ");
      const more = text.replace(/^(export type Encoding = [^;]*);/m, `$1 | ${names};`);
      if (more === text) throw new Error("types/common.ts has no type `Encoding` to be widened");
      return more;
    });
  }
}

function rewrite(name, change) {
  const path = join(dist, name);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

async function writeCommonJs() {
  /** Leaves each import where it is and only renames it: CommonJS shares its modules just as ESM does. */
  const renameImports = {
    name: "rename-imports",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, kind }) =>
        kind === "entry-point" ? undefined : { path: toCjs(path), external: true },
      );
    },
  };
  const files = filesIn(["", "api/", "vocab/"]).filter((name) => !onlyEsm.test(name));
  await build({
    entryPoints: files.map((name) => join(dist, name)),
    outdir: dist,
    outbase: dist,
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
  const types = names.filter((name) => name.endsWith(".d.ts") && !/(^|[./])(workerd|node)\.d\.ts$/.test(name));
  for (const name of types) {
    const text = readFileSync(join(dist, name), "utf8");
    writeFileSync(
      join(dist, name.replace(/\.d\.ts$/, ".d.cts")),
      text.replaceAll(/(from ")(\.[^"]*\.js)"/g, (_, from, path) => `${from}${toCjs(path)}"`),
    );
  }
}

/**
 * Puts what the entry points share into `core.js`, or into each of them, and takes its files away. An entry point that has
 * it from core.js names what it exports one by one: core.js has more than that.
 */
async function joinModules() {
  const entries = filesIn(["", "vocab/"]).filter((name) =>
    /^(index|inline|node|slim|workerd|vocab\/.*)\.js$/.test(name),
  );
  const leaveApart = {
    name: "leave-apart",
    setup({ onResolve }) {
      onResolve({ filter: /\/inline-bytes\.js$|\.(wasm|bin)$/ }, ({ path }) => ({ path, external: true }));
    },
  };
  const options = {
    absWorkingDir: dist,
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    logLevel: "warning",
  };
  const bundle = (plugins, more) =>
    build({ ...options, external: ["node:*"], outdir: dist, outbase: dist, allowOverwrite: true, plugins, ...more });

  const plugins = flavour === "tokens" ? [leaveApart, intoEntries()] : [leaveApart, await intoCore()];
  await bundle(plugins, { entryPoints: entries.map((name) => join(dist, name)) });
  const kept = [...entries, "core.js", "inline-bytes.js"];
  for (const name of filesIn(["", "api/", "vocab/"])) {
    if (!kept.includes(name)) rmSync(join(dist, name));
  }

  /** The vocabularies have the rest from the entry point of the same runtime, which exports one function more for them. */
  function intoEntries() {
    return {
      name: "into-entries",
      setup({ onLoad, onResolve }) {
        onResolve({ filter: /^\.\.\/vocabulary\.js$/ }, ({ importer }) => {
          const [, runtime = "index"] = /\.(node|workerd)\.js$/.exec(importer) ?? [];
          return { path: `../${runtime}.js`, external: true };
        });
        onLoad({ filter: /\/(index|node|workerd)\.js$/ }, ({ path }) => {
          const more = 'export { createVocabulary } from "./vocabulary.js";';
          return { contents: `${readFileSync(path, "utf8")}\n${more}`, resolveDir: dist };
        });
      },
    };
  }

  async function intoCore() {
    const { metafile } = await bundle([leaveApart], {
      entryPoints: [join(dist, "exports.js")],
      metafile: true,
      write: false,
    });
    const [{ exports }] = Object.values(metafile.outputs);
    const contents = [
      'export * from "./exports.js";',
      'export { createInit } from "./load.js";',
      ...(existsSync(join(dist, "vocabulary.js")) ? ['export { createVocabulary } from "./vocabulary.js";'] : []),
    ].join("\n");
    await bundle([leaveApart], {
      stdin: { contents, resolveDir: dist, sourcefile: "core.js" },
      outdir: undefined,
      outfile: join(dist, "core.js"),
    });

    return {
      name: "into-core",
      setup({ onLoad, onResolve }) {
        onResolve({ filter: /\/(load|vocabulary)\.js$/ }, ({ path }) => ({
          path: `${dirname(path)}/core.js`,
          external: true,
        }));
        onResolve({ filter: /^\.\/core\.js$/ }, ({ path }) => ({ path, external: true }));
        onLoad({ filter: /\/exports\.js$/ }, () => ({
          contents: `export { ${exports.join(", ")} } from "./core.js";`,
        }));
      },
    };
  }
}

/** The ES modules in folders of dist/. */
function filesIn(folders) {
  const there = folders.filter((folder) => existsSync(join(dist, folder)));
  const found = there.flatMap((folder) => readdirSync(join(dist, folder)).map((name) => folder + name));
  return found.filter((name) => name.endsWith(".js"));
}

function toCjs(path) {
  return path.replace(/\.js$/, ".cjs");
}
