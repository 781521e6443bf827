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

const UNICODE = `UNICODE LICENSE V3

COPYRIGHT AND PERMISSION NOTICE

Copyright © 1991-2023 Unicode, Inc.

NOTICE TO USER: Carefully read the following legal agreement. BY
DOWNLOADING, INSTALLING, COPYING OR OTHERWISE USING DATA FILES, AND/OR
SOFTWARE, YOU UNEQUIVOCALLY ACCEPT, AND AGREE TO BE BOUND BY, ALL OF THE
TERMS AND CONDITIONS OF THIS AGREEMENT. IF YOU DO NOT AGREE, DO NOT
DOWNLOAD, INSTALL, COPY, DISTRIBUTE OR USE THE DATA FILES OR SOFTWARE.

Permission is hereby granted, free of charge, to any person obtaining a
copy of data files and any associated documentation (the "Data Files") or
software and any associated documentation (the "Software") to deal in the
Data Files or Software without restriction, including without limitation
the rights to use, copy, modify, merge, publish, distribute, and/or sell
copies of the Data Files or Software, and to permit persons to whom the
Data Files or Software are furnished to do so, provided that either (a)
this copyright and permission notice appear with all copies of the Data
Files or Software, or (b) this copyright and permission notice appear in
associated Documentation.

THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY
KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF
THIRD PARTY RIGHTS.

IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE
BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR CONSEQUENTIAL DAMAGES,
OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS,
WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION,
ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA
FILES OR SOFTWARE.

Except as contained in this notice, the name of a copyright holder shall
not be used in advertising or otherwise to promote the sale, use or other
dealings in these Data Files or Software without prior written
authorization of the copyright holder.`;

const DATA = {
  clusters: ["The table of grapheme clusters, from the Unicode Character Database", UNICODE],
  vocabularies: ["OpenAI's vocabularies, from tiktoken", mit("2022 OpenAI, Shantanu Jain")],
  models: ["The table of models, from LiteLLM", mit("2023 Berri AI")],
};

/** By package: the features of the crate inside its modules, if it has any, and its data. */
const CONTENTS = {
  ctxweave: { features: [], data: ["vocabularies", "models", "clusters"] },
  "ctxweave-tiktoken": { features: ["tiktoken"], data: ["vocabularies", "models", "clusters"] },
  "ctxweave-vocab": { data: ["vocabularies"] },
};

/** The notices of crates that are published without one and whose manifest does not name all holders: their repositories do. */
const NOTICES = {
  "fast-glob": mit(
    "2025-present VoidZero Inc. & Contributors\nCopyright (c) 2024 shulaoda\nCopyright (c) 2023 Devon Govett",
  ),
};

/** The crates that are compiled into a module with these features: `{ name, version, license, authors, folder }`. */
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
    .map(({ name, version, license, authors, manifest_path: path }) => ({
      name,
      version,
      license,
      authors,
      folder: dirname(path),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The license text of a crate: MIT if it is offered, otherwise all that it has; without one, that of its authors. */
function textOf({ folder, license, name, authors }) {
  const files = readdirSync(folder).filter((file) => /^(licen[sc]e|copying|unlicense)/i.test(file));
  const read = (file) => readFileSync(join(folder, file), "utf8").trim().replaceAll("\r\n", "\n");
  const chosen = files.filter((file) => /mit/i.test(file));
  const unicode = license.includes("AND Unicode") ? files.filter((file) => /unicode/i.test(file)) : [];
  const all = [...(chosen.length > 0 ? chosen : files), ...unicode];
  if (all.length > 0) return all.map(read).join("\n\n");
  if (NOTICES[name]) return NOTICES[name];
  if (license !== "MIT" || authors.length === 0)
    throw new Error(`the crate ${name} has no notice; add that of its repository to NOTICES in pkg/notices.mjs`);
  return mit(authors.map((author) => author.replace(/ <.*>$/, "")).join(", "));
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
