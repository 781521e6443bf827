/** Metro with the Babel preset of React Native. Its engine Hermes has no WebAssembly, no `import.meta` and no static blocks. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import assert from "node:assert/strict";
import { run } from "../parts/process.mjs";

const APP = `import { fitMessages, init } from "ctxweave/chat";
import { fitMiddleware } from "ctxweave/ai-sdk";
import { memoryStore } from "ctxweave/stores";

globalThis.run = async () => {
  const loaded = typeof fitMessages + typeof fitMiddleware + typeof memoryStore;
  return init().then(() => "loaded", (error) => loaded + " " + error.code);
};
`;

const BUILD = `import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const Metro = require("metro");
const { getDefaultConfig, mergeConfig } = require("metro-config");

const [root, modules] = process.argv.slice(2);
const config = mergeConfig(await getDefaultConfig(root), {
  projectRoot: root,
  watchFolders: [root, modules],
  maxWorkers: 1,
  reporter: { update() {} },
  transformer: { babelTransformerPath: require.resolve("@react-native/metro-babel-transformer") },
  resolver: { useWatchman: false, unstable_conditionNames: ["react-native"], nodeModulesPaths: [modules] },
  serializer: { getPolyfills: () => [], getModulesRunBeforeMainModule: () => [] },
});
await Metro.runBuild(config, { entry: "index.js", platform: "android", dev: false, minify: false, out: "out.js" });
process.exit(0);
`;

const metro = {
  tool: "metro",
  what: "React Native's Babel preset",
  line: "a WebView or a server: Hermes has no WebAssembly",
  async run(workspace) {
    const dir = workspace.dir("metro", { "index.js": APP, "build.mjs": BUILD });
    await run(process.execPath, ["build.mjs", dir, workspace.modules], { cwd: dir });
    const code = readFileSync(join(dir, "out.js"), "utf8");
    assert.doesNotMatch(code, /\bstatic\s*\{|\bimport\.meta\b/);
    const hermes = createContext({ console, setTimeout, URL, TextEncoder, TextDecoder });
    runInContext("delete globalThis.WebAssembly; var global = globalThis;", hermes);
    runInContext(code, hermes);
    assert.equal(await runInContext("run()", hermes), "functionfunctionfunction wasm_unavailable");
    return { how: "error with advice" };
  },
};

export const reactNative = [metro];
