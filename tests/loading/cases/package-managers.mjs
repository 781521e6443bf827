/** Package managers, and a folder of packages that is moved elsewhere. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commandFiles, expectOk } from "../parts/cases.mjs";
import { run } from "../parts/process.mjs";
import { all } from "../parts/program.mjs";

const node = process.execPath;

/** Calls `use` with a folder outside the repository, with these files. */
async function elsewhere(files, use) {
  const dir = mkdtempSync(join(tmpdir(), "ctxweave-loading-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    return await use(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const manifest = (workspace, more) => {
  const packages = ["ctxweave", "ctxweave-vocab"].map((name) => [name, `file:${workspace.tarball(name)}`]);
  const fields = { name: "app", version: "1.0.0", private: true, type: "module", ...more };
  return `${JSON.stringify({ ...fields, dependencies: Object.fromEntries(packages) })}\n`;
};

/** A program with its package.json, in a folder. */
const app = (workspace, folder = "", more = {}) => ({
  ...Object.fromEntries(Object.entries(commandFiles(all)).map(([path, text]) => [folder + path, text])),
  [`${folder}package.json`]: manifest(workspace, more),
});

/** A case that installs the packed package with a package manager, and runs a program. */
const installed = ({ tool, what, files, install, start }) => ({
  tool,
  what,
  run: (workspace) =>
    elsewhere(files(workspace), async (dir) => {
      await install({ workspace, dir });
      expectOk(await start({ workspace, dir }));
      return { how: "files" };
    }),
});

const npm = ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
const pnpm = (workspace) => join(workspace.modules, "pnpm/bin/pnpm.cjs");
const yarn = (workspace) => join(workspace.modules, "@yarnpkg/cli-dist/bin/yarn.js");

const npmVersion = () => execFileSync("npm", ["--version"], { encoding: "utf8" }).trim();

/** The same as a zip for AWS Lambda, unpacked in another folder. */
const lambda = {
  tool: "AWS Lambda",
  version: "",
  what: "a zip with `node_modules`",
  run: (workspace) => {
    const handler = `import { run } from "./program.mjs";
export const handler = async () => ({ statusCode: 200, body: await run() });
`;
    const files = { ...app(workspace), "index.mjs": handler };
    return elsewhere(files, async (dir) => {
      await run("npm", npm, { cwd: dir });
      await run("python3", ["-m", "zipfile", "-c", "app.zip", "index.mjs", "program.mjs", "node_modules"], {
        cwd: dir,
      });
      const runtime = `import { handler } from "./task/index.mjs";
console.log((await handler({}, {})).body);
`;
      return elsewhere({ "runtime.mjs": runtime }, async (host) => {
        await run("python3", ["-m", "zipfile", "-e", join(dir, "app.zip"), join(host, "task")], { cwd: dir });
        expectOk(await run(node, ["runtime.mjs"], { cwd: host }));
        return { how: "files" };
      });
    });
  },
};

export const packageManagers = [
  {
    ...installed({
      tool: "npm",
      what: "a package of a workspace",
      files: (workspace) => ({
        "package.json": '{ "name": "root", "private": true, "workspaces": ["packages/*"] }\n',
        ...app(workspace, "packages/app/"),
      }),
      install: ({ dir }) => run("npm", npm, { cwd: dir }),
      start: ({ dir }) => run(node, ["main.mjs"], { cwd: join(dir, "packages/app") }),
    }),
    get version() {
      return npmVersion();
    },
  },
  installed({
    tool: "pnpm",
    what: "a package of a workspace",
    files: (workspace) => ({
      "package.json": '{ "name": "root", "private": true }\n',
      "pnpm-workspace.yaml": 'packages: ["packages/*"]\n',
      ...app(workspace, "packages/app/"),
    }),
    install: ({ workspace, dir }) => {
      const args = ["install", "--offline", "--store-dir", join(dir, "store")];
      return run(workspace.newerNode, [pnpm(workspace), ...args], { cwd: dir });
    },
    start: ({ dir }) => run(node, ["main.mjs"], { cwd: join(dir, "packages/app") }),
  }),
  installed({
    tool: "@yarnpkg/cli-dist",
    what: "Plug'n'Play, nothing unpacked",
    files: (workspace) => ({
      ...app(workspace),
      "yarn.lock": "",
      ".yarnrc.yml": "nodeLinker: pnp\nenableGlobalCache: false\nenableTelemetry: false\nenableNetwork: false\n",
    }),
    install: ({ workspace, dir }) => run(node, [yarn(workspace), "install", "--no-immutable"], { cwd: dir }),
    start: ({ workspace, dir }) => run(node, [yarn(workspace), "node", "main.mjs"], { cwd: dir }),
  }),
  lambda,
];
