/**
 * Builds a prompt section from a folder of AGENTS.md files: `node examples/agents.mjs [vault] [folder…]` after
 * `cargo xtask build`. Defaults to examples/vault. Costs, omissions and diagnostics go to stderr, so that the prompt
 * can be piped.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { buildContextChain, discoverContextFolders, init, renderContextPrompt } from "ctxweave";

const [vault = join(import.meta.dirname, "vault"), ...folders] = process.argv.slice(2);
const selected = folders.length > 0 ? folders : ["Projects/parachute", "Areas/taiji"];

await init();
const paths = readdirSync(vault, { recursive: true, encoding: "utf8" }).map((path) => path.split(sep).join("/"));
const files = discoverContextFolders(paths)
  .folders.flatMap(({ path, hasAgentsMd, hasClaudeMd }) => [
    ...(hasAgentsMd ? [join(path, "AGENTS.md")] : []),
    ...(hasClaudeMd ? [join(path, "CLAUDE.md")] : []),
  ])
  .map((path) => ({ path, content: readFileSync(join(vault, path)) }));

const chain = buildContextChain({ files, selected, maxTokens: 2000 });
process.stdout.write(renderContextPrompt(chain));

for (const { path, level, reason, tokens, truncated } of chain.files) {
  console.error(`${String(tokens).padStart(6)}  ${path} (${level}, ${reason}${truncated ? ", cut" : ""})`);
}
for (const { path, tokens } of chain.omitted) console.error(`${String(tokens).padStart(6)}  ${path} omitted`);
console.error(`${String(chain.totalTokens).padStart(6)}  tokens in all`);
for (const { severity, message, path, line } of chain.diagnostics) {
  console.error(`${severity}: ${message}${path ? ` (${path}${line ? `:${line}` : ""})` : ""}`);
}
