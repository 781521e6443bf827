/** What is in the tarballs, and whether they are put together as npm, TypeScript and the bundlers expect. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { installed, pack, packages, root } from "./packed.mjs";

const packed = Object.fromEntries(Object.keys(packages).map((name) => [name, pack(name)]));
after(() => Object.values(packed).forEach(({ remove }) => remove()));
const { files, size, unpackedSize } = packed.ctxweave;

const inRoot = (path) => readFileSync(join(root, path), "utf8");
const inPackage = (path, name = "ctxweave") => readFileSync(join(installed(), "node_modules", name, path));

/** The areas that have an entry point and a module of their own. */
const areas = ["chat", "commits", "folders", "import", "loom", "operators", "tokens", "workspace"];

for (const name of Object.keys(packages)) {
  test(`the tarball of ${name} holds exactly the files in files.txt`, () => {
    const all = inRoot("tests/packaging/files.txt").trim().split("\n");
    const expected = all.filter((line) => line.startsWith(`${name}/`)).map((line) => line.slice(name.length + 1));
    assert.deepEqual(packed[name].files, expected);
  });

  test(`every file that package.json of ${name} names is there`, () => {
    const { bin = {}, exports, main, module, sideEffects, types } = JSON.parse(inPackage("package.json", name));
    const commands = Object.values(bin).map((path) => `./${path}`);
    const paths = [main, module, types, ...commands, ...sideEffects.filter((path) => !path.includes("*"))];
    const collect = (value) => (typeof value === "string" ? paths.push(value) : Object.values(value).forEach(collect));
    collect(exports);
    for (const path of paths) assert.ok(packed[name].files.includes(path.slice(2)), path);
  });
}

test("the package is no larger than it may be", () => {
  assert.ok(size <= 6_000_000, `${size} bytes packed`);
  assert.ok(unpackedSize <= 12_000_000, `${unpackedSize} bytes unpacked`);
  assert.ok(files.length <= 300, `${files.length} files`);
});

test("`types` comes first in every condition", () => {
  const look = (value) => {
    if (typeof value === "string") return;
    const keys = Object.keys(value);
    if (keys.includes("types")) assert.equal(keys[0], "types", JSON.stringify(value));
    Object.values(value).forEach(look);
  };
  for (const folder of Object.values(packages)) look(JSON.parse(inRoot(`${folder}/package.json`)).exports);
});

for (const [name, { tarball }] of Object.entries(packed)) {
  test(`publint has nothing to say of ${name}`, () => clean("publint", [tarball, "--strict"], /All good!/));
}

/** The entries that are files and no modules. */
const raw = [
  ...["", ...areas.map((area) => `${area}/`)].map((folder) => `${folder}ctxweave.wasm`),
  "vocab/cl100k_base.bin",
  "vocab/o200k_base.bin",
  "vocab/p50k_base.bin",
  "vocab/r50k_base.bin",
].sort();

for (const [name, { tarball }] of Object.entries(packed)) {
  test(`attw has nothing to say of ${name}`, () =>
    // node16: the way that TypeScript resolved before there were `exports` cannot find any entry but the first. The raw
    // files are no modules that TypeScript could resolve.
    clean(
      "attw",
      // `ascii`: the default form depends on the width of the terminal.
      [tarball, "--profile", "node16", "--no-emoji", "--format", "ascii", "--exclude-entrypoints", ...raw],
      /node16 \(from CJS\): OK \(CJS\)/,
    ));
}

function clean(program, args, expected) {
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin", program), args, { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, expected);
  assert.equal(stderr, "");
}

test("one version everywhere", async () => {
  const version = /^\[workspace\.package\]\nversion = "(.+)"$/m.exec(inRoot("Cargo.toml"))[1];
  for (const folder of Object.values(packages)) {
    assert.equal(JSON.parse(inRoot(`${folder}/package.json`)).version, version);
  }
  const ctxweave = await import(join(installed(), "node_modules/ctxweave/dist/node.js"));
  assert.equal(ctxweave.version, version);
  const modules = raw.filter((name) => name.endsWith(".wasm")).map((name) => inPackage(`dist/${name}`));
  for (const bytes of [...modules, inPackage("dist/ctxweave.wasm", "ctxweave-tiktoken")]) {
    const module = new WebAssembly.Module(bytes);
    const [section] = WebAssembly.Module.customSections(module, "ctxweave");
    assert.equal(new TextDecoder().decode(section), version);
  }
});

test("the licences are those of the project", () => {
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) {
    for (const of of Object.keys(packages)) assert.equal(inPackage(name, of).toString(), inRoot(name));
    assert.ok(inRoot(name).length > 1000);
  }
});

