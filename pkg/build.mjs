/**
 * What is in an npm package besides what cargo makes: `node pkg/build.mjs PACKAGE MADE OUT FLAVOUR...`, where MADE holds
 * `flavours/NAME/ctxweave.wasm` and `glue.js`, and `vocab/NAME.bin`. `cargo xtask build` runs it.
 *
 * Each flavour has a folder, the first one that of all:
 *
 * - `core.js`: what src/entries/FLAVOUR.ts exports, with the glue, so that its entry points share one instance;
 * - `index.js`, `node.js`, `workerd.js`: where the wasm comes from in each kind of runtime. Those of `tokens`, which is there
 *   to count soon, hold the core: each file costs half a millisecond to import;
 * - `core.cjs` and `node.cjs`, the same for `require`.
 *
 * `dropins/` are entry points for other libraries, which use `ctxweave/chat` as any user would.
 *
 * `shared.js` is what all of them have in common with the vocabularies, `*.packed.js` are files as base64, `types` and
 * `types-cjs` the declarations, twice because TypeScript tells the module systems apart by the package.json above a file.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const src = join(here, "src");
const [name, made, out] = [process.argv[2], resolve(process.argv[3]), resolve(process.argv[4])];
const [main, ...smaller] = process.argv.slice(5);

/** What is in each package besides its flavours. */
const { vocabularies, dropins, stores, inline, types } = {
  ctxweave: {
    // Each with the file that it has.
    vocabularies: {
      o200k_base: "o200k_base",
      cl100k_base: "cl100k_base",
      o200k_harmony: "o200k_base",
      p50k_base: "p50k_base",
      p50k_edit: "p50k_base",
      r50k_base: "r50k_base",
      gpt2: "r50k_base",
    },
    dropins: ["ai-sdk", "langchain", "openai-agents"],
    stores: true,
    inline: true,
    types: "tsconfig.types.json",
  },
  "ctxweave-tiktoken": { vocabularies: {}, dropins: [], stores: false, inline: false, types: "tiktoken/tsconfig.json" },
}[name];

/** The vocabularies that can be had inside the JavaScript. */
const inlined = ["o200k_base", "cl100k_base"];

/** The modules of src that go into `shared.js`. */
const shared = ["areas", "error", "source", "unpack", "version", "vocabulary"];

/** The flavours whose entry points hold their core. */
const joined = ["tokens"];

await bundle({ stdin: shared.map((name) => `export * from "./${name}.js";`).join("\n"), to: "shared" });
for (const flavour of [main, ...smaller]) {
  const dir = flavour === main ? "" : `${flavour}/`;
  mkdirSync(join(out, dir), { recursive: true });
  copyFileSync(join(made, "flavours", flavour, "ctxweave.wasm"), join(out, dir, "ctxweave.wasm"));
  if (!joined.includes(flavour)) await bundle({ flavour, from: `entries/${flavour}`, to: `${dir}core` });
  for (const entry of ["index", "workerd"]) {
    await bundle({ flavour, from: entry, to: dir + entry, formats: ["esm"] });
  }
  await bundle({ flavour, from: "node", to: `${dir}node` });
}
if (inline) {
  pack(join(out, "ctxweave.wasm"));
  await bundle({ flavour: main, from: "slim", to: "slim" });
  await bundle({ flavour: main, from: "inline", to: "inline", formats: ["esm"] });
  await bundle({ flavour: main, from: "inline.require", to: "inline", formats: ["cjs"] });
}
for (const [vocabulary, file] of Object.entries(vocabularies)) {
  const [stem, asset] = [`vocab/${vocabulary}`, join(out, `vocab/${file}.bin`)];
  mkdirSync(join(out, "vocab"), { recursive: true });
  copyFileSync(join(made, `vocab/${file}.bin`), asset);
  const from = (kind) => ({ stdin: template(kind, vocabulary, file), resolveDir: join(src, "vocab"), to: stem + kind });
  for (const kind of ["", ".workerd"]) await bundle({ ...from(kind), formats: ["esm"] });
  await bundle(from(".node"));
  if (!inlined.includes(file)) continue;
  pack(asset);
  await bundle({ ...from(".inline"), formats: ["esm"] });
  await bundle({ ...from(".inline.require"), to: `${stem}.inline`, formats: ["cjs"] });
}
for (const dropin of dropins) await bundle({ from: `dropins/${dropin}`, to: `dropins/${dropin}` });
if (stores) await bundle({ from: "stores/index", to: "stores" });
declarations();

