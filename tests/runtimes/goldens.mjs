/** The goldens and their sample trees, read from the disk. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packaging/packed.mjs";

const trees = join(root, "examples/trees");

/** Texts and tiktoken's counts of them, written by `cargo xtask vocab --counts`. */
export const countsFile = join(import.meta.dirname, "counts.json");
export const counts = readJson(countsFile);

/**
 * Data of the scenario: `goldens` is a list of `{ name, call, request, tree?, media?, expected }`, or with `args`
 * instead of the request, and `steps` if the call is a class. The trees are included once, not in every golden that
 * uses them.
 */
export function readGoldens() {
  const folder = join(root, "tests/golden");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json") && !name.endsWith(".expected.json"))
    .sort();
  const goldens = names.map((name) => ({
    name: name.replace(/\.json$/, ""),
    ...readJson(join(folder, name)),
    expected: readFileSync(join(folder, name.replace(/\.json$/, ".expected.json")), "utf8"),
  }));
  const used = [...new Set(goldens.flatMap(({ tree }) => tree ?? []))];
  return {
    goldens,
    trees: Object.fromEntries(used.map((name) => [name, readJson(join(trees, `${name}.json`))])),
    media: existsSync(join(trees, "media.json")) ? readJson(join(trees, "media.json")) : {},
  };
}

/** The entry points with a separate module, and the folders of the goldens that they must satisfy as well. */
export const areas = {
  chat: ["chat", "tokens"],
  commits: ["commits", "identify", "transcripts", "tokens"],
  folders: ["agent-files", "folders", "tokens"],
  import: ["import"],
  loom: ["bodies", "continuation", "loom", "resident", "tokens"],
  operators: ["operators", "tokens"],
  tokens: ["cut", "tokenizer", "tokens"],
  workspace: ["workspace", "tokens"],
};

/** The folders of the goldens that `ctxweave`, with all other areas, does not support. */
const apart = ["import"];

/** Those of the goldens for an area, or for `ctxweave`. */
export function goldensOf(area, { goldens, ...rest }) {
  const gives = (folder) => (area === "ctxweave" ? !apart.includes(folder) : areas[area].includes(folder));
  return { ...rest, goldens: goldens.filter(({ name }) => gives(name.split(/[/\\]/)[0])) };
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
