/** What the packages say about themselves: links, contributors' words, changes, notices; and that a build can be repeated. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join, posix } from "node:path";
import { after, test } from "node:test";
import { areas } from "../../pkg/exports.mjs";
import { cratesOf } from "../../pkg/notices.mjs";
import { packedPage } from "../../pkg/package-readme.mjs";
import { installed, pack, packages, root } from "./packed.mjs";

const packed = Object.fromEntries(Object.keys(packages).map((name) => [name, pack(name)]));
after(() => Object.values(packed).forEach(({ remove }) => remove()));
const inPackage = (path, name) => readFileSync(join(installed(), "node_modules", name, path), "utf8");
const pagesOf = (name) => packed[name].files.filter((path) => path.endsWith(".md"));

const withoutCode = (text) => text.replace(/^```[^]*?^```/gm, "");

test("every link of a packed page leads to a packed file", () => {
  let count = 0;
  for (const [name, { files }] of Object.entries(packed)) {
    for (const page of pagesOf(name)) {
      const links = withoutCode(inPackage(page, name)).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g);
      for (const [, path] of links) {
        if (/^[a-z]+:/.test(path)) continue;
        assert.ok(files.includes(posix.join(posix.dirname(page), path)), `${name}/${page}: ${path}`);
        count += 1;
      }
    }
  }
  assert.ok(count > 100, String(count));
});

test("every anchor of a packed page exists", () => {
  const anchorsOf = (text) =>
    new Set(
      [...withoutCode(text).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
          .replaceAll(" ", "-"),
      ),
    );
  let count = 0;
  for (const name of Object.keys(packages)) {
    for (const page of pagesOf(name)) {
      const text = inPackage(page, name);
      for (const [, path, anchor] of withoutCode(text).matchAll(/\]\(([^)#\s]*)#([^)]*)\)/g)) {
        if (/^[a-z]+:/.test(path)) continue;
        const target = path === "" ? text : inPackage(posix.join(posix.dirname(page), path), name);
        assert.ok(anchorsOf(target).has(anchor), `${name}/${page}: ${path}#${anchor}`);
        count += 1;
      }
    }
  }
  assert.ok(count > 50, String(count));
});

test("packed pages speak of nothing that only a clone has", () => {
  const folders = readdirSync(root).filter((name) => statSync(join(root, name)).isDirectory());
  for (const name of Object.keys(packages)) {
    for (const page of pagesOf(name).filter((page) => !page.startsWith("THIRD-PARTY"))) {
      const text = withoutCode(inPackage(page, name));
      assert.doesNotMatch(text, /\bcargo\b|\bxtask\b|CTXWEAVE_|repository:(?:start|end)/i, `${name}/${page}`);
      for (const [path] of text.matchAll(/\b(?:src|tests|benches|xtask|site|www|pkg)\/[\w./-]*\w/g)) {
        const isOfRepository = folders.includes(path.split("/")[0]) && existsSync(join(root, path));
        assert.ok(!isOfRepository, `${name}/${page}: ${path}`);
      }
    }
  }
});

test("the parts of a page for contributors are left out", () => {
  const page = "a\n\n<!-- repository:start -->\n\n[c](../src/d.rs)\n\n<!-- repository:end -->\n\nb [e](chats.md#f)\n";
  assert.equal(packedPage(page), "a\n\nb [e](chats.md#f)\n");
  assert.throws(() => packedPage("b [c](../src/d.rs)\n"), /\[c\]\(\.\.\/src\/d\.rs\) leads out of the package/);
});

test("the changes are packed", () => {
  assert.equal(inPackage("CHANGELOG.md", "ctxweave"), readFileSync(join(root, "CHANGELOG.md"), "utf8"));
});

test("the notices name every crate of the modules and all data", () => {
  for (const [name, features] of Object.entries({ ctxweave: [], "ctxweave-tiktoken": ["tiktoken"] })) {
    const notices = inPackage("THIRD-PARTY-NOTICES.md", name);
    const crates = cratesOf(features);
    assert.ok(crates.length > 20, String(crates.length));
    for (const crate of crates) assert.ok(notices.includes(`${crate.name} ${crate.version} (`), crate.name);
    assert.match(notices, /## OpenAI's vocabularies[^]*OpenAI, Shantanu Jain/);
  }
  assert.match(inPackage("THIRD-PARTY-NOTICES.md", "ctxweave-vocab"), /OpenAI, Shantanu Jain/);
  assert.ok(cratesOf(["tiktoken"]).some(({ name }) => name === "tiktoken-rs"));
});

test("the packages have a description and names to find them by", () => {
  for (const folder of Object.values(packages)) {
    const { description, keywords, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    assert.ok(description.length > 40 && description.length <= 130, description);
    assert.ok(keywords.length > 2 && license.length > 2, folder);
  }
});

test("no code has a static block, which the Babel preset of React Native rejects", () => {
  let count = 0;
  for (const [name, { files }] of Object.entries(packed)) {
    for (const file of files.filter((path) => /\.c?js$/.test(path) && !path.endsWith(".packed.js"))) {
      assert.doesNotMatch(inPackage(file, name), /\bstatic\s*\{/, `${name}/${file}`);
      count += 1;
    }
  }
  assert.ok(count > 100, String(count));
});

/** The files that React Native resolves an entry point to, by `import` and by `require`. */
function reactNativeFiles(target) {
  const chosen = (value) => {
    if (typeof value !== "object") return [value];
    const condition = ["react-native", "default"].find((name) => name in value);
    return condition ? chosen(value[condition]) : [];
  };
  return ["import", "require"].flatMap((way) => chosen(target[way] ?? {}));
}

