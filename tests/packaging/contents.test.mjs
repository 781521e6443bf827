/** What the packages say about themselves: links, contributors' words, changes, notices; and that a build can be repeated. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { after, test } from "node:test";
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
  for (const page of pagesOf("ctxweave")) {
    const text = inPackage(page, "ctxweave");
    for (const [, path, anchor] of withoutCode(text).matchAll(/\]\(([^)#\s]*)#([^)]*)\)/g)) {
      if (/^[a-z]+:/.test(path)) continue;
      const target = path === "" ? text : inPackage(posix.join(posix.dirname(page), path), "ctxweave");
      assert.ok(anchorsOf(target).has(anchor), `${page}: ${path}#${anchor}`);
    }
  }
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
  for (const [name, { files }] of Object.entries(packed)) {
    for (const file of files.filter((path) => /\.c?js$/.test(path) && !path.endsWith(".packed.js")))
      assert.doesNotMatch(inPackage(file, name), /\bstatic\s*\{/, `${name}/${file}`);
  }
});

test("what React Native resolves has no `import.meta`, which its engine rejects", () => {
  for (const name of Object.keys(packed)) {
    const targets = Object.values(JSON.parse(inPackage("package.json", name)).exports);
    const files = targets.flatMap((target) => target.import?.["react-native"] ?? []);
    assert.ok(files.length > 0);
    for (const file of files) assert.doesNotMatch(inPackage(file, name), /\bimport\.meta\b/, `${name}: ${file}`);
  }
});
