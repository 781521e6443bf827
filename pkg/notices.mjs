/**
 * THIRD-PARTY-NOTICES.md of each package: the crates inside its modules and the data that it ships, with their licenses. `pkg/build.mjs`
 * writes it.
 */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const TARGET = "wasm32-unknown-unknown";

const mit = (holder) => `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

const DATA = {
  vocabularies: ["OpenAI's vocabularies, from tiktoken", mit("2022 OpenAI, Shantanu Jain")],
  models: ["The table of models, from LiteLLM", mit("2023 Berri AI")],
};

/** By package: the features of the crate inside its modules, if it has any, and its data. */
const CONTENTS = {
  ctxweave: { features: [], data: ["vocabularies", "models"] },
  "ctxweave-tiktoken": { features: ["tiktoken"], data: ["vocabularies", "models"] },
  "ctxweave-vocab": { data: ["vocabularies"] },
};

/** The crates that are compiled into a module with these features: `{ name, version, license, folder }`. */
export function cratesOf(features) {
  const metadata = JSON.parse(
    execFileSync(
      "cargo",
      ["metadata", "--offline", "--format-version", "1", "--filter-platform", TARGET, "--features", features.join(",")],
      { cwd: join(here, ".."), encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] },
    ),
  );
  const packages = new Map(metadata.packages.map((one) => [one.id, one]));
  const nodes = new Map(metadata.resolve.nodes.map((node) => [node.id, node]));
  const isMacro = (id) => packages.get(id).targets.some(({ kind }) => kind.includes("proc-macro"));
  const found = new Set();
  const visit = (id) => {
    if (found.has(id) || isMacro(id)) return;
    found.add(id);
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) if (kinds.some(({ kind }) => kind === null)) visit(pkg);
  };
  visit(metadata.packages.find(({ name, source }) => name === "ctxweave" && source === null).id);
  return [...found]
    .map((id) => packages.get(id))
    .filter(({ source }) => source !== null)
    .map(({ name, version, license, manifest_path: path }) => ({ name, version, license, folder: dirname(path) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The license text of a crate: MIT if it is offered, otherwise all that it has. */
function textOf({ folder, license, name }) {
  const files = readdirSync(folder).filter((file) => /^(licen[sc]e|copying|unlicense)/i.test(file));
  const read = (file) => readFileSync(join(folder, file), "utf8").trim().replaceAll("\r\n", "\n");
  const chosen = files.filter((file) => /mit/i.test(file));
  const unicode = license.includes("AND Unicode") ? files.filter((file) => /unicode/i.test(file)) : [];
  const all = [...(chosen.length > 0 ? chosen : files), ...unicode];
  return all.length > 0 ? all.map(read).join("\n\n") : mit(`the authors of ${name}`);
}

/** The text of a package's THIRD-PARTY-NOTICES.md. */
export function noticesOf(name) {
  const { features, data } = CONTENTS[name];
  const texts = new Map();
  const add = (title, text) => texts.set(text, [...(texts.get(text) ?? []), title]);
  const crates = features === undefined ? [] : cratesOf(features);
  for (const crate of crates) add(`${crate.name} ${crate.version} (${crate.license})`, textOf(crate));
  for (const one of data) add(...DATA[one]);
  const sections = [...texts].map(([text, titles]) => `## ${titles.join(", ")}\n\n\`\`\`text\n${text}\n\`\`\`\n`);
  const rust = "The Rust standard library, under MIT or Apache-2.0, is inside the WebAssembly modules as well.\n\n";
  const intro = `# Third-party notices\n\nWhat \`${name}\` contains in addition to its own code, which is under MIT or Apache-2.0.\n\n`;
  return `${intro}${crates.length > 0 ? rust : ""}${sections.join("\n")}`;
}
