/** The examples of the docs, to be run unchanged. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packaging/packed.mjs";

const pair =
  /^```(?:js|javascript|ts|typescript)\n(?<code>(?:(?!```)[^\n]*\n)*)```\n\s*(?:(?!```)[^\n]+\n\s*){0,2}^```text\n(?<printed>[\s\S]*?)^```/gm;

/**
 * Every JavaScript block that a text block with its output follows, with at most two lines between them: a list of
 * `{ file, name, code, printed }` of the READMEs and of all docs.
 */
export function examples() {
  const docs = readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  return ["README.md", "pkg/README.md", ...docs].flatMap((path) => {
    const found = [...readFileSync(join(root, path), "utf8").matchAll(pair)];
    return found.map(({ groups }, at) => ({
      file: `${path.replaceAll(/\W/g, "-")}-${at}`,
      name: `example ${at + 1} of ${path}`,
      ...groups,
    }));
  });
}
