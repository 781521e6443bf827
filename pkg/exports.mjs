/**
 * The entry points in `package.json` of the npm packages, derived from the lists below. `node pkg/exports.mjs` writes
 * them and the folders for old resolvers; tests/packaging compares.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** The areas that have an entry point and a separate module. */
export const areas = ["chat", "commits", "folders", "import", "loom", "operators", "tokens", "workspace"];

/** Hooks for other libraries. */
export const dropins = ["ai-sdk", "langchain", "openai-agents"];

/** The vocabularies of each package: name to file. */
export const vocabularies = {
  ctxweave: { o200k_base: "o200k_base", cl100k_base: "cl100k_base", o200k_harmony: "o200k_base" },
  "ctxweave-vocab": { p50k_base: "p50k_base", p50k_edit: "p50k_base", r50k_base: "r50k_base", gpt2: "r50k_base" },
};

/** The folder of each package. */
export const folders = { ctxweave: "", "ctxweave-tiktoken": "tiktoken", "ctxweave-vocab": "vocabularies" };

/** The areas that also offer `ctxweave/vocab/NAME` as `ctxweave/AREA/vocab/NAME`, with the vocabularies. */
const named = {
  chat: ["o200k_base", "cl100k_base"],
  loom: ["o200k_base", "cl100k_base"],
  tokens: ["o200k_base", "cl100k_base", "o200k_harmony"],
};

/**
 * Targets for `import` and `require`, each with its types. A tool takes the first condition that it knows. Hermes, the
 * engine of React Native, has no `import.meta`.
 */
const dual = (types, esm, cjs) => ({
  import: { types: `./dist/types/${types}.d.ts`, "react-native": cjs.default, ...esm },
  require: { types: `./dist/types-cjs/${types}.d.ts`, ...cjs },
});

/**
 * The conditions of an entry point that loads a file, one target per kind of runtime. Nitro has the condition `unwasm` if
 * it bundles WebAssembly, and imports a module under the specifier of the edge runtime.
 */
function loader(types, stem) {
  const runtimes = {
    workerd: { unwasm: `./dist/${stem("edge")}.js`, default: `./dist/${stem("workerd")}.js` },
    "edge-light": `./dist/${stem("edge")}.js`,
    bun: `./dist/${stem("node")}.js`,
    deno: `./dist/${stem("node")}.js`,
  };
  return dual(
    types,
    { ...runtimes, node: `./dist/${stem("node")}.js`, default: `./dist/${stem("index")}.js` },
    // If `require` can load an ES module, it shares one instance with `import`.
    {
      ...runtimes,
      node: { "module-sync": `./dist/${stem("node")}.js`, default: `./dist/${stem("node")}.cjs` },
      default: `./dist/${stem("index")}.cjs`,
    },
  );
}

/** The same code for every runtime. */
const plain = (types, stem) =>
  dual(
    types,
    { default: `./dist/${stem}.js` },
    {
      bun: `./dist/${stem}.js`,
      deno: `./dist/${stem}.js`,
      node: { "module-sync": `./dist/${stem}.js`, default: `./dist/${stem}.cjs` },
      default: `./dist/${stem}.cjs`,
    },
  );

const area = (types, folder = "") => loader(types, (kind) => `${folder}${kind}`);

const vocabulary = (name, folder = "") =>
  loader(`vocab/${name}`, (kind) => `${folder}${name}${kind === "index" ? "" : `.${kind}`}`);

/** The files of vocabularies, by their entry point. */
const bins = (names, folder, prefix) =>
  Object.fromEntries(
    [...new Set(Object.values(names))].map((file) => [`${prefix}${file}.bin`, `./dist/${folder}${file}.bin`]),
  );

/** The `exports` of a package. */
export function exportsOf(name) {
  const file = (path) => [`./${path}`, `./dist/${path}`];
  const manifest = ["./package.json", "./package.json"];
  if (name === "ctxweave-tiktoken")
    return Object.fromEntries([[".", area("entries/tiktoken")], file("ctxweave.wasm"), manifest]);
  const names = vocabularies[name];
  if (name === "ctxweave-vocab") {
    return Object.fromEntries([
      ...Object.keys(names).map((of) => [`./${of}`, vocabulary(of)]),
      ...Object.entries(bins(names, "", "./")),
      manifest,
    ]);
  }
  return Object.fromEntries([
    [".", area("entries/default")],
    ...areas.map((of) => [`./${of}`, area(`entries/${of}`, `${of}/`)]),
    ...dropins.map((of) => [`./${of}`, plain(`dropins/${of}`, `dropins/${of}`)]),
    ["./stores", plain("stores/index", "stores")],
    ["./inline", plain("entries/default", "inline")],
    ["./slim", plain("slim", "slim")],
    ["./vocab", plain("vocabulary", "shared")],
    ...Object.keys(names).flatMap((of) => [
      [`./vocab/${of}`, vocabulary(of, "vocab/")],
      [`./vocab/${of}/inline`, plain(`vocab/${of}`, `vocab/${of}.inline`)],
    ]),
    ...Object.entries(bins(names, "vocab/", "./vocab/")),
    ...Object.entries(named).flatMap(([of, names]) =>
      names.map((name) => [`./${of}/vocab/${name}`, vocabulary(name, "vocab/")]),
    ),
    ...["", ...areas.map((of) => `${of}/`)].map((folder) => file(`${folder}ctxweave.wasm`)),
    manifest,
  ]);
}

/** Importing an ES module of the packages has no side effects. Bundlers take CommonJS as it is. */
const sideEffects = ["./dist/**/*.cjs"];

/**
 * For resolvers that ignore `exports`, such as Parcel's: a folder per entry point, with a `package.json` that refers to
 * the files. Maps the folder to that file's content.
 */
export function stubsOf(name) {
  const stubs = {};
  for (const [entry, target] of Object.entries(exportsOf(name))) {
    if (entry === "." || typeof target === "string") continue;
    const folder = entry.slice(2);
    const up = "../".repeat(folder.split("/").length);
    const to = (path) => up + path.slice(2);
    stubs[folder] = {
      main: to(target.require.default),
      module: to(target.import.default),
      types: to(target.import.types),
    };
  }
  return stubs;
}

/** The complete `package.json` of a package, given the current one. */
export function manifestOf(name, manifest) {
  const tops = [...new Set(Object.keys(stubsOf(name)).map((folder) => folder.split("/")[0]))];
  const { ".": main } = exportsOf(name);
  return {
    ...manifest,
    sideEffects,
    files: [
      "dist",
      ...tops,
      ...(name === "ctxweave" ? ["CHANGELOG.md"] : []),
      "LICENSE-MIT",
      "LICENSE-APACHE",
      "THIRD-PARTY-NOTICES.md",
    ],
    ...(main && { main: main.require.node.default, module: main.import.default, types: main.import.types }),
    exports: exportsOf(name),
  };
}

export const pathOf = (name, ...rest) => join(here, folders[name], ...rest);

const textOf = (value) => `${JSON.stringify(value, null, 2)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of Object.keys(folders)) {
    const path = pathOf(name, "package.json");
    writeFileSync(path, textOf(manifestOf(name, JSON.parse(readFileSync(path, "utf8")))));
    for (const [folder, stub] of Object.entries(stubsOf(name))) {
      mkdirSync(pathOf(name, folder), { recursive: true });
      writeFileSync(pathOf(name, folder, "package.json"), textOf(stub));
    }
  }
}
