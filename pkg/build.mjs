/**
 * Builds an npm package around what cargo built: `node pkg/build.mjs PACKAGE VOCAB OUT FLAVOR=FOLDER...`. VOCAB holds
 * `NAME.bin`, and each FOLDER holds `ctxweave.wasm` and `glue.js`. `cargo xtask build` runs it.
 *
 * Each flavor gets a folder; the folder of the first flavor is the package root:
 *
 * - `core.js`: the exports of src/entries/FLAVOR.ts and the glue. The entry points of a flavor share this one instance;
 * - `index.js`, `node.js`, `workerd.js`, `edge.js`: locate the wasm in each kind of runtime. Those of `tokens` contain
 *   the core, because that flavor has to start fast and each imported file costs half a millisecond;
 * - `core.cjs`, `node.cjs` and `index.cjs`: the same for `require` in runtimes that cannot require an ES module;
 * - `ctxweave.packed.js`: the wasm as base64, loaded if a bundler left the wasm file out. `inline.js` contains it as
 *   well.
 *
 * A vocabulary has the same files. In addition to `NAME.bin` it has a `NAME.wasm`, an empty module that carries the
 * bytes as a section, for Workers, which can import modules only.
 *
 * `dropins/` are entry points for other libraries; they use the public `ctxweave/chat`. `cli/main.js` is the command
 * `ctxweave`; it imports the public entry points when a command needs them.
 *
 * `docs` holds the pages that comments of the types refer to. README.md and CHANGELOG.md next to `dist` are made from those of the
 * repository (`package-readme.mjs`), THIRD-PARTY-NOTICES.md from the crates (`notices.mjs`). `shared.js` is the code that the flavors share with the
 * vocabularies. `types` and `types-cjs` are the bundled declarations, once per module system, because TypeScript tells
 * these apart by the package.json above a file.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { dropins, folders, vocabularies as vocabulariesOf } from "./exports.mjs";
import { noticesOf } from "./notices.mjs";
import { isPackedPage, packageReadme, packedPage } from "./package-readme.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const src = join(here, "src");
const [name, vocab, out] = [process.argv[2], resolve(process.argv[3]), resolve(process.argv[4])];
/** The folder of each flavor's module. */
const modules = new Map(
  process.argv.slice(5).map((argument) => {
    const [flavor, folder] = argument.split(/=(.*)/s);
    return [flavor, resolve(folder)];
  }),
);
const [main, ...smaller] = modules.keys();

const isWhole = name === "ctxweave";

/** The vocabularies of this package: name to file. */
const vocabularies = vocabulariesOf[name] ?? {};

/** Inputs of tsc for the declarations. */
const types = {
  ctxweave: "tsconfig.types.json",
  "ctxweave-tiktoken": "tiktoken/tsconfig.json",
  "ctxweave-vocab": "vocabularies/tsconfig.json",
}[name];

/** Whether to ship the modules packed as well. With tiktoken-rs inside they would have several megabytes. */
const isPacked = isWhole;

/** The modules of src that go into `shared.js`. */
const shared = ["areas", "coders", "error", "registered-formats", "source", "version", "vocabulary"];

/** The declarations use `Symbol.dispose`, which not every `lib` has. */
const disposable = {
  name: "disposable",
  renderChunk: (code) =>
    code.includes("[Symbol.dispose]") ? `/// <reference lib="esnext.disposable" />\n${code}` : undefined,
};

/** The flavors whose entry points contain their core. */
const joined = ["tokens"];

/** Suffixes of the files that locate the wasm, for ES modules and for CommonJS. */
const ways = { esm: ["", ".node", ".workerd", ".edge"], cjs: [".require", ".node.require"] };

