/** What is in the tarball, and whether it is put together as npm, TypeScript and the bundlers expect. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { installed, pack, root } from "./packed.mjs";

const { tarball, files, remove } = pack();
after(remove);

const inRoot = (path) => readFileSync(join(root, path), "utf8");
const inPackage = (path) => readFileSync(join(installed(), "node_modules/ctxweave", path));

test("the tarball holds exactly the files in files.txt", () => {
  const expected = inRoot("tests/packaging/files.txt").trim().split("\n");
  assert.deepEqual(files, expected);
});

test("every file that package.json names is there", () => {
  const { exports, main, module, sideEffects, types } = JSON.parse(inPackage("package.json"));
  const paths = [main, module, types, ...sideEffects.filter((path) => !path.includes("*"))];
  const collect = (value) => (typeof value === "string" ? paths.push(value) : Object.values(value).forEach(collect));
  collect(exports);
  for (const path of paths) assert.ok(files.includes(path.slice(2)), path);
});

test("`types` comes first in every condition", () => {
  const look = (value) => {
    if (typeof value === "string") return;
    const keys = Object.keys(value);
    if (keys.includes("types")) assert.equal(keys[0], "types", JSON.stringify(value));
    Object.values(value).forEach(look);
  };
  look(JSON.parse(inRoot("pkg/package.json")).exports);
});

test("publint has nothing to say", () => clean("publint", [tarball, "--strict"], /All good!/));

/** The entries that are files and no modules. */
const raw = [
  "ctxweave.wasm",
  "loom/ctxweave.wasm",
  "tiktoken/ctxweave.wasm",
  "tokens/ctxweave.wasm",
  "vocab/cl100k_base.bin",
  "vocab/o200k_base.bin",
];

test("attw has nothing to say", () =>
  // node16: the way that TypeScript resolved before there were `exports` cannot find any entry but the first. The raw files
  // are no modules that TypeScript could resolve.
  clean(
    "attw",
    // `ascii`: the default form depends on the width of the terminal.
    [tarball, "--profile", "node16", "--no-emoji", "--format", "ascii", "--exclude-entrypoints", ...raw],
    /node16 \(from CJS\): OK \(CJS\)/,
  ));

function clean(program, args, expected) {
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin", program), args, { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, expected);
  assert.equal(stderr, "");
}

test("one version everywhere", async () => {
  const version = /^\[workspace\.package\]\nversion = "(.+)"$/m.exec(inRoot("Cargo.toml"))[1];
  assert.equal(JSON.parse(inRoot("pkg/package.json")).version, version);
  const ctxweave = await import(join(installed(), "node_modules/ctxweave/dist/node.js"));
  assert.equal(ctxweave.version, version);
  for (const name of raw.filter((name) => name.endsWith(".wasm"))) {
    const module = new WebAssembly.Module(inPackage(`dist/${name}`));
    const [section] = WebAssembly.Module.customSections(module, "ctxweave");
    assert.equal(new TextDecoder().decode(section), version);
  }
});

test("the licences are those of the project", () => {
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) {
    assert.equal(inPackage(name).toString(), inRoot(name));
    assert.ok(inRoot(name).length > 1000);
  }
});

test("each module and each vocabulary is there once, and the wasm once more as base64 for ctxweave/inline", () => {
  assert.deepEqual(
    files.filter((name) => /\.(wasm|bin)$/.test(name)),
    raw.map((name) => `dist/${name}`),
  );
  const holders = (bytes) => {
    const base64 = bytes.toString("base64");
    return files.filter((name) => inPackage(name).includes(base64));
  };
  assert.deepEqual(holders(inPackage("dist/ctxweave.wasm")), ["dist/inline-bytes.cjs", "dist/inline-bytes.js"]);
  // Bytes from the middle: nothing else holds them, whatever way it is written.
  const part = (name) => inPackage(name).subarray(300_000, 300_099);
  for (const name of raw.filter((name) => name.endsWith(".bin")).map((name) => `dist/${name}`)) {
    assert.deepEqual(holders(part(name)), [], name);
    assert.deepEqual(
      files.filter((other) => inPackage(other).includes(part(name))),
      [name],
    );
  }
});

test("what the wasm imports reaches no clock, chance, console, network or global", () => {
  const banned =
    /\b(Atomics|Date|Function|Math|XMLHttpRequest|console|crypto|document|eval|fetch|global|globalThis|import|performance|process|queueMicrotask|require|self|setInterval|setTimeout|window)\b/;
  // The glue is in core.js, or in the entry point.
  for (const name of ["dist/core.js", "dist/loom/core.js", "dist/tiktoken/core.js", "dist/tokens/node.js"]) {
    const [imports] = /^function __wbg_get_imports\(\) \{[\s\S]*?^\}/m.exec(inPackage(name).toString());
    assert.match(imports, /new Array\(\)/, "this is where they are");
    assert.doesNotMatch(imports, banned);
  }
});

test("a smaller flavour has no JavaScript of the areas that it lacks, and the errors are those of all", async () => {
  const code = (flavour, name = "core.js") => inPackage(`dist/${flavour}${name}`).toString();
  const [trees, areas] = [
    /LoomTree|assembleDialogue|requestBody/,
    /CommitGraph|parseTask|buildContextChain|readContext/,
  ];
  for (const pattern of [trees, areas]) assert.match(code(""), pattern);
  assert.match(code("loom/"), trees);
  assert.doesNotMatch(code("loom/"), areas);
  for (const pattern of [trees, areas]) assert.doesNotMatch(code("tokens/", "node.js"), pattern);
  const classes = await Promise.all(
    ["", "loom/", "tiktoken/", "tokens/"].flatMap((flavour) =>
      ["node.js", "node.cjs"].map(async (entry) => {
        const module = await import(join(installed(), `node_modules/ctxweave/dist/${flavour}${entry}`));
        return module.CtxweaveError;
      }),
    ),
  );
  for (const one of classes) {
    class Derived extends one {}
    for (const other of classes) {
      assert.ok(new other("invalid_input", "no") instanceof one);
      assert.ok(new Derived("invalid_input", "no") instanceof other);
      assert.ok(!(new other("invalid_input", "no") instanceof Derived));
    }
    assert.ok(new Derived("invalid_input", "no") instanceof Derived);
    for (const none of [new Error("no"), { code: "invalid_input" }, null, undefined, "no"])
      assert.ok(!(none instanceof one));
  }
});

test("no file of the package names a folder of the machine that built it", () => {
  for (const name of files) {
    const text = inPackage(name).toString("latin1");
    for (const folder of [root, homedir(), ".cargo/registry"]) assert.ok(!text.includes(folder), `${name}: ${folder}`);
  }
});

test("the package takes no part of wasm-pack's and brings no dependency along", () => {
  const manifest = JSON.parse(inRoot("pkg/package.json"));
  for (const field of ["dependencies", "peerDependencies", "optionalDependencies"])
    assert.equal(manifest[field], undefined);
  assert.ok(!files.some((name) => /_bg\b|snippets|\.gitignore|Cargo/.test(name)), files.join(", "));
});

test("git does not see what the build writes", () => {
  const status = execFileSync("git", ["status", "--porcelain", "--ignored=no", "--", "pkg/dist"], {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(status, "");
});
