// The texts to count. All come from packages installed for the benchmark or the tests.

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../..");

function* filesIn(folder, pattern) {
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== ".bin") yield* filesIn(path, pattern);
    else if (pattern.test(path)) yield path;
  }
}

/** The first paragraphs of the texts, without duplicates. */
function gather(texts, bytes, keep = () => true) {
  const seen = new Set();
  let size = 0;
  for (const text of texts) {
    for (const part of text.split(/\n\s*\n/)) {
      if (seen.has(part) || !keep(part)) continue;
      seen.add(part);
      size += Buffer.byteLength(part) + 2;
      if (size > bytes) return [...seen].join("\n\n");
    }
  }
  return [...seen].join("\n\n");
}

/** The paragraphs in the comments of TypeScript, without comment signs. */
function comments(source) {
  const found = source.match(/\/\*\*[^]*?\*\//g) ?? [];
  const bare = (comment) => comment.slice(3, -2).replace(/^[ \t]*\*[ \t]?/gm, "");
  return found.map((comment) => bare(comment).trim()).join("\n\n");
}

const isProse = (part) =>
  part.length > 60 && !/[|{}]/.test(part) && (part.match(/[A-Za-z ,.'\n]/g) ?? []).length > part.length * 0.95;

/** Writes the texts, of at most `bytes` each; returns their paths by name. */
export function texts(bytes) {
  const folder = join(root, "target/bench-texts");
  mkdirSync(folder, { recursive: true });
  const modules = [join(here, "../node_modules"), join(root, "node_modules")];
  const all = (pattern) => modules.flatMap((path) => [...filesIn(path, pattern)].sort());
  const read = (path) => readFileSync(path, "utf8");
  const markdown = all(/\.md$/i).map(read);
  const types = all(/\.d\.ts$/).map(read);
  // Bundled, not minified: functions in their original form.
  const bundles = all(/(\/vite\/dist\/node\/chunks\/node|\/typescript\/lib\/typescript)\.js$/).map(read);
  const rust = ["src", "xtask", "tests"].flatMap((path) => [...filesIn(join(root, path), /\.rs$/)].sort()).map(read);
  const messages = all(/\/typescript\/lib\/(zh-cn|zh-tw|ja|ko)\/.*\.json$/);
  const sentences = messages.map((path) => Object.values(JSON.parse(read(path))).join("\n\n"));
  const written = {
    English: gather([...types.map(comments), ...markdown], bytes, isProse),
    Markdown: gather(markdown, bytes),
    code: gather([...rust, ...bundles], bytes),
    CJK: gather(sentences, bytes),
  };
  return Object.entries(written).map(([name, text]) => {
    const path = join(folder, `${name}.txt`);
    writeFileSync(path, text);
    return { name, path, text };
  });
}

/** Writes texts that repeat one thing; returns their paths by name. */
export function runs(length) {
  const folder = join(root, "target/bench-texts");
  mkdirSync(folder, { recursive: true });
  // Pseudorandom letters and ideographs, the same in each run.
  let state = 1;
  const below = (end) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const random = (from, kinds) => Array.from({ length }, () => String.fromCodePoint(from + below(kinds))).join("");
  const written = {
    a: "a".repeat(length),
    spaces: " ".repeat(length),
    "line breaks": "\n".repeat(length),
    "one ideograph": "\u4e2d".repeat(length),
    "random ideographs": random(0x4e00, 0x5000),
    "random letters": random(0x61, 26),
    emoji: "\u{1f600}".repeat(length),
  };
  return Object.entries(written).map(([name, text]) => {
    const path = join(folder, `run-${name.replaceAll(" ", "-")}.txt`);
    writeFileSync(path, text);
    return { name, path, length };
  });
}