if (main) {
  await bundle({ stdin: shared.map((name) => `export * from "./${name}.js";`).join("\n"), to: "shared" });
}
for (const flavor of [main, ...smaller].filter(Boolean)) {
  const dir = flavor === main ? "" : `${flavor}/`;
  mkdirSync(join(out, dir), { recursive: true });
  writeFileSync(join(out, dir, "ctxweave.wasm"), moduleOf(flavor));
  if (isPacked) pack(join(out, dir, "ctxweave.wasm"));
  if (!joined.includes(flavor)) await bundle({ flavor, from: `entries/${flavor}`, to: `${dir}core` });
  for (const [format, kinds] of Object.entries(ways)) {
    for (const kind of kinds) {
      const from = kind.startsWith(".require") || kind === "" ? `index${kind}` : kind.slice(1);
      await bundle({ flavor, from, to: dir + from.replace(".require", ""), formats: [format] });
    }
  }
}
if (isWhole) {
  await bundle({ flavor: main, from: "slim", to: "slim" });
  await bundle({ flavor: main, from: "inline", to: "inline", formats: ["esm"] });
  await bundle({ flavor: main, from: "inline.require", to: "inline", formats: ["cjs"] });
}
for (const [vocabulary, file] of Object.entries(vocabularies)) {
  const folder = isWhole ? "vocab/" : "";
  const asset = join(out, `${folder}${file}.bin`);
  mkdirSync(dirname(asset), { recursive: true });
  if (!existsSync(asset)) {
    copyFileSync(join(vocab, `${file}.bin`), asset);
    writeFileSync(asset.replace(/bin$/, "wasm"), asModule("vocab", readFileSync(asset)));
    pack(asset);
  }
  for (const [format, kinds] of Object.entries(ways)) {
    for (const kind of [...kinds, ...(isWhole ? [format === "esm" ? ".inline" : ".inline.require"] : [])]) {
      const to = folder + vocabulary + kind.replace(".require", "");
      await bundle({ from: `vocab/${vocabulary}`, to, file: { kind, name: file }, formats: [format] });
    }
  }
}
for (const dropin of isWhole ? dropins : []) await bundle({ from: `dropins/${dropin}`, to: `dropins/${dropin}` });
if (isWhole) await bundle({ from: "cli/main", to: "cli/main", formats: ["esm"] });
if (isWhole) await bundle({ from: "stores/index", to: "stores" });
await declarations();
writeFileSync(join(here, folders[name], "THIRD-PARTY-NOTICES.md"), noticesOf(name));
if (isWhole) {
  const docs = join(here, "../docs");
  // Records of decisions are for contributors.
  mkdirSync(join(out, "docs"));
  for (const name of readdirSync(docs).filter((name) => isPackedPage(`docs/${name}`))) {
    writeFileSync(join(out, "docs", name), packedPage(readFileSync(join(docs, name), "utf8")));
  }
  copyFileSync(join(here, "../CHANGELOG.md"), join(here, "CHANGELOG.md"));
  writeFileSync(join(here, "README.md"), packageReadme(readFileSync(join(here, "../README.md"), "utf8")));
}

/** Bundles a module of src, or a text, as an ES module and as CommonJS. */
async function bundle({ flavor, stdin, from, to, file, formats = ["esm", "cjs"] }) {
  for (const format of formats) {
    const end = format === "esm" ? ".js" : ".cjs";
    await build({
      ...(stdin
        ? { stdin: { contents: stdin, resolveDir: src, loader: "ts" } }
        : { entryPoints: [join(src, `${from}.ts`)] }),
      outfile: join(out, to + end),
      bundle: true,
      format,
      platform: format === "esm" ? "neutral" : "node",
      target: format === "esm" ? "es2022" : "node18",
      external: ["node:*", "@langchain/*"],
      define: { PACKED: String(isPacked), ...(flavor && { AREA: JSON.stringify(flavor) }) },
      plugins: [
        {
          name: "layout",
          setup(esbuild) {
            layout(esbuild, { flavor, to, end, file, isShared: to === "shared" });
            mended(esbuild);
          },
        },
      ],
      logLevel: "warning",
    });
  }
}

/** Resolves each import: into the same file, to another file of the package, or to the output of cargo. */
function layout({ onResolve, onLoad }, { flavor, to, end, file, isShared }) {
  const external = (path) => {
    const short = relative(join(out, dirname(to)), join(out, path)).replaceAll("\\", "/");
    return { path: short.startsWith(".") ? short : `./${short}`, external: true };
  };
  onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir, kind }) => {
    if (kind === "entry-point") return undefined;
    if (/\.(wasm(\?module)?|packed\.js)$/.test(path)) return { path, external: true };
    const module = relative(src, join(resolveDir, path)).replaceAll("\\", "/").replace(/\.js$/, "");
    if (module === "glue") return { path: join(modules.get(flavor), "glue.js") };
    if (module === "vocab/file") return { path: join(src, `vocab/file${file.kind}.ts`) };
    if (module === "entries/chat" && to.startsWith("dropins/")) return { path: "ctxweave/chat", external: true };
    if (to.startsWith("cli/") && /^(entries|vocab)\//.test(module)) {
      return { path: module.replace(/^(entries\/)?/, "ctxweave/").replace(/\/default$/, ""), external: true };
    }
    if (module === "entries/commits" && to === "stores") return { path: "ctxweave/commits", external: true };
    if (!isShared && shared.includes(module)) {
      return name === "ctxweave-vocab" ? { path: "ctxweave/vocab", external: true } : external(`shared${end}`);
    }
    // The entry points are written for the first flavor and serve them all.
    if (module === "entries/default" && !to.endsWith("core")) {
      if (joined.includes(flavor)) return { path: join(src, "entries", `${flavor}.ts`) };
      return external(join(dirname(to), `core${end}`));
    }
    return undefined;
  });
  onLoad({ filter: /[/\\]vocab[/\\]file[\w.]*\.ts$/ }, ({ path }) => ({
    contents: readFileSync(path, "utf8").replaceAll("o200k_base.", `${file.name}.`),
    loader: "ts",
  }));
}

