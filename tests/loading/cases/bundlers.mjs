/** Bundlers, for browsers and for the command line. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { judged } from "../parts/browser.mjs";
import { builtCommand, builtPage, expectFailure, pageFiles } from "../parts/cases.mjs";
import { freePort, run, served } from "../parts/process.mjs";
import { all, first } from "../parts/program.mjs";

const node = process.execPath;

/** Runs a tool in the folder of the case. */
const tool =
  (name, args) =>
  ({ workspace, dir }) =>
    run(workspace.bin(name), args, { cwd: dir });

/** Node runs the only script in the output, or the one of this name. */
const byNode = (name) => () => [node, [name]];

const esbuild = (args) => tool("esbuild", args);
const esbuildCases = [
  builtPage({
    tool: "esbuild",
    what: "browser, ES module",
    quick: true,
    build: esbuild(["main.mjs", "--bundle", "--format=esm", "--outfile=out/main.js"]),
    script: "./main.js",
  }),
  builtPage({
    tool: "esbuild",
    what: "browser, `--splitting`",
    build: esbuild(["main.mjs", "--bundle", "--format=esm", "--splitting", "--outdir=out"]),
    script: "./main.js",
  }),
  builtPage({
    tool: "esbuild",
    what: "browser, IIFE",
    quick: true,
    build: esbuild(["main.mjs", "--bundle", "--outfile=out/main.js", "--log-override:empty-import-meta=silent"]),
    script: "./main.js",
    attributes: "",
  }),
  builtCommand({
    tool: "esbuild",
    what: "`--platform=node --format=cjs` (Lambda)",
    quick: true,
    build: esbuild(["main.mjs", "--bundle", "--platform=node", "--format=cjs", "--outfile=out/main.cjs"]),
    start: byNode("main.cjs"),
  }),
  builtCommand({
    tool: "esbuild",
    what: "`--platform=node --format=esm`",
    quick: true,
    build: esbuild(["main.mjs", "--bundle", "--platform=node", "--format=esm", "--outfile=out/main.mjs"]),
    start: byNode("main.mjs"),
  }),
  builtCommand({
    tool: "esbuild",
    what: "Node, a program that uses `require`",
    quick: true,
    cjs: true,
    build: esbuild(["main.cjs", "--bundle", "--platform=node", "--format=cjs", "--outfile=out/main.cjs"]),
    start: byNode("main.cjs"),
  }),
];

const rollup = (args) => tool("rollup", [...args, "--silent"]);
const oneFile = {
  tool: "rollup",
  what: "`-o` or IIFE, one file",
  line: "`output: { inlineDynamicImports: true }`",
  async run(workspace) {
    const dir = workspace.dir("rollup one file", pageFiles(first));
    const args = ["main.mjs", "-p", "node-resolve", "-o", "out/main.js", "-f", "es"];
    await expectFailure(() => rollup(args)({ workspace, dir }), /inlineDynamicImports/);
    return withLine.run(workspace);
  },
};
const withLine = builtPage({
  tool: "rollup",
  what: "one file, with the line",
  build: rollup(["main.mjs", "-p", "node-resolve", "-o", "out/main.js", "-f", "es", "--inlineDynamicImports"]),
  script: "./main.js",
});
const rollupCases = [
  builtPage({
    tool: "rollup",
    what: "browser, with node-resolve",
    build: rollup(["main.mjs", "-p", "node-resolve", "-d", "out", "-f", "es"]),
    script: "./main.js",
  }),
  builtCommand({
    tool: "rollup",
    what: "Node, with node-resolve",
    async build({ workspace, dir }) {
      await rollup(["main.mjs", "-p", "node-resolve", "-d", "out", "-f", "es"])({ workspace, dir });
      writeFileSync(join(dir, "out/package.json"), '{ "type": "module" }\n');
    },
    start: byNode("main.js"),
  }),
  oneFile,
];

