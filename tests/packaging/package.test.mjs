/** The content of the tarballs, and its validity for npm, TypeScript and the bundlers. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { isQuick } from "../build.mjs";
import { areas, manifestOf, stubsOf } from "../../pkg/exports.mjs";
import { installed, pack, packages, root } from "./packed.mjs";

const packed = Object.fromEntries(Object.keys(packages).map((name) => [name, pack(name)]));
after(() => Object.values(packed).forEach(({ remove }) => remove()));
const { files } = packed.ctxweave;

const inRoot = (path) => readFileSync(join(root, path), "utf8");
const inPackage = (path, name = "ctxweave") => readFileSync(join(installed(), "node_modules", name, path));

for (const name of Object.keys(packages)) {
  test(`the tarball of ${name} holds exactly the files in files.txt`, () => {
    const all = inRoot("tests/packaging/files.txt").trim().split("\n");
    const expected = all.filter((line) => line.startsWith(`${name}/`)).map((line) => line.slice(name.length + 1));
    assert.deepEqual(packed[name].files, expected);
  });

  test(`every file named in package.json of ${name} exists`, () => {
    const { bin = {}, exports, main, module, sideEffects, types } = JSON.parse(inPackage("package.json", name));
    const commands = Object.values(bin).map((path) => `./${path}`);
    const paths = [main, module, types, ...commands, ...sideEffects].filter(
      (path) => path !== undefined && !path.includes("*"),
    );
    const collect = (value) => (typeof value === "string" ? paths.push(value) : Object.values(value).forEach(collect));
    collect(exports);
    for (const path of paths) assert.ok(packed[name].files.includes(path.slice(2)), path);
  });

  test(`package.json of ${name} has the entry points of pkg/exports.mjs`, () => {
    const manifest = JSON.parse(inRoot(`${packages[name]}/package.json`));
    assert.deepEqual(manifest, manifestOf(name, manifest), "run `node pkg/exports.mjs`");
    assert.deepEqual(Object.keys(manifest.exports), Object.keys(manifestOf(name, manifest).exports), "in this order");
  });

  test(`a resolver that ignores exports finds each entry point of ${name}`, () => {
    const stubs = stubsOf(name);
    const found = packed[name].files.filter((path) => /^(?!dist\/).+\/package\.json$/.test(path));
    assert.deepEqual(
      found.sort(),
      Object.keys(stubs)
        .map((folder) => `${folder}/package.json`)
        .sort(),
    );
    for (const [folder, stub] of Object.entries(stubs)) {
      assert.deepEqual(JSON.parse(inPackage(`${folder}/package.json`, name)), stub, "run `node pkg/exports.mjs`");
      for (const path of Object.values(stub)) assert.ok(packed[name].files.includes(posix.join(folder, path)), path);
    }
  });
}

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
  test(`publint reports nothing for ${name}`, () => clean("publint", [tarball, "--strict"], /All good!/));
}

/** Entries that are files rather than modules. */
const raw = [
  ...["", ...areas.map((area) => `${area}/`)].map((folder) => `${folder}ctxweave.wasm`),
  "vocab/cl100k_base.bin",
  "vocab/o200k_base.bin",
].sort();

/** Those of the package of older vocabularies. */
const rawOlder = ["p50k_base.bin", "r50k_base.bin"];