/** The module of a vocabulary: those of `o200k_base` with the name and the file of another one. */
function template(kind, vocabulary, file) {
  const text = readFileSync(join(src, `vocab/o200k_base${kind}.ts`), "utf8");
  return text.replaceAll('"o200k_base"', `"${vocabulary}"`).replaceAll("./o200k_base.", `./${file}.`);
}

/** Writes a module of src, or some text, as an ES module and as CommonJS. */
async function bundle({ flavour, stdin, resolveDir = src, from, to, formats = ["esm", "cjs"] }) {
  for (const format of formats) {
    const end = format === "esm" ? ".js" : ".cjs";
    const needsUrl = format === "cjs" && /(^|[/.])node$/.test(to);
    await build({
      ...(stdin
        ? { stdin: { contents: stdin, resolveDir, loader: "ts" } }
        : { entryPoints: [join(src, `${from}.ts`)] }),
      outfile: join(out, to + end),
      bundle: true,
      format,
      platform: format === "esm" ? "neutral" : "node",
      target: format === "esm" ? "es2022" : "node18",
      external: ["node:*", "@langchain/*"],
      define: {
        ...(flavour && { AREA: JSON.stringify(flavour) }),
        ...(needsUrl && { "import.meta.url": "moduleUrl" }),
      },
      banner: needsUrl ? { js: 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;' } : {},
      plugins: [
        { name: "layout", setup: (esbuild) => layout(esbuild, { flavour, to, end, isShared: to === "shared" }) },
      ],
      logLevel: "warning",
    });
  }
}

/** Where each import leads: into the same file, to another one of the package, or to what cargo made. */
function layout({ onResolve }, { flavour, to, end, isShared }) {
  const external = (path) => {
    const short = relative(join(out, dirname(to)), join(out, path)).replaceAll("\\", "/");
    return { path: short.startsWith(".") ? short : `./${short}`, external: true };
  };
  onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir, kind }) => {
    if (kind === "entry-point") return undefined;
    if (/\.(wasm|bin|packed\.js)$/.test(path)) return { path, external: true };
    const module = relative(src, join(resolveDir, path)).replaceAll("\\", "/").replace(/\.js$/, "");
    if (module === "glue") return { path: join(made, "flavours", flavour, "glue.js") };
    if (module === "entries/chat" && to.startsWith("dropins/")) return { path: "ctxweave/chat", external: true };
    if (module === "entries/commits" && to === "stores") return { path: "ctxweave/commits", external: true };
    if (!isShared && shared.includes(module)) return external(`shared${end}`);
    // The entry points are written for the first flavour and serve them all.
    if (module === "entries/default" && !to.endsWith("core")) {
      if (joined.includes(flavour)) return { path: join(src, "entries", `${flavour}.ts`) };
      return external(join(dirname(to), `core${end}`));
    }
    return undefined;
  });
}

/** Puts a file into a JavaScript module beside it. */
function pack(file) {
  const base64 = gzipSync(readFileSync(file), { level: 9 }).toString("base64");
  writeFileSync(file.replace(/\.\w+$/, ".packed.js"), `export const packed = "${base64}";\n`);
}

function declarations() {
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const dir = join(out, "types");
  const options = ["--emitDeclarationOnly", "--outDir", dir];
  execFileSync(process.execPath, [tsc, "--project", join(here, types), ...options], { stdio: "inherit" });
  // tsc writes declarations for what it compiles; this one is written by hand.
  if (!existsSync(join(dir, "glue.d.ts"))) copyFileSync(join(src, "glue.d.ts"), join(dir, "glue.d.ts"));
  cpSync(dir, `${dir}-cjs`, { recursive: true });
  writeFileSync(join(`${dir}-cjs`, "package.json"), '{ "type": "commonjs" }\n');
}