/** wasm-bindgen creates a decoder and an encoder when its glue is imported; this makes that lazy. */
function mended({ onLoad }) {
  onLoad({ filter: /[/\\]glue\.js$/ }, ({ path }) => {
    let glue = readFileSync(path, "utf8");
    for (const [from, to] of [
      [/^let cachedTextDecoder = .*\ncachedTextDecoder\.decode\(\);$/m, "let cachedTextDecoder;"],
      ["if (numBytesDecoded >= MAX_SAFARI", "if (!cachedTextDecoder || numBytesDecoded >= MAX_SAFARI"],
      [/new TextDecoder\('utf-8', \{ ignoreBOM: true[^}]*\}\)/, 'decoderOf("utf-8")'],
      [/^const cachedTextEncoder = new TextEncoder\(\);\n\nif \([^]*?\n\}\n/m, ""],
      ["cachedTextEncoder.encode(", "utf8().encode("],
      ["cachedTextEncoder.encodeInto(", "utf8().encodeInto("],
    ]) {
      const changed = glue.replace(from, to);
      if (changed === glue)
        throw new Error(`the glue no longer contains ${from}; adapt pkg/build.mjs to the new output of wasm-bindgen`);
      glue = changed;
    }
    const left = /new Text(De|En)coder|cachedTextEncoder/.exec(glue);
    if (left) throw new Error(`the glue still contains ${left[0]}`);
    return { contents: `import { decoderOf, utf8 } from "./coders.js";\n${glue}`, resolveDir: src, loader: "js" };
  });
}

/**
 * The module of a flavor. A module that serves several flavors carries the flavor's name in a custom section: bundlers
 * would merge files that are equal.
 */
function moduleOf(flavor) {
  const folder = modules.get(flavor);
  const module = readFileSync(join(folder, "ctxweave.wasm"));
  const isShared = [...modules.values()].filter((other) => other === folder).length > 1;
  return isShared ? Buffer.concat([module, section("flavor", Buffer.from(flavor))]) : module;
}

/** An empty module that carries `content` as a custom section. */
function asModule(name, content) {
  return Buffer.concat([Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]), section(name, content)]);
}

/** A custom section of a wasm module. */
function section(name, content) {
  const title = [name.length, ...Buffer.from(name)];
  let rest = title.length + content.length;
  const size = [];
  do {
    size.push((rest & 127) | (rest > 127 ? 128 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from([0, ...size, ...title]), content]);
}

/** Writes a file as a JavaScript module next to it. */
function pack(file) {
  const base64 = gzipSync(readFileSync(file), { level: 9 }).toString("base64");
  writeFileSync(file.replace(/\.\w+$/, ".packed.js"), `export const packed = "${base64}";\n`);
}

/**
 * Bundles the declarations of each entry point in package.json, with common ones in `shared/`: of all that tsc writes,
 * users' compilers read only these few files.
 */
async function declarations() {
  // The paths are in the bundled declarations, so a random name would change the tarball.
  const written = join(out, ".declarations");
  rmSync(written, { recursive: true, force: true });
  try {
    const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
    const options = ["--emitDeclarationOnly", "--outDir", written];
    execFileSync(process.execPath, [tsc, "--project", join(here, types), ...options], { stdio: "inherit" });
    // tsc writes declarations for what it compiles; this one is written by hand.
    if (!existsSync(join(written, "glue.d.ts"))) copyFileSync(join(src, "glue.d.ts"), join(written, "glue.d.ts"));
    const manifest = readFileSync(join(here, folders[name], "package.json"), "utf8");
    const entries = new Set([...manifest.matchAll(/dist\/types\/([\w./-]+)\.d\.ts"/g)].map(([, entry]) => entry));
    const bundle = await rolldown({
      input: Object.fromEntries([...entries].map((entry) => [entry, join(written, `${entry}.d.ts`)])),
      external: [/^node:/, /^@langchain\//, /^ctxweave/],
      plugins: [dts({ dtsInput: true, tsconfig: false }), disposable],
    });
    const dir = join(out, "types");
    await bundle.write({ dir, entryFileNames: "[name].ts", chunkFileNames: "shared/[name].ts" });
    cpSync(dir, `${dir}-cjs`, { recursive: true });
    writeFileSync(join(`${dir}-cjs`, "package.json"), '{ "type": "commonjs" }\n');
  } finally {
    rmSync(written, { recursive: true });
  }
}
