/** Frameworks with a server: a page that it renders, and a page in the browser. */

import { join } from "node:path";
import { judged, serving } from "../parts/browser.mjs";
import { asking, expectFailure } from "../parts/cases.mjs";
import { freePort, run, served } from "../parts/process.mjs";
import { all, page, pageMain, program, said } from "../parts/program.mjs";

const outcome = `await run().catch(${said})`;
const parts = { "program.mjs": program(all), "main.mjs": pageMain };
const manifest = (name, more) => `${JSON.stringify({ name, private: true, type: "module", ...more })}\n`;

/**
 * Serves what a framework built; its places report the outcome of the server, and its page in the browser that of the
 * client, unless it has none.
 */
async function serverAndClient(
  workspace,
  dir,
  [command, args],
  { without = true, places = [["server", "/"]], client = true } = {},
) {
  const port = await freePort();
  const start = () =>
    served(
      command,
      args.map((arg) => (arg === "PORT" ? String(port) : arg)),
      { cwd: dir, port, env: { PORT: String(port), HOST: "127.0.0.1", NODE_ENV: "production" } },
      asking(places, client ? "/" : undefined),
    );
  return without ? workspace.without(start) : start();
}

const wrangler = (workspace, args) => [
  workspace.newerNode,
  [join(workspace.modules, "wrangler/bin/wrangler.js"), "dev", "--port", "PORT", "--ip", "127.0.0.1", ...args],
];

/** A command of a package, by Node 22. */
const command = (workspace, path, ...args) => [workspace.newerNode, [join(workspace.modules, path), ...args]];

const building = (workspace, dir, path, args, env) =>
  run(...command(workspace, path, ...args), { cwd: dir, timeout: 600_000, env });

const nuxtFiles = (nitro) => ({
  ...parts,
  "package.json": manifest("nuxt-app"),
  "nuxt.config.mjs": `export default ${JSON.stringify({ compatibilityDate: "2026-01-01", telemetry: false, nitro })};\n`,
  "app/app.vue": `<script setup>
import { onMounted } from "vue";
import { run } from "../program.mjs";
const { data } = await useAsyncData("outcome", async () => ${outcome});
onMounted(() => import("../main.mjs"));
</script>
<template><pre>{{ data }}</pre></template>
`,
  "server/api/outcome.mjs": `import { defineEventHandler } from "#imports";
import { run } from "../../program.mjs";
export default defineEventHandler(async () => ${outcome});
`,
});

const nuxtPlaces = [
  ["server route", "/api/outcome"],
  ["page", "/"],
];

/** The source of the bytes on the server and in the browser. */
const both = (server, { how }) => ({ how: server === how ? how : `${server}; browser: ${how}` });

const nuxt = {
  tool: "nuxt",
  what: "Node",
  async run(workspace) {
    const dir = workspace.dir("nuxt node", nuxtFiles());
    await building(workspace, dir, "nuxt/bin/nuxt.mjs", ["build"]);
    const start = [workspace.newerNode, [".output/server/index.mjs"]];
    return both("packed", await serverAndClient(workspace, dir, start, { places: nuxtPlaces }));
  },
};

/** The Worker that Nitro builds. */
const nitroWorker = [
  ".output/server/index.mjs",
  "--compatibility-date=2026-01-01",
  "--compatibility-flags=nodejs_compat",
];

const nuxtCloudflare = {
  tool: "nuxt",
  what: "`cloudflare-module`",
  line: "`nitro: { experimental: { wasm: true } }`",
  async run(workspace) {
    const build = (dir) =>
      building(workspace, dir, "nuxt/bin/nuxt.mjs", ["build"], { NITRO_PRESET: "cloudflare-module" });
    await expectFailure(() => build(workspace.dir("nuxt cloudflare without", nuxtFiles())), /workerd\.js/);
    const dir = workspace.dir("nuxt cloudflare", nuxtFiles({ experimental: { wasm: true } }));
    await build(dir);
    const start = wrangler(workspace, [...nitroWorker, "--assets=.output/public"]);
    return both("files", await serverAndClient(workspace, dir, start, { places: nuxtPlaces }));
  },
};

