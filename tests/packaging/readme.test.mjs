/** README.md: its length and its links, and the README of the npm package, which is made from it. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { packageReadme } from "../../pkg/package-readme.mjs";
import { installed, root } from "./packed.mjs";

const readme = readFileSync(join(root, "README.md"), "utf8");

/** The files that a text links to, from its folder. */
function links(text, folder) {
  const prose = text.replace(/^```[^]*?^```/gm, "");
  const paths = [...prose.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, path]) => path);
  return paths.filter((path) => !/^[a-z]+:/.test(path)).map((path) => posix.join(folder, path));
}

test("README.md has at most 8,000 bytes", () => {
  assert.ok(Buffer.byteLength(readme) <= 8000, `${Buffer.byteLength(readme)} bytes`);
});

test("every link of README.md leads to a file, and every page of docs/ is within two links", () => {
  const first = links(readme, "");
  for (const path of first) assert.ok(existsSync(join(root, path)), path);
  const second = first
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) => links(readFileSync(join(root, path), "utf8"), posix.dirname(path)));
  const reached = new Set([...first, ...second]);
  const pages = readdirSync(join(root, "docs"), { recursive: true }).filter((name) => name.endsWith(".md"));
  const missing = pages
    .map((name) => posix.join("docs", name.replaceAll("\\", "/")))
    .filter((page) => !reached.has(page));
  assert.deepEqual(missing, []);
});

test("the README of the package is that of the repository, and its links lead into the package", () => {
  const dir = join(installed(), "node_modules/ctxweave");
  const packed = readFileSync(join(dir, "README.md"), "utf8");
  assert.equal(packed, packageReadme(readme));
  assert.doesNotMatch(packed, /cargo xtask/);
  const paths = links(packed, "");
  assert.ok(paths.length > 20, String(paths.length));
  for (const path of paths) assert.ok(existsSync(join(dir, path)), path);
});
