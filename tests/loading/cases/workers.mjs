/** Cloudflare's tools. They need Node 22. */

import { join } from "node:path";
import { expectFailure, expectOk } from "../parts/cases.mjs";
import { freePort, run, served } from "../parts/process.mjs";
import { all, program } from "../parts/program.mjs";

const files = (of, suffix = "") => ({
  "program.mjs": program({ ...of, suffix }),
  "worker.mjs": `import { run } from "./program.mjs";
export default {
  async fetch() {
    return new Response(await run().catch((error) => "FAIL " + error.code + " " + error.details?.reason + ": " + error.message));
  },
};
`,
  "wrangler.json": `${JSON.stringify({ name: "worker", main: "worker.mjs", compatibility_date: "2026-01-01", dev: { ip: "127.0.0.1" } })}\n`,
});
const withPlugin = (of) => ({
  ...files(of),
  "vite.config.mjs": `import { cloudflare } from "@cloudflare/vite-plugin";
export default { plugins: [cloudflare({ inspectorPort: false })] };
`,
});
const withTest = (options) => ({
  ...files(all),
  "loads.test.mjs": `import { expect, test } from "vitest";
import { run } from "./program.mjs";
test("loads", async () => expect(await run()).toBe("OK"));
`,
  "vitest.config.mjs": `import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
export default { plugins: [cloudflareTest(${JSON.stringify(options)})] };
`,
});

const answers = async (address) => expectOk(await (await fetch(address)).text());

const start = (workspace, path, args) => [workspace.newerNode, [join(workspace.modules, path), ...args]];
const wrangler = (workspace, args) => start(workspace, "wrangler/bin/wrangler.js", args);
const vite = (workspace, args) => start(workspace, "vite/bin/vite.js", args);
const vitest = (workspace, args) => start(workspace, "vitest/vitest.mjs", args);

const modulesRules = [{ type: "CompiledWasm", include: ["**/*.wasm"] }];

export const workers = [
  {
    tool: "wrangler",
    what: "`wrangler dev`, and `deploy`",
    async run(workspace) {
      const dir = workspace.dir("wrangler", files(all));
      const port = await freePort();
      await served(...wrangler(workspace, ["dev", "--port", port, "--ip", "127.0.0.1"]), { cwd: dir, port }, answers);
      await run(...wrangler(workspace, ["deploy", "--dry-run", "--outdir", "out"]), { cwd: dir });
      return { how: "files" };
    },
  },
  {
    tool: "@cloudflare/vite-plugin",
    what: "dev",
    async run(workspace) {
      const dir = workspace.dir("cloudflare vite dev", withPlugin(all));
      const port = await freePort();
      const args = ["--port", port, "--strictPort", "--host", "127.0.0.1"];
      await served(...vite(workspace, args), { cwd: dir, port }, answers);
      return { how: "files" };
    },
  },
  {
    tool: "@cloudflare/vite-plugin",
    what: "build and preview",
    async run(workspace) {
      const dir = workspace.dir("cloudflare vite build", withPlugin(all));
      const port = await freePort();
      await run(...vite(workspace, ["build"]), { cwd: dir });
      const args = ["preview", "--port", port, "--strictPort", "--host", "127.0.0.1"];
      await workspace.without(() => served(...vite(workspace, args), { cwd: dir, port }, answers));
      return { how: "files" };
    },
  },
  {
    tool: "@cloudflare/vitest-pool-workers",
    what: "with a wrangler configuration",
    async run(workspace) {
      const dir = workspace.dir("vitest workers", withTest({ wrangler: { configPath: "./wrangler.json" } }));
      await run(...vitest(workspace, ["run"]), { cwd: dir });
      return { how: "files" };
    },
  },
  {
    tool: "@cloudflare/vitest-pool-workers",
    what: "without one",
    line: '`miniflare: { modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }] }`',
    async run(workspace) {
      const miniflare = { compatibilityDate: "2026-01-01" };
      const without = workspace.dir("vitest workers without", withTest({ miniflare }));
      await expectFailure(() => run(...vitest(workspace, ["run"]), { cwd: without }), /wasm/i);
      const dir = workspace.dir("vitest workers with rules", withTest({ miniflare: { ...miniflare, modulesRules } }));
      await run(...vitest(workspace, ["run"]), { cwd: dir });
      return { how: "files" };
    },
  },
  {
    tool: "wrangler",
    what: "`ctxweave/inline`",
    line: "`ctxweave` instead: Workers cannot compile bytes; the error states it",
    async run(workspace) {
      const of = { entries: ["ctxweave/inline"], tokenizers: [] };
      const dir = workspace.dir("wrangler inline", files(of));
      const port = await freePort();
      const answer = async (address) => (await fetch(address)).text();
      const text = await served(
        ...wrangler(workspace, ["dev", "--port", port, "--ip", "127.0.0.1"]),
        { cwd: dir, port },
        answer,
      );
      if (!/wasm_load_failed not_compiled.*`ctxweave`/.test(text)) throw new Error(`the Worker answered: ${text}`);
      return { how: "no" };
    },
  },
];