const nitro = {
  tool: "nitropack",
  what: "`cloudflare-module`",
  line: "`experimental: { wasm: true }`",
  async run(workspace) {
    const config = { compatibilityDate: "2026-01-01", preset: "cloudflare-module", experimental: { wasm: true } };
    const dir = workspace.dir("nitro cloudflare", {
      ...parts,
      "package.json": manifest("nitro-app"),
      "nitro.config.mjs": `export default ${JSON.stringify(config)};\n`,
      "routes/index.mjs": `import { defineEventHandler } from "#imports";
import { run } from "../program.mjs";
export default defineEventHandler(async () => ${outcome});
`,
    });
    await building(workspace, dir, "nitropack/dist/cli/index.mjs", ["build"]);
    await serverAndClient(workspace, dir, wrangler(workspace, nitroWorker), { client: false });
    return { how: "files" };
  },
};

const svelteKit = {
  tool: "@sveltejs/kit",
  what: "adapter `node`",
  async run(workspace) {
    const dir = workspace.dir("sveltekit", {
      ...parts,
      "package.json": manifest("svelte-app"),
      "vite.config.js": `import adapter from "@sveltejs/adapter-node";
import { sveltekit } from "@sveltejs/kit/vite";
export default { plugins: [sveltekit({ adapter: adapter({ precompress: false }) })] };
`,
      "src/app.html": `<!doctype html><html lang="en"><head><link rel="icon" href="data:,">%sveltekit.head%</head><body>%sveltekit.body%</body></html>\n`,
      "src/routes/+page.server.js": `import { run } from "../../program.mjs";
export const load = async () => ({ outcome: ${outcome} });
`,
      "src/routes/+page.svelte": `<script>
  import { onMount } from "svelte";
  let { data } = $props();
  onMount(() => void import("../../main.mjs"));
</script>
<pre>{data.outcome}</pre>
`,
    });
    await building(workspace, dir, "vite/bin/vite.js", ["build"]);
    return both("packed", await serverAndClient(workspace, dir, [workspace.newerNode, ["build"]]));
  },
};

const reactPage = (before, component) => `${before}
import { useEffect } from "react";
${component}
`;

const reactRouter = {
  tool: "react-router",
  what: "framework mode",
  async run(workspace) {
    const dir = workspace.dir("react router", {
      ...parts,
      "package.json": manifest("router-app", { dependencies: { "@react-router/node": "*", isbot: "*" } }),
      "react-router.config.js": "export default { ssr: true };\n",
      "vite.config.js": `import { reactRouter } from "@react-router/dev/vite";
export default { plugins: [reactRouter()] };
`,
      "app/routes.js": `import { index } from "@react-router/dev/routes";
export default [index("./home.jsx")];
`,
      "app/root.jsx": `import { Outlet, Scripts } from "react-router";
export default function Root() {
  return <html lang="en"><head><link rel="icon" href="data:," /></head><body><Outlet /><Scripts /></body></html>;
}
`,
      "app/home.jsx": reactPage(
        `import { run } from "../program.mjs";
export const loader = async () => ({ outcome: ${outcome} });`,
        `export default function Home({ loaderData }) {
  useEffect(() => void import("../main.mjs"), []);
  return <pre>{loaderData.outcome}</pre>;
}`,
      ),
    });
    await building(workspace, dir, "@react-router/dev/bin.js", ["build"]);
    // Its server bundle imports packages, which are deployed with it.
    const start = command(workspace, "@react-router/serve/bin.js", "build/server/index.js");
    const client = await serverAndClient(workspace, dir, start, { without: false });
    return both("files", client);
  },
};