/** Files and all that they import or require from their package. */
function imported(name, files) {
  const found = new Set();
  const visit = (file) => {
    const path = posix.normalize(file);
    if (found.has(path)) return;
    found.add(path);
    if (!/\.c?js$/.test(path) || path.endsWith(".packed.js")) return;
    for (const [, to] of inPackage(path, name).matchAll(/\b(?:from|import|require)\s*\(?\s*["'](\.[^"']+)["']/g)) {
      visit(posix.join(posix.dirname(path), to));
    }
  };
  files.forEach(visit);
  return [...found];
}

test("what React Native resolves has no `import.meta`, which its engine rejects, nor has what that imports", () => {
  for (const name of Object.keys(packed)) {
    const targets = Object.values(JSON.parse(inPackage("package.json", name)).exports);
    const files = targets.filter((target) => target.import).flatMap(reactNativeFiles);
    const all = imported(name, files).filter((file) => /\.c?js$/.test(file));
    assert.ok(files.length > 1 && all.length > new Set(files).size, `${name}: ${files.length}, ${all.length}`);
    for (const file of all) assert.doesNotMatch(inPackage(file, name), /\bimport\.meta\b/, `${name}: ${file}`);
  }
});

/** A folder of the build with a module and its glue. */
function builtModule() {
  const built = ["flavors", "quick"].map((name) => join(root, "target/xtask", name)).filter(existsSync);
  const folders = built.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const isWhole = (folder) => ["glue.js", "ctxweave.wasm"].every((file) => existsSync(join(folder, file)));
  return folders.find((folder) => isWhole(folder) && !folder.endsWith("tiktoken"));
}

/** Builds the package in a copy of the repository; returns the hash of each file that this writes. */
function builtHashes(copy) {
  mkdirSync(copy);
  for (const name of readdirSync(root)) {
    if (!["pkg", "target", "node_modules"].includes(name)) symlinkSync(join(root, name), join(copy, name));
  }
  cpSync(join(root, "pkg"), join(copy, "pkg"), {
    recursive: true,
    filter: (path) => !/\/pkg(\/\w+)?\/dist$/.test(path),
  });
  const written = ["README.md", "CHANGELOG.md", "THIRD-PARTY-NOTICES.md"].map((file) => join(copy, "pkg", file));
  for (const file of written) rmSync(file, { force: true });
  const modules = areas.map((area) => `${area}=${builtModule()}`);
  const args = ["ctxweave", join(root, "target/xtask/vocab"), join(copy, "pkg/dist"), `default=${builtModule()}`];
  execFileSync(process.execPath, ["pkg/build.mjs", ...args, ...modules], { cwd: copy, stdio: "pipe" });
  const files = readdirSync(join(copy, "pkg/dist"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const hash = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");
  return Object.fromEntries([...files, ...written].map((file) => [file.slice(copy.length), hash(file)]));
}

test("a build of the package can be repeated, in any folder", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(root, "target/packed/repeated-"));
  try {
    const [one, other] = ["one", "another-folder"].map((name) => builtHashes(join(folder, name)));
    assert.ok(Object.keys(one).length > 150, String(Object.keys(one).length));
    assert.deepEqual(other, one);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