for (const [name, { tarball }] of Object.entries(packed)) {
  test(`attw reports nothing for ${name}`, () =>
    // node16: the resolution of TypeScript before `exports` finds only the main entry. The raw files are not modules
    // that TypeScript could resolve.
    clean(
      "attw",
      // `ascii`: the default form depends on the width of the terminal.
      [tarball, "--profile", "node16", "--no-emoji", "--format", "ascii", "--exclude-entrypoints", ...raw, ...rawOlder],
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
    const { version: own, peerDependencies } = JSON.parse(inRoot(`${folder}/package.json`));
    assert.equal(own, version);
    assert.equal(peerDependencies?.ctxweave ?? version, version);
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

test("each module exists once and once packed, each vocabulary also as a separate module", async () => {
  const isBinary = (name) => /\.(wasm|bin)$/.test(name);
  for (const [name, folder, bins] of [
    ["ctxweave", "dist/vocab/", ["cl100k_base", "o200k_base"]],
    ["ctxweave-vocab", "dist/", ["p50k_base", "r50k_base"]],
  ]) {
    const modules = name === "ctxweave" ? ["", ...areas.map((area) => `${area}/`)] : [];
    const binaries = modules.map((area) => `dist/${area}ctxweave.wasm`);
    for (const of of bins) binaries.push(`${folder}${of}.bin`, `${folder}${of}.wasm`);
    assert.deepEqual(packed[name].files.filter(isBinary), binaries.sort());
    for (const of of bins) {
      const module = new WebAssembly.Module(inPackage(`${folder}${of}.wasm`, name));
      const [section] = WebAssembly.Module.customSections(module, "vocab");
      assert.ok(inPackage(`${folder}${of}.bin`, name).equals(Buffer.from(section)), of);
    }
    const whole = binaries.filter(
      (path) => !(path.endsWith(".wasm") && path.startsWith(`${folder}`) && !path.endsWith("ctxweave.wasm")),
    );
    const forms = whole.map((path) => path.replace(/\.\w+$/, ".packed.js"));
    assert.deepEqual(
      packed[name].files.filter((path) => path.endsWith(".packed.js")),
      [...forms].sort(),
    );
    for (const path of whole) {
      const form = await import(join(installed(), "node_modules", name, path.replace(/\.\w+$/, ".packed.js")));
      assert.ok(gunzipSync(Buffer.from(form.packed, "base64")).equals(inPackage(path, name)), path);
    }
    const large = packed[name].files.filter((path) => inPackage(path, name).length > 300_000 && !isBinary(path));
    assert.deepEqual(
      large.filter((path) => !path.endsWith(".packed.js")),
      [],
      "no other file contains one",
    );
  }
});

test("the imports of the wasm reach no clock, randomness, console, network or global", () => {
  const banned =
    /\b(Atomics|Date|Function|Math|XMLHttpRequest|console|crypto|document|eval|fetch|global|globalThis|import|performance|process|queueMicrotask|require|self|setInterval|setTimeout|window)\b/;
  for (const code of [...["", ...areas].map((area) => core(area)), core("", "ctxweave-tiktoken")]) {
    const [imports] = /^function __wbg_get_imports\(\) \{[\s\S]*?^\}/m.exec(code);
    assert.match(imports, /new Array\(\)/, "the imports are found");
    assert.doesNotMatch(imports, banned);
  }
});

/** The code shared by an area's entry points; those of `tokens` contain it. */
function core(area, name) {
  return inPackage(join("dist", area, area === "tokens" ? "node.js" : "core.js"), name).toString();
}

test("an area contains no JavaScript of others, and shares the error class", async () => {
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
      if (of === area || (of === "tokens" && area !== "import")) assert.match(core(area), pattern, area);
      // The glue of the quick module has the classes of all areas.
      else if (!isQuick) assert.doesNotMatch(core(area), pattern, area);
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
      // Base64 contains such names by chance; its bytes are checked as a file.
      const text = inPackage(file, name)
        .toString("latin1")
        .replaceAll(/[A-Za-z0-9+/]{200,}/g, "");
      for (const folder of folders) assert.ok(!text.includes(folder), `${name}/${file}: ${folder}`);
      // Paths of the standard library begin with /rustc.
      if (file.endsWith(".wasm"))
        assert.doesNotMatch(text, /\/(?:home|root|Users|usr|opt|tmp|work|build)\/[\w.-]/, file);
    }
  }
});

test("the package contains nothing of wasm-pack and has no dependencies", () => {
  for (const folder of Object.values(packages)) {
    const manifest = JSON.parse(inRoot(`${folder}/package.json`));
    for (const field of ["dependencies", "optionalDependencies"]) assert.equal(manifest[field], undefined);
    // Users of a drop-in have installed its host.
    for (const peer of Object.keys(manifest.peerDependencies ?? {}).filter((peer) => peer !== "ctxweave"))
      assert.equal(manifest.peerDependenciesMeta[peer].optional, true, peer);
  }
  assert.ok(!files.some((name) => /_bg\b|snippets|\.gitignore|Cargo/.test(name)), files.join(", "));
});

test("git ignores the output of the build", () => {
  const status = execFileSync("git", ["status", "--porcelain", "--ignored=no", "--", "pkg/dist", "pkg/tiktoken/dist"], {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(status, "");
});
