/** The example of README.md, to be run unchanged. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packaging/packed.mjs";

/** The first JavaScript block of a file, and what the text block after it says that it prints. */
export function example(path) {
  const text = readFileSync(join(root, path), "utf8");
  const found =
    /^```(?:js|javascript|ts|typescript)\n(?<code>[\s\S]*?)^```\n\s*(?:[^`\n]+\n\s*)*^```text\n(?<printed>[\s\S]*?)^```/m.exec(
      text,
    );
  if (!found) throw new Error(`${path} has no JavaScript block that a text block with its output follows`);
  return found.groups;
}