const bunCases = [
  builtPage({
    tool: "bun",
    what: "`bun build`, browser",
    quick: true,
    build: tool("bun", ["build", "main.mjs", "--target=browser", "--outdir", "out"]),
    script: "./main.js",
  }),
  builtPage({
    tool: "bun",
    what: "`bun build --splitting`, browser",
    build: tool("bun", ["build", "main.mjs", "--target=browser", "--splitting", "--outdir", "out"]),
    script: "./main.js",
  }),
  builtCommand({
    tool: "bun",
    what: "`bun build --target=bun`",
    build: tool("bun", ["build", "main.mjs", "--target=bun", "--outdir", "out"]),
    start: ({ workspace }) => [workspace.bin("bun"), ["main.js"]],
  }),
  builtCommand({
    tool: "bun",
    what: "`bun build --target=node`, ES module and CommonJS",
    async build({ workspace, dir }) {
      await tool("bun", ["build", "main.mjs", "--target=node", "--outfile", "out/main.mjs"])({ workspace, dir });
      await tool("bun", ["build", "main.mjs", "--target=node", "--format=cjs", "--outfile", "out/main.cjs"])({
        workspace,
        dir,
      });
      writeFileSync(join(dir, "out/both.mjs"), 'await import("./main.mjs");\nawait import("./main.cjs");\n');
    },
    start: byNode("both.mjs"),
  }),
  builtCommand({
    tool: "bun",
    what: "`bun build --compile`",
    build: tool("bun", ["build", "main.mjs", "--compile", "--outfile", "out/app"]),
    start: ({ dir }) => [join(dir, "app"), []],
  }),
];

const webpack = (args) => tool("webpack", ["--mode", "production", "-o", "out", ...args]);
const webpackCases = [
  builtPage({
    tool: "webpack",
    what: "browser",
    build: webpack(["--entry", "./main.mjs"]),
    script: "./main.js",
    attributes: "",
  }),
  builtPage({
    tool: "webpack",
    what: "browser, in a worker",
    inWorker: true,
    build: webpack(["--entry", "./main.mjs"]),
    script: "./main.js",
    attributes: "",
  }),
  builtCommand({
    tool: "webpack",
    what: "`--target node`",
    build: webpack(["--entry", "./main.mjs", "--target", "node"]),
    start: byNode("main.js"),
  }),
  builtCommand({
    tool: "webpack",
    what: "`--target node`, a program that uses `require`",
    cjs: true,
    build: webpack(["--entry", "./main.cjs", "--target", "node"]),
    start: byNode("main.js"),
  }),
];

/** Vite: `bin` is its program in node_modules. */
function viteCases(name) {
  const vite =
    (args) =>
    ({ workspace, dir }) =>
      run(node, [join(workspace.modules, name, "bin/vite.js"), ...args], { cwd: dir });
  const dev = (what, options) => ({
    tool: name,
    what,
    async run(workspace) {
      let result;
      for (const [size, of] of Object.entries({ all, first })) {
        const dir = workspace.dir(`${name} ${what} ${size}`, pageFiles(of, { script: "/main.mjs", ...options }));
        const port = await freePort();
        const args = [
          join(workspace.modules, name, "bin/vite.js"),
          "--port",
          port,
          "--strictPort",
          "--host",
          "127.0.0.1",
        ];
        result = await served(node, args, { cwd: dir, port }, judged);
      }
      // The code is neither bundled nor minified: its size is not comparable.
      return { how: result.how };
    },
  });
  return [
    builtPage({ tool: name, what: "build", build: vite(["build", "--outDir", "out"]) }),
    builtPage({ tool: name, what: "build, in a worker", inWorker: true, build: vite(["build", "--outDir", "out"]) }),
    dev("dev"),
    dev("dev, in a worker", { inWorker: true }),
    builtCommand({
      tool: name,
      what: "SSR, all in the bundle",
      async build({ workspace, dir }) {
        writeFileSync(join(dir, "vite.config.mjs"), "export default { ssr: { noExternal: true } };\n");
        await vite(["build", "--ssr", "main.mjs", "--outDir", "out"])({ workspace, dir });
        writeFileSync(join(dir, "out/package.json"), '{ "type": "module" }\n');
      },
      start: ({ files }) => [node, [files.find((file) => /^main\.m?js$/.test(file))]],
    }),
  ];
}

const parcel = tool("parcel", ["build", "index.html", "--dist-dir", "out", "--no-cache", "--log-level", "error"]);
const parcelCases = [
  builtPage({ tool: "parcel", what: "build", build: parcel }),
  builtPage({ tool: "parcel", what: "build, in a worker", inWorker: true, build: parcel }),
];

export const bundlers = [
  ...viteCases("vite"),
  ...viteCases("vite7"),
  ...webpackCases,
  ...esbuildCases,
  ...rollupCases,
  ...bunCases,
  ...parcelCases,
];
