/** Runtimes, and pages without build tools. */

import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { judged, serving } from "../parts/browser.mjs";
import { commandFiles, expectFailure, expectOk } from "../parts/cases.mjs";
import { run } from "../parts/process.mjs";
import { all, first, page, pageMain, program } from "../parts/program.mjs";

/** A program that runs without a build. */
const command = ({ tool, version, what, quick = true, cjs = false, how = "files", start }) => ({
  tool,
  version,
  what,
  quick,
  async run(workspace) {
    const dir = workspace.dir(`${tool} ${version} ${what}`, commandFiles(all, { cjs }));
    const [executable, args] = start(workspace);
    const file = cjs ? "main.cjs" : "main.mjs";
    expectOk(await run(executable, [...args, file], { cwd: dir }));
    return { how };
  },
});

/** `require` and `import` of the same entry point. */
const instances = (start, name, version, quick) => ({
  tool: name,
  version,
  what: "`require` and `import` are one instance",
  quick,
  async run(workspace) {
    const text = `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
for (const entry of ["ctxweave", "ctxweave/tokens"]) {
  const required = require(entry);
  await required.init();
  await require("ctxweave/vocab/o200k_base").load();
  const imported = await import(entry);
  if (imported.countTokens("<|endoftext|>", { tokenizer: "o200k_base" }) !== 7) throw new Error(entry);
}
require("ctxweave/slim").countTokens("");
(await import("ctxweave/inline")).countTokens("");
console.log("OK");
`;
    const dir = workspace.dir(`${name} instances`, { "main.mjs": text });
    const [executable, args] = start(workspace);
    expectOk(await run(executable, [...args, "main.mjs"], { cwd: dir }));
    return { how: "files" };
  },
});

const old = () => [process.execPath, []];
const newer = (workspace) => [workspace.newerNode, []];
const deno = (flags) => (workspace) => [workspace.bin("deno"), ["run", "--no-remote", ...flags]];
const bun = (workspace) => [workspace.bin("bun"), []];
const major = Number(process.versions.node.split(".")[0]);

const commands = [
  command({ tool: "node", version: process.versions.node, what: "ES module", start: old }),
  command({ tool: "node", version: process.versions.node, what: "CommonJS", cjs: true, start: old }),
  instances(old, "node", process.versions.node, true),
  ...(major < 22
    ? [
        command({ tool: "node", version: "22", what: "ES module", start: newer }),
        command({ tool: "node", version: "22", what: "CommonJS", cjs: true, start: newer }),
        instances(newer, "node", "22", true),
      ]
    : []),
  command({ tool: "deno", what: "`--allow-read`", start: deno(["--allow-read"]) }),
  command({ tool: "deno", what: "without permissions", how: "packed", start: deno([]) }),
  instances(deno(["--allow-read"]), "deno", undefined, true),
  command({ tool: "bun", what: "ES module", start: bun }),
  command({ tool: "bun", what: "CommonJS", cjs: true, start: bun }),
  instances(bun, "bun", undefined, true),
];

/** A page whose modules the browser resolves by an import map. */
function plainPage({ what, quick, options, expected, how, line }) {
  return {
    tool: "Chromium",
    version: "",
    what,
    quick,
    line,
    async run(workspace) {
      const imports = {
        ctxweave: "./ctxweave/index.js",
        "ctxweave/vocab/o200k_base": "./ctxweave/vocab/o200k_base.js",
      };
      const map = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
      const dir = workspace.dir(`page ${what}`, {
        "program.mjs": program(first),
        "main.mjs": pageMain,
        "index.html": page("./main.mjs").replace("<body>", `<body>${map}`),
      });
      mkdirSync(join(dir, "ctxweave"), { recursive: true });
      cpSync(join(workspace.folder, "node_modules/ctxweave/dist"), join(dir, "ctxweave"), { recursive: true });
      if (expected) {
        await expectFailure(() => serving(dir, judged, options), expected);
        return { how };
      }
      return serving(dir, judged, options);
    },
  };
}

const policy = (text) => ({ headers: { "content-security-policy": text } });

const pages = [
  plainPage({ what: "static files and an import map", quick: true }),
  plainPage({
    what: "the same, `.wasm` served as plain bytes",
    options: { types: { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript" } },
  }),
  plainPage({
    what: "the same, `connect-src 'none'`",
    quick: true,
    options: policy("default-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; connect-src 'none'; img-src data:"),
  }),
  plainPage({
    what: "a policy that forbids WebAssembly",
    quick: true,
    options: policy("default-src 'self' 'unsafe-inline'; img-src data:"),
    expected: /wasm_load_failed not_compiled.*wasm-unsafe-eval/,
    how: "no",
    line: "`script-src 'wasm-unsafe-eval'`",
  }),
];

export const runtimes = [...commands, ...pages];