const tanStack = {
  tool: "@tanstack/react-start",
  what: "build, by `srvx`",
  async run(workspace) {
    const dir = workspace.dir("tanstack start", {
      ...parts,
      "package.json": manifest("start-app"),
      "vite.config.js": `import { tanstackStart } from "@tanstack/react-start/plugin/vite";
import react from "@vitejs/plugin-react";
export default { plugins: [tanstackStart(), react()] };
`,
      "src/router.jsx": `import { createRouter } from "@tanstack/react-router";
import { routeTree } from "./routeTree.gen";
export const getRouter = () => createRouter({ routeTree });
`,
      "src/routes/__root.jsx": `import { createRootRoute, HeadContent, Outlet, Scripts } from "@tanstack/react-router";
export const Route = createRootRoute({ component: Root });
function Root() {
  return <html lang="en"><head><link rel="icon" href="data:," /><HeadContent /></head><body><Outlet /><Scripts /></body></html>;
}
`,
      "src/routes/index.jsx": reactPage(
        `import { createFileRoute } from "@tanstack/react-router";
import { createServerFn } from "@tanstack/react-start";
import { run } from "../../program.mjs";
const onServer = createServerFn().handler(async () => ${outcome});
export const Route = createFileRoute("/")({ loader: () => onServer(), component: Home });`,
        `function Home() {
  useEffect(() => void import("../../main.mjs"), []);
  return <pre>{Route.useLoaderData()}</pre>;
}`,
      ),
    });
    await building(workspace, dir, "vite/bin/vite.js", ["build"]);
    const args = ["--prod", "--port", "PORT", "--host", "127.0.0.1", "-s", "../client", "dist/server/server.js"];
    const start = command(workspace, "srvx/bin/srvx.mjs", ...args);
    return both("files", await serverAndClient(workspace, dir, start, { without: false }));
  },
};

const astro = {
  tool: "astro",
  what: "`@astrojs/cloudflare`",
  async run(workspace) {
    const dir = workspace.dir("astro cloudflare", {
      ...parts,
      "package.json": manifest("astro-app"),
      "astro.config.mjs": `import cloudflare from "@astrojs/cloudflare";
export default { output: "server", adapter: cloudflare() };
`,
      "wrangler.jsonc": `${JSON.stringify({ name: "astro-app", compatibility_date: "2026-01-01" })}\n`,
      "src/pages/index.astro": `---
import { run } from "../../program.mjs";
const outcome = ${outcome};
---
<html lang="en"><head><link rel="icon" href="data:,"></head><body><pre>{outcome}</pre><script>import "../../main.mjs";</script></body></html>
`,
    });
    await building(workspace, dir, "astro/bin/astro.mjs", ["build"], { ASTRO_TELEMETRY_DISABLED: "1" });
    const start = wrangler(workspace, ["--config", "dist/server/wrangler.json"]);
    return both("files", await serverAndClient(workspace, dir, start));
  },
};

const angular = {
  tool: "@angular/build",
  what: "application, browser",
  async run(workspace) {
    const builder = "@angular/build:application";
    const options = { browser: "main.mjs", index: "index.html", tsConfig: "tsconfig.json", outputPath: "out" };
    const dir = workspace.dir("angular", {
      ...parts,
      "package.json": manifest("angular-app"),
      "angular.json": JSON.stringify({
        version: 1,
        cli: { analytics: false },
        projects: { app: { projectType: "application", root: "", architect: { build: { builder, options } } } },
      }),
      "tsconfig.json": JSON.stringify({
        compilerOptions: {
          target: "ES2022",
          module: "preserve",
          moduleResolution: "bundler",
          allowJs: true,
          strict: true,
        },
        files: ["main.mjs"],
      }),
      "index.html": page("", "").replace('<script  src=""></script>', ""),
    });
    await building(workspace, dir, "@angular/cli/bin/ng.js", ["build"]);
    const { how } = await workspace.without(() => serving(join(dir, "out/browser"), judged));
    return { how };
  },
};

export const frameworks = [nuxt, nuxtCloudflare, nitro, svelteKit, reactRouter, tanStack, astro, angular];