test("each module and each vocabulary is there once, and what has an inline form once more, packed", async () => {
  assert.deepEqual(
    files.filter((name) => /\.(wasm|bin)$/.test(name)),
    raw.map((name) => `dist/${name}`),
  );
  const inline = ["ctxweave.wasm", "vocab/cl100k_base.bin", "vocab/o200k_base.bin"];
  assert.deepEqual(
    files.filter((name) => inPackage(name).length > 300_000 && !/\.(wasm|bin)$/.test(name)),
    inline.map((name) => `dist/${name.replace(/\.\w+$/, ".packed.js")}`),
  );
  for (const name of inline) {
    const path = join(installed(), "node_modules/ctxweave/dist", name.replace(/\.\w+$/, ".packed.js"));
    const { packed } = await import(path);
    assert.ok(gunzipSync(Buffer.from(packed, "base64")).equals(inPackage(`dist/${name}`)), name);
  }
});

test("what the wasm imports reaches no clock, chance, console, network or global", () => {
  const banned =
    /\b(Atomics|Date|Function|Math|XMLHttpRequest|console|crypto|document|eval|fetch|global|globalThis|import|performance|process|queueMicrotask|require|self|setInterval|setTimeout|window)\b/;
  for (const code of [...["", ...areas].map((area) => core(area)), core("", "ctxweave-tiktoken")]) {
    const [imports] = /^function __wbg_get_imports\(\) \{[\s\S]*?^\}/m.exec(code);
    assert.match(imports, /new Array\(\)/, "this is where they are");
    assert.doesNotMatch(imports, banned);
  }
});

/** The code that an area's entry points share; those of `tokens` hold it. */
function core(area, name) {
  return inPackage(join("dist", area, area === "tokens" ? "node.js" : "core.js"), name).toString();
}

test("an area has no JavaScript of the others, and the errors are those of all", async () => {
  const names = {
    chat: /fitMessages/,
    commits: /CommitGraph|importTranscript/,
    folders: /buildContextChain/,
    import: /importLoom/,
    loom: /class LoomTree|function (assembleDialogue|requestBody)\b/,
    operators: /parseTask/,
    tokens: /countChatTokens/,
    workspace: /readContext/,
  };
  for (const [of, pattern] of Object.entries(names)) {
    for (const area of areas) {
      if (of === area || of === "tokens") assert.match(core(area), pattern, area);
      else assert.doesNotMatch(core(area), pattern, area);
    }
    if (of === "import") assert.doesNotMatch(core(""), pattern);
    else assert.match(core(""), pattern);
  }
  const folders = [...["", ...areas].map((area) => `ctxweave/dist/${area}`), "ctxweave-tiktoken/dist"];
  const classes = await Promise.all(
    folders.flatMap((folder) =>
      ["node.js", "node.cjs"].map(async (entry) => {
        const module = await import(join(installed(), "node_modules", folder, entry));
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

test("no file of the packages names a folder of the machine that built it", () => {
  const sysroot = execFileSync("rustc", ["--print", "sysroot"], { encoding: "utf8" }).trim();
  const folders = [root, homedir(), sysroot, ".cargo/registry", "/lib/rustlib/src"];
  for (const [name, { files }] of Object.entries(packed)) {
    for (const file of files) {
      const text = inPackage(file, name).toString("latin1");
      for (const folder of folders) assert.ok(!text.includes(folder), `${name}/${file}: ${folder}`);
      // What the standard library says of itself is under /rustc.
      if (file.endsWith(".wasm"))
        assert.doesNotMatch(text, /\/(?:home|root|Users|usr|opt|tmp|work|build)\/[\w.-]/, file);
    }
  }
});

test("the package takes no part of wasm-pack's and brings no dependency along", () => {
  for (const folder of Object.values(packages)) {
    const manifest = JSON.parse(inRoot(`${folder}/package.json`));
    for (const field of ["dependencies", "optionalDependencies"]) assert.equal(manifest[field], undefined);
    // Who uses a drop-in has its host; nobody else gets one.
    for (const peer of Object.keys(manifest.peerDependencies ?? {}))
      assert.equal(manifest.peerDependenciesMeta[peer].optional, true, peer);
  }
  assert.ok(!files.some((name) => /_bg\b|snippets|\.gitignore|Cargo/.test(name)), files.join(", "));
});

test("git does not see what the build writes", () => {
  const status = execFileSync("git", ["status", "--porcelain", "--ignored=no", "--", "pkg/dist", "pkg/tiktoken/dist"], {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(status, "");
});
