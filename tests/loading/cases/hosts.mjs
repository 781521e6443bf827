/** Hosts that load one bundled file: executables, editors, browser extensions and workers of a page. */

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { chromiumOptions } from "../../chromium.mjs";
import { serving } from "../parts/browser.mjs";
import { builtCommand, builtPage, commandFiles, expectFailure, expectOk } from "../parts/cases.mjs";
import { run } from "../parts/process.mjs";
import { all, page, program, said, worker } from "../parts/program.mjs";

const node = process.execPath;

const esbuild = ({ workspace, dir }, ...args) =>
  run(workspace.bin("esbuild"), ["--bundle", "--log-override:empty-import-meta=silent", ...args], { cwd: dir });

const sea = {
  tool: "node",
  what: "single executable application",
  version: process.versions.node,
  async run(workspace) {
    const config = { main: "main.cjs", output: "app.blob", disableExperimentalSEAWarning: true };
    const dir = workspace.dir("node sea", { ...commandFiles(all), "sea.json": JSON.stringify(config) });
    await esbuild({ workspace, dir }, "main.mjs", "--platform=node", "--format=cjs", "--outfile=main.cjs");
    await run(node, ["--experimental-sea-config", "sea.json"], { cwd: dir });
    const elsewhere = mkdtempSync(join(tmpdir(), "ctxweave-loading-"));
    try {
      const app = join(elsewhere, "app");
      copyFileSync(node, app);
      const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
      await run(workspace.bin("postject"), [app, "NODE_SEA_BLOB", "app.blob", "--sentinel-fuse", fuse], { cwd: dir });
      expectOk(await workspace.without(() => run(app, [], { cwd: elsewhere })));
      return { how: "packed" };
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  },
};

/** An extension for VS Code, which shows the outcome. */
const extensionFiles = (of) => ({
  "program.mjs": program(of),
  "extension.mjs": `import { window } from "vscode";
import { run } from "./program.mjs";
export async function activate() {
  window.showInformationMessage(await run().catch(${said}));
}
`,
});

/** Bundled as in the documentation of VS Code; `host.cjs` takes the place of the extension host. */
const vsCode = builtCommand({
  tool: "VS Code",
  version: "",
  what: "desktop extension, by esbuild",
  files: extensionFiles(all),
  async build({ workspace, dir }) {
    const options = ["--platform=node", "--format=cjs", "--external:vscode"];
    await esbuild({ workspace, dir }, "extension.mjs", ...options, "--outfile=out/extension.js");
    const host = `const Module = require("node:module");
const load = Module._load;
const vscode = { window: { showInformationMessage: console.log } };
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
void require("./extension.js").activate();
`;
    writeFileSync(join(dir, "out/host.cjs"), host);
    writeFileSync(join(dir, "out/package.json"), '{ "type": "commonjs" }\n');
  },
  start: () => [node, ["host.cjs"]],
});

/** The source of a host that evaluates a CommonJS file in a page or a worker; `modules` are those of the host. */
const evaluating = (
  file,
  modules,
  use,
) => `fetch(${JSON.stringify(file)}).then((response) => response.text()).then((code) => {
  const module = { exports: {} };
  new Function("require", "module", "exports", code)((name) => (${modules})[name], module, module.exports);
  ${use}
});
`;

const vsCodeWeb = builtPage({
  tool: "VS Code",
  version: "",
  what: "web extension, by esbuild",
  files: extensionFiles,
  async build({ workspace, dir }) {
    const options = ["--platform=browser", "--format=cjs", "--external:vscode"];
    await esbuild({ workspace, dir }, "extension.mjs", ...options, "--outfile=out/extension.js");
    const vscode = "{ vscode: { window: { showInformationMessage: (text) => postMessage(text) } } }";
    writeFileSync(join(dir, "out/host.js"), evaluating("extension.js", vscode, "module.exports.activate();"));
    const main = 'new Worker("host.js").onmessage = ({ data }) => (document.title = data);\n';
    writeFileSync(join(dir, "out/main.js"), main);
  },
  script: "./main.js",
  how: "one file",
});

/** A plugin for Obsidian, with the options of its sample plugin. */
const obsidian = builtPage({
  tool: "Obsidian",
  version: "",
  what: "plugin, by esbuild",
  files: (of) => ({
    "program.mjs": program(of),
    "main.mjs": `import { Plugin } from "obsidian";
import { run } from "./program.mjs";
export default class Example extends Plugin {
  async onload() {
    document.title = await run().catch(${said});
  }
}
`,
  }),
  async build({ workspace, dir }) {
    const options = [
      "--external:obsidian",
      "--external:electron",
      "--format=cjs",
      "--target=es2018",
      "--tree-shaking=true",
    ];
    await esbuild({ workspace, dir }, "main.mjs", ...options, "--outfile=out/main.js");
    const host = evaluating("main.js", "{ obsidian: { Plugin: class {} } }", "new module.exports.default().onload();");
    writeFileSync(join(dir, "out/host.js"), host);
  },
  script: "./host.js",
  how: "one file",
});

const classicWorker = builtPage({
  tool: "esbuild",
  what: "browser, IIFE, in a classic worker",
  files: (of) => ({
    "program.mjs": program(of),
    "worker.mjs": worker,
    "main.js": 'new Worker("./worker.js").onmessage = ({ data }) => (document.title = data);\n',
  }),
  async build({ workspace, dir }) {
    await esbuild({ workspace, dir }, "worker.mjs", "--outfile=out/worker.js");
    copyFileSync(join(dir, "main.js"), join(dir, "out/main.js"));
  },
  script: "./main.js",
  attributes: "",
});

const reported = (page) =>
  page
    .waitForFunction(() => /^(OK|FAIL)/.test(document.title), undefined, { timeout: 60_000 })
    .then(() => page.title());

/** Chromium with a profile: without one it stores no service worker. */
async function withProfile(options, use) {
  const profile = mkdtempSync(join(tmpdir(), "ctxweave-loading-"));
  const context = await chromium.launchPersistentContext(profile, { ...chromiumOptions, ...options });
  try {
    return await use(context);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** The title of a page, once it reports the outcome. */
const outcome = (address) =>
  withProfile({}, async (context) => {
    const page = await context.newPage();
    await page.goto(address);
    return reported(page);
  });

const serviceWorker = {
  tool: "esbuild",
  what: "browser, IIFE, in a service worker",
  async run(workspace) {
    const dir = workspace.dir("service worker", {
      "program.mjs": program(all),
      "worker.mjs": `import { run } from "./program.mjs";
self.addEventListener("message", (event) => event.waitUntil(run().catch(${said}).then((outcome) => event.source.postMessage(outcome))));
`,
      "out/main.js": `navigator.serviceWorker.onmessage = ({ data }) => (document.title = data);
navigator.serviceWorker
  .register("./worker.js")
  .then(() => navigator.serviceWorker.ready)
  .then(({ active }) => active.postMessage("run"));
`,
      "out/index.html": page("./main.js"),
    });
    await esbuild({ workspace, dir }, "worker.mjs", "--outfile=out/worker.js");
    expectOk(await workspace.without(() => serving(join(dir, "out"), outcome)));
    return { how: "one file" };
  },
};

/** Loads an extension for Chromium, and returns the outcomes in its service worker and in one of its pages. */
const extensionOutcomes = (folder) => {
  const args = [...chromiumOptions.args, `--disable-extensions-except=${folder}`, `--load-extension=${folder}`];
  return withProfile({ ignoreDefaultArgs: ["--disable-extensions"], args }, async (context) => {
    const background =
      context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker", { timeout: 30_000 }));
    const inBackground = await background.evaluate(() => self.outcome);
    const page = await context.newPage();
    await page.goto(new URL("/page.html", background.url()).href);
    return [inBackground, await reported(page)];
  });
};

const POLICY = { content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'" } };

const extension = {
  tool: "Chromium",
  version: "",
  what: "extension with Manifest V3, its service worker and its page",
  line: '`"content_security_policy": { "extension_pages": "script-src \'self\' \'wasm-unsafe-eval\'" }` in the manifest',
  async run(workspace) {
    const files = (name, more) => {
      const manifest = {
        manifest_version: 3,
        name: "Example",
        version: "1.0",
        background: { service_worker: "background.js", type: "module" },
        ...more,
      };
      return workspace.dir(name, {
        "program.mjs": program(all),
        "background.mjs": `import { run } from "./program.mjs";\nself.outcome = run().catch(${said});\n`,
        "page.mjs": `import { run } from "./program.mjs";\nrun().catch(${said}).then((outcome) => (document.title = outcome));\n`,
        "out/page.html": page("./page.js"),
        "out/manifest.json": JSON.stringify(manifest),
      });
    };
    const outcomes = async (name, more) => {
      const dir = files(name, more);
      await esbuild({ workspace, dir }, "background.mjs", "page.mjs", "--format=esm", "--outdir=out");
      return workspace.without(() => extensionOutcomes(join(dir, "out")));
    };
    const without = await outcomes("extension without", {});
    await expectFailure(async () => without.forEach(expectOk), /wasm_load_failed not_compiled/);
    (await outcomes("extension", POLICY)).forEach(expectOk);
    return { how: "one file" };
  },
};

export const hosts = [sea, vsCode, vsCodeWeb, obsidian, classicWorker, serviceWorker, extension];
